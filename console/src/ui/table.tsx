import { ArrowDown, ArrowUp, Download } from './icons/icons.tsx';
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useIsPrinting } from './printing.tsx';
import type { SortingState } from '@tanstack/react-table';
import { classes, CONTROL } from './style.ts';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { Empty, ProblemNote, Skeleton } from './states.tsx';
import type { Pages } from '../api/connection.ts';
import { BOM, csvOf } from './csv.ts';
import { type FileToSave, useSaving } from './download.tsx';
import { type Column, type Rows, type TableRows, useTableRows } from './tableRows.ts';

export type { Column } from './tableRows.ts';

/** Pixels of each row. */
const ROW_HEIGHT = 36;

const DIRECTIONS = { asc: 'ascending', desc: 'descending' } as const;

interface HeadProps<Item> {
  readonly columns: readonly Column<Item>[];
  readonly template: string;
  readonly sorting: SortingState;
  readonly canSort: (id: string) => boolean;
  readonly onSort: (id: string) => void;
}

const HEAD = 'inline-flex min-w-0 items-center gap-1 text-[13px] font-medium text-soft';

/** The columns' names; each sorts by its column, where the list can be sorted by it. */
function Head<Item>({ columns, template, sorting, canSort, onSort }: HeadProps<Item>) {
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
            {...(canSort(id) && {
              'aria-sort': direction === undefined ? ('none' as const) : DIRECTIONS[direction],
            })}
            className={classes('flex min-w-0 px-3 py-1.5', isNumber === true && 'justify-end')}
          >
            {canSort(id) ? (
              <button type="button" onClick={() => onSort(id)} className={classes(HEAD, 'hover:text-ink')}>
                <span data-column={at} data-whole className="truncate">
                  {name}
                </span>
                {direction === 'asc' && <ArrowUp aria-hidden className="size-3 shrink-0" />}
                {direction === 'desc' && <ArrowDown aria-hidden className="size-3 shrink-0" />}
              </button>
            ) : (
              <span className={HEAD}>
                <span data-column={at} data-whole className="truncate">
                  {name}
                </span>
              </span>
            )}
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
        // on paper a row takes the lines that it needs
        'print:static print:h-auto! print:transform-none!',
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
          className={classes(
            'min-w-0 truncate px-3 print:px-1 print:wrap-anywhere print:whitespace-normal',
            isNumber === true && 'text-right',
          )}
        >
          {show === undefined ? <bdi>{String(value(item) ?? '–')}</bdi> : show(item)}
        </div>
      ))}
    </div>
  );
}

interface DataTableProps<Item> extends Rows<Item> {
  /** What the table is, for screen readers and as the CSV's name. */
  readonly label: string;
  /** Enter or a click on a row. */
  readonly onOpen?: ((item: Item) => void) | undefined;
  readonly empty?: ReactNode;
  /** Beside the filter. */
  readonly actions?: ReactNode;
  /** The page has a search of its own. */
  readonly isSearched?: boolean;
  /** All `items` as the service writes them; left out: the CSV has the columns that are shown. */
  readonly csv?: (() => Promise<Blob>) | undefined;
  /** In pixels; the rows scroll within it. */
  readonly height?: number | undefined;
}

/** Pixels that a column has at least, and those for a share of 1. */
const LEAST_WIDTH = 64;
const WIDTH = 80;

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
const widthsOf = <Item,>(
  columns: readonly Column<Item>[],
  whole: ReadonlyMap<number, number>,
  isPrinting: boolean,
) => {
  if (isPrinting)
    return {
      template: columns.map(({ share = 1 }) => `minmax(0, ${String(share)}fr)`).join(' '),
      minWidth: 0,
    };
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

/** Whether columns are out of sight at the right, as of the last scroll or change of size. */
const useIsCut = (place: RefObject<HTMLDivElement | null>, minWidth: number) => {
  const [isCut, cut] = useState(false);
  useLayoutEffect(() => {
    const grid = place.current;
    if (grid === null) return undefined;
    const look = (): void => cut(grid.scrollLeft + grid.clientWidth < grid.scrollWidth - 1);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(grid);
    grid.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      grid.removeEventListener('scroll', look);
    };
  }, [place, minWidth]);
  return isCut;
};

