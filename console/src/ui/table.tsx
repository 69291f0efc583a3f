import {
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  useReactTable,
  type SortingState,
  type ColumnDef,
  type Row,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp, Download } from './icons/icons.tsx';
import {
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { classes, CONTROL } from './style.ts';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { Empty, ProblemNote, Skeleton } from './states.tsx';
import { BOM, csvOf } from './csv.ts';
import { useSaving } from './download.tsx';

/** One column: what it is called, the value that it sorts, filters and exports by, and how it is shown. */
export interface Column<Item> {
  readonly id: string;
  readonly name: string;
  readonly value: (item: Item) => string | number | boolean | null | undefined;
  /** Left out: the value as text. */
  readonly show?: (item: Item) => ReactNode;
  /** Numbers and money stand at the right, and are never cut. */
  readonly isNumber?: boolean;
  /** Never cut, as times and buttons: the column gets as wide as they are. */
  readonly isWhole?: boolean;
  /** Share of the width; 1 where left out. */
  readonly share?: number;
}

/** Pixels of each row. */
const ROW_HEIGHT = 36;

const DIRECTIONS = { asc: 'ascending', desc: 'descending' } as const;

interface HeadProps<Item> {
  readonly columns: readonly Column<Item>[];
  readonly template: string;
  readonly sorting: SortingState;
  readonly onSort: (id: string) => void;
}

/** The columns' names; each sorts by its column. */
function Head<Item>({ columns, template, sorting, onSort }: HeadProps<Item>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-10 grid border-b border-line bg-sunken"
      style={{ gridTemplateColumns: template }}
    >
      {columns.map(({ id, name, isNumber }, at) => {
        const sorted = sorting.find((sort) => sort.id === id);
        const direction = sorted === undefined ? undefined : sorted.desc ? 'desc' : 'asc';
        return (
          <div
            key={id}
            role="columnheader"
            aria-sort={direction === undefined ? 'none' : DIRECTIONS[direction]}
            className={classes('flex min-w-0 px-3 py-1.5', isNumber === true && 'justify-end')}
          >
            <button
              type="button"
              onClick={() => onSort(id)}
              className={classes(
                'inline-flex min-w-0 items-center gap-1',
                'text-[13px] font-medium text-soft hover:text-ink',
              )}
            >
              <span data-column={at} data-whole className="truncate">
                {name}
              </span>
              {direction === 'asc' && <ArrowUp aria-hidden className="size-3 shrink-0" />}
              {direction === 'desc' && <ArrowDown aria-hidden className="size-3 shrink-0" />}
            </button>
          </div>
        );
      })}
    </div>
  );
}

interface LineProps<Item> {
  readonly id: string;
  readonly columns: readonly Column<Item>[];
  readonly item: Item;
  readonly at: { readonly index: number; readonly start: number; readonly template: string };
  readonly isActive: boolean;
  readonly canOpen: boolean;
  readonly onChoose: () => void;
}

/** One row, at its place among all. */
function Line<Item>({ id, columns, item, at, isActive, canOpen, onChoose }: LineProps<Item>) {
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={at.index + 2}
      aria-selected={isActive}
      onClick={onChoose}
      className={classes(
        'absolute inset-x-0 grid items-center border-b border-line/60 hover:bg-sunken',
        canOpen && 'cursor-pointer',
        isActive && 'group-focus-visible/grid:bg-accent-soft',
      )}
      style={{
        gridTemplateColumns: at.template,
        height: ROW_HEIGHT,
        transform: `translateY(${String(at.start)}px)`,
      }}
    >
      {columns.map(({ id: column, value, show, isNumber, isWhole }, at) => (
        <div
          key={column}
          role="gridcell"
          data-column={at}
          data-whole={isNumber === true || isWhole === true ? true : undefined}
          className={classes('min-w-0 truncate px-3', isNumber === true && 'text-right')}
        >
          {show === undefined ? <bdi>{String(value(item) ?? '–')}</bdi> : show(item)}
        </div>
      ))}
    </div>
  );
}

interface DataTableProps<Item> {
  /** What the table is, for screen readers and as the CSV's name. */
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  /** undefined: being loaded. */
  readonly items: readonly Item[] | undefined;
  readonly idOf: (item: Item) => string;
  /** Enter or a click on a row. */
  readonly onOpen?: (item: Item) => void;
  /** There is more to load; called by the button and when the end comes into sight. */
  readonly onMore?: (() => void) | undefined;
  readonly isLoadingMore?: boolean;
  readonly empty?: ReactNode;
  /** Beside the filter. */
  readonly actions?: ReactNode;
  /** The page has a search of its own. */
  readonly isSearched?: boolean;
  /** The whole list as the service writes it; left out: the CSV has the rows that are loaded. */
  readonly csv?: (() => Promise<Blob>) | undefined;
  /** Rows of the whole list, where only some may be loaded. */
  readonly total?: number | undefined;
  /** In pixels; the rows scroll within it. */
  readonly height?: number;
}

/** So many rows are seen at a glance: there is nothing to filter. */
const FEW = 3;

/** Pixels that a column has at least, and those for a share of 1. */
const LEAST_WIDTH = 64;
const WIDTH = 92;

/** Beside the text of a cell: its padding and, in the head, the arrow. */
const HEAD_ROOM = 40;
/** Pixels up to which a column grows by its name, a figure, a time or buttons, and by any other text. */
const WHOLE_MAX = 320;
const TEXT_MAX = 150;

/** The same widths, or those that hold what is cut now. */
const widened = (before: ReadonlyMap<number, number>, grid: HTMLDivElement): ReadonlyMap<number, number> => {
  const next = new Map(before);
  for (const element of grid.querySelectorAll<HTMLElement>('[data-column]')) {
    const { scrollWidth, clientWidth, dataset, tagName } = element;
    if (scrollWidth <= clientWidth) continue;
    const at = Number(dataset['column']);
    const most = 'whole' in dataset ? WHOLE_MAX : TEXT_MAX;
    const wanted = Math.min(most, scrollWidth + (tagName === 'SPAN' ? HEAD_ROOM : 1));
    next.set(at, Math.max(next.get(at) ?? 0, wanted));
  }
  return [...next].some(([at, wanted]) => wanted !== before.get(at)) ? next : before;
};

/**
 * Pixels by column that its name and its cells need, as far as they were drawn. They only grow, so that nothing
 * moves to and fro while one scrolls.
 */
const useWholeWidths = (
  place: RefObject<HTMLDivElement | null>,
  rows: unknown,
  drawn: unknown,
): ReadonlyMap<number, number> => {
  const [widths, widen] = useState<ReadonlyMap<number, number>>(new Map());
  useLayoutEffect(() => {
    const grid = place.current;
    if (grid === null) return undefined;
    const look = (): void => widen((before) => widened(before, grid));
    look();
    const watch = new ResizeObserver(look);
    watch.observe(grid);
    return () => watch.disconnect();
    // a column that got wider may have taken the room of another
  }, [place, rows, drawn, widths]);
  return widths;
};

/** Head and rows are grids of their own: they line up as no content widens a column by itself. */
const widthsOf = <Item,>(columns: readonly Column<Item>[], whole: ReadonlyMap<number, number>) => {
  const widths = columns.map(({ share = 1 }, at) =>
    Math.max(LEAST_WIDTH, Math.round(share * WIDTH), whole.get(at) ?? 0),
  );
  return {
    template: columns
      .map(({ share = 1 }, index) => `minmax(${String(widths[index])}px, ${String(share)}fr)`)
      .join(' '),
    minWidth: widths.reduce((sum, width) => sum + width, 0),
  };
};

const columnsOf = <Item,>(columns: readonly Column<Item>[]): ColumnDef<Item>[] =>
  columns.map(({ id, value }) => ({
    id,
    accessorFn: value,
    sortingFn: 'alphanumeric',
    sortUndefined: 'last',
  }));

interface TableBarProps {
  readonly label: string;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  /** In words: how many rows are shown, and of how many. */
  readonly rows: string;
  readonly hasFilter: boolean;
  readonly onSave: () => void;
  readonly isSaving: boolean;
  readonly actions: ReactNode;
}

function TableBar({ label, filter, onFilter, hasFilter, rows, onSave, isSaving, actions }: TableBarProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      {hasFilter && (
        <input
          aria-label={`${shell.filter}: ${label}`}
          placeholder={shell.filter}
          value={filter}
          onChange={({ target }) => onFilter(target.value)}
          className={`${CONTROL} max-w-60 flex-1 basis-32`}
        />
      )}
      {actions}
      <span className="ml-auto text-[13px] text-soft">{rows}</span>
      <Button size="small" look="quiet" isBusy={isSaving} onClick={onSave}>
        <Download aria-hidden className="size-3.5" />
        {shell.csv}
      </Button>
    </div>
  );
}