const MORE_COLUMNS =
  'pointer-events-none absolute inset-y-px right-px w-8 rounded-r-lg bg-linear-to-l from-ink/20 to-transparent ' +
  'print:hidden';

/** Characters that the service takes to search for. */
const FILTER_MAX = 200;

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
          maxLength={FILTER_MAX}
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

/** The whole list as the service writes it; rows that were filtered or sorted here as they are shown. */
const fileToSave = <Item,>(
  { label, csv, list, columns }: DataTableProps<Item>,
  { rows, isChosenHere }: TableRows<Item>,
): FileToSave => {
  const whole = list?.csv ?? csv;
  const shown = (): string =>
    BOM +
    csvOf(
      columns.map(({ name }) => name),
      rows.map((item) => columns.map(({ value }) => value(item))),
    );
  return {
    file: `${label.toLowerCase().replaceAll(' ', '-')}.csv`,
    load: whole === undefined || isChosenHere ? shown : whole,
  };
};

/** How many rows there are, and how many of them are here. */
const rowsInWords = <Item,>({ rows, all, total, list }: TableRows<Item>): string => {
  if (rows.length < all) return shell.rowsOf(rows.length, all);
  if (list?.more !== undefined && list.total === undefined) return shell.rowsSoFar(all);
  const words = total > all ? shell.firstRows(all, total) : shell.rows(total);
  return list?.isAtLeast === true ? shell.atLeast(words) : words;
};

/** The row that was opened in each table, by the table's label, until somebody comes back to it. */
const opened = new Map<string, { readonly id: string; readonly index: number }>();

/** Somebody who comes back to a table goes on at another row than the one that they opened. */
export const comeBackTo = (label: string, id: string): void => {
  opened.set(label, { id, index: opened.get(label)?.index ?? 0 });
};

interface Place<Item> {
  readonly label: string;
  readonly rows: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly goTo: (index: number) => void;
}

/**
 * Who comes back to a table goes on where a row was opened; if it is gone, at the one in its place. Only a focus that
 * went with the page before is moved.
 */
const useComingBack = <Item,>(grid: RefObject<HTMLElement | null>, at: Place<Item>): void => {
  const { label } = at;
  const isThere = at.rows.length > 0;
  useEffect(() => {
    const before = opened.get(label);
    if (!isThere || before === undefined) return;
    opened.delete(label);
    if (document.activeElement !== document.body) return;
    const found = at.rows.findIndex((row) => at.idOf(row) === before.id);
    at.goTo(found < 0 ? before.index : found);
    grid.current?.focus({ preventScroll: true });
    // once, with the first rows
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [label, isThere]);
};

/** So many rows before the end of those that are here, more are loaded. */
const NEAR_END = 20;

/** Loads the next page of a list as its end comes into sight. */
const useLoadingNearEnd = (list: Pages<unknown> | undefined, rows: number, lastDrawn: number): void => {
  const isDue = list?.isLoadingMore === false && rows > NEAR_END && lastDrawn >= rows - NEAR_END;
  const more = list?.more;
  const latest = useRef(more);
  useEffect(() => {
    latest.current = more;
  });
  const hasMore = more !== undefined;
  useEffect(() => {
    if (isDue && hasMore) latest.current?.();
  }, [isDue, hasMore, rows]);
};

interface GridProps<Item> extends Pick<
  DataTableProps<Item>,
  'label' | 'columns' | 'idOf' | 'onOpen' | 'height'
> {
  readonly table: TableRows<Item>;
}

/** Where each key leads from a row; left out: nowhere. */
const stepOf = (key: string, active: number, rows: number): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + 10,
    PageUp: active - 10,
    Home: 0,
    End: rows - 1,
  };
  return steps[key];
};