const shownCsv = <Item,>(columns: readonly Column<Item>[], rows: readonly Row<Item>[]): string =>
  BOM +
  csvOf(
    columns.map(({ name }) => name),
    rows.map((row) => columns.map(({ value }) => value(row.original))),
  );

interface Saved {
  readonly label: string;
  readonly csv: (() => Promise<Blob>) | undefined;
  readonly filter: string;
  /** The rows that are shown, as CSV. */
  readonly shown: () => string;
}

/** The whole list as the service writes it; under a filter, which sees what is loaded, the rows shown. */
const fileToSave = ({ label, csv, filter, shown }: Saved) => ({
  file: `${label.toLowerCase().replaceAll(' ', '-')}.csv`,
  load: csv === undefined || filter !== '' ? shown : csv,
});

/** How many rows are shown; without a filter, also of how many. */
const rowsInWords = (rows: number, filter: string, total = rows): string =>
  filter === '' && total > rows ? shell.rowsOf(rows, total) : shell.rows(rows);

/**
 * Rows of any number: only those in sight are drawn. Arrow keys, Page Up and Down, Home and End move between them,
 * Enter opens one. Sorting and the filter see what is loaded.
 */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, columns, items, idOf, onOpen, onMore, isLoadingMore, empty, actions, height = 480 } = props;
  const [sorting, setSorting] = useState<SortingState>([]);
  const [filter, setFilter] = useState('');
  const [active, setActive] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  const data = useMemo(() => [...(items ?? [])], [items]);
  const table = useReactTable<Item>({
    data,
    columns: useMemo(() => columnsOf(columns), [columns]),
    state: { sorting, globalFilter: filter },
    onSortingChange: setSorting,
    onGlobalFilterChange: setFilter,
    globalFilterFn: 'includesString',
    getRowId: (item) => idOf(item),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
  });
  const rows = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const goTo = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + 10,
      PageUp: active - 10,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      goTo(step);
    }
    const row = rows[active];
    if (event.key !== 'Enter' || row === undefined) return;
    // what opens may take the focus: the same key must not submit it
    event.preventDefault();
    onOpen?.(row.original);
  };
  const { template, minWidth } = widthsOf(columns, useWholeWidths(place, rows, virtual.getVirtualItems()));
  const shown = () => shownCsv(columns, rows);
  const saving = useSaving();
  if (items === undefined) return <Skeleton lines={6} className="h-8" />;
  if (items.length === 0 && onMore === undefined) return <>{empty ?? <Empty title={shell.noRows} />}</>;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <TableBar
        label={label}
        filter={filter}
        onFilter={setFilter}
        hasFilter={props.isSearched !== true && (items.length > FEW || onMore !== undefined)}
        rows={rowsInWords(rows.length, filter, props.total)}
        isSaving={saving.busy !== undefined}
        onSave={() => saving.save(fileToSave({ label, csv: props.csv, filter, shown }))}
        actions={actions}
      />
      <ProblemNote error={saving.error} />
      <div
        ref={place}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={rows[active] === undefined ? undefined : `${label}-${String(active)}`}
        onKeyDown={onKeyDown}
        className="group/grid overflow-auto rounded-lg border border-line bg-surface"
        style={{ maxHeight: height }}
      >
        <div role="none" style={{ minWidth }}>
          <Head
            columns={columns}
            template={template}
            sorting={sorting}
            onSort={(id) => table.getColumn(id)?.toggleSorting()}
          />
          <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <Line
                  key={row.id}
                  id={`${label}-${String(index)}`}
                  columns={columns}
                  item={row.original}
                  at={{ index, start, template }}
                  isActive={index === active}
                  onChoose={() => {
                    setActive(index);
                    onOpen?.(row.original);
                  }}
                  canOpen={onOpen !== undefined}
                />
              );
            })}
          </div>
        </div>
      </div>
      {onMore !== undefined && (
        <Button isBusy={isLoadingMore === true} onClick={onMore} className="self-center">
          {shell.more}
        </Button>
      )}
    </div>
  );
}