/** Head and rows, with the row that the keyboard is at. */
function Grid<Item>({ label, columns, idOf, onOpen, height = 480, table }: GridProps<Item>) {
  const [active, setActive] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  const { rows, list, all, total } = table;
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
  useComingBack(place, { label, rows, idOf, goTo });
  const openRow = (row: Item, index: number): void => {
    setActive(index);
    if (onOpen === undefined) return;
    opened.set(label, { id: idOf(row), index });
    onOpen(row);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const step = stepOf(event.key, active, rows.length);
    if (step !== undefined) {
      event.preventDefault();
      goTo(step);
    }
    const row = rows[active];
    if (event.key !== 'Enter' || row === undefined) return;
    // what opens may take the focus: the same key must not submit it
    event.preventDefault();
    openRow(row, active);
  };
  const isPrinting = useIsPrinting();
  const inSight = virtual.getVirtualItems();
  const drawn = isPrinting ? rows.map((_, index) => ({ index, start: 0 })) : inSight;
  useLoadingNearEnd(list, rows.length, inSight.at(-1)?.index ?? 0);
  const { template, minWidth } = widthsOf(columns, useWholeWidths(place, rows, inSight), isPrinting);
  const isCut = useIsCut(place, minWidth);
  return (
    <div className="relative">
      <div
        ref={place}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={(rows.length < all ? rows.length : total) + 1}
        aria-busy={list?.isChanging === true}
        aria-activedescendant={rows[active] === undefined ? undefined : `${label}-${String(active)}`}
        onKeyDown={onKeyDown}
        className="group/grid overflow-auto rounded-lg border border-line bg-surface"
        style={{ maxHeight: height }}
      >
        <div role="none" style={{ minWidth }}>
          <Head
            columns={columns}
            template={template}
            sorting={table.sorting}
            canSort={table.canSort}
            onSort={table.toggleSort}
          />
          <div role="rowgroup" className="relative print:h-auto!" style={{ height: virtual.getTotalSize() }}>
            {drawn.map(({ index, start }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <Line
                  key={idOf(row)}
                  id={`${label}-${String(index)}`}
                  columns={columns}
                  item={row}
                  at={{ index, start, template }}
                  isActive={index === active}
                  onChoose={() => openRow(row, index)}
                  canOpen={onOpen !== undefined}
                />
              );
            })}
          </div>
        </div>
      </div>
      {isCut && <div aria-hidden data-more-columns className={MORE_COLUMNS} />}
    </div>
  );
}

/**
 * Rows of any number: only those in sight are drawn. Arrow keys, Page Up and Down, Home and End move between them,
 * Enter opens one. A list that is here as a whole is sorted and filtered here, of any other the service does it.
 */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, columns, idOf, onOpen, height, empty, actions, isSearched } = props;
  const table = useTableRows(props);
  const { list } = table;
  const saving = useSaving();
  if (table.items === undefined) return <Skeleton lines={6} className="h-8" />;
  if (table.isEmpty) return <>{empty ?? <Empty title={shell.noRows} />}</>;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <TableBar
        label={label}
        filter={table.filter}
        onFilter={table.setFilter}
        hasFilter={isSearched !== true && table.canFilter}
        rows={rowsInWords(table)}
        isSaving={saving.busy !== undefined}
        onSave={() => saving.save(fileToSave(props, table))}
        actions={actions}
      />
      <ProblemNote error={saving.error} />
      <Grid label={label} columns={columns} idOf={idOf} onOpen={onOpen} height={height} table={table} />
      {table.rows.length === 0 && <p className="px-3 text-soft">{shell.noMatch}</p>}
      {list?.more !== undefined && (
        <Button isBusy={list.isLoadingMore} onClick={list.more} className="self-center">
          {shell.more}
        </Button>
      )}
    </div>
  );
}
