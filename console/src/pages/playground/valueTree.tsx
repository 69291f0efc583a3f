import { useEffect, useMemo, useRef, type KeyboardEvent } from 'react';
import { Pencil } from '../../ui/icons/icons.tsx';
import { playground } from '../../texts/playground.ts';
import { Badge } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { partsOf, type ValueRow, type ValueTable } from '../../document/values.ts';
import { Confidence, cellName, ValueTableView } from './valueTable.tsx';

const VALUE = 'button[data-value]';

const valueIn = (place: Element | null | undefined): HTMLButtonElement | null =>
  place?.querySelector<HTMLButtonElement>(VALUE) ?? null;

/** The value beside, above or below in a table; undefined at its edge. */
const inTable = (cell: HTMLTableCellElement, key: string): HTMLButtonElement | null => {
  const line = cell.parentElement as HTMLTableRowElement;
  switch (key) {
    case 'ArrowLeft':
      return valueIn(cell.previousElementSibling);
    case 'ArrowRight':
      return valueIn(cell.nextElementSibling);
    case 'ArrowUp':
      return valueIn((line.previousElementSibling as HTMLTableRowElement | null)?.cells[cell.cellIndex]);
    default:
      return valueIn((line.nextElementSibling as HTMLTableRowElement | null)?.cells[cell.cellIndex]);
  }
};

/** The next value before or behind, outside of the table that is left. */
const outside = (tree: Element, from: HTMLButtonElement, by: 1 | -1): HTMLButtonElement | undefined => {
  const table = from.closest('table');
  const all = [...tree.querySelectorAll<HTMLButtonElement>(VALUE)].filter(
    (one) => one === from || table === null || !table.contains(one),
  );
  return all[all.indexOf(from) + by];
};

/** Arrow keys go from value to value, in tables from cell to cell. */
const walk = (event: KeyboardEvent<HTMLElement>): void => {
  const { key, target, currentTarget } = event;
  if (!key.startsWith('Arrow') || !(target instanceof HTMLButtonElement) || !target.matches(VALUE)) return;
  const cell = target.closest('td');
  const isUpOrDown = key === 'ArrowUp' || key === 'ArrowDown';
  const next =
    (cell === null ? null : inTable(cell, key)) ??
    (isUpOrDown ? outside(currentTarget, target, key === 'ArrowDown' ? 1 : -1) : undefined);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
};

const { results: texts } = playground;

interface ValueTreeProps {
  readonly rows: readonly ValueRow[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly corrections: ReadonlyMap<string, string>;
  /** The value that is being corrected, and what is typed or drawn for it. */
  readonly editing: { readonly path: string; readonly text: string } | undefined;
  readonly onEdit: (editing: { path: string; text: string } | undefined) => void;
  readonly onCorrect: (path: string, text: string) => void;
}

function Correction({ name, editing, onEdit, onCorrect }: CorrectionProps) {
  return (
    <form
      className="flex flex-wrap items-center gap-2 bg-accent-soft px-2 py-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        onCorrect(editing.path, editing.text);
      }}
    >
      <input
        autoFocus
        aria-label={texts.correct(name)}
        className={`${CONTROL} max-w-64`}
        value={editing.text}
        onChange={({ target }) => onEdit({ ...editing, text: target.value })}
      />
      <Button size="small" look="primary" type="submit">
        {texts.keep}
      </Button>
      <Button size="small" onClick={() => onEdit(undefined)}>
        {texts.cancel}
      </Button>
      <span className="text-[13px] text-soft">{texts.correctSay}</span>
    </form>
  );
}

interface CorrectionProps extends Pick<ValueTreeProps, 'onEdit' | 'onCorrect'> {
  readonly name: string;
  readonly editing: { readonly path: string; readonly text: string };
}

interface RowProps {
  readonly row: ValueRow;
  readonly isChosen: boolean;
  readonly correction: string | undefined;
  readonly onChoose: () => void;
  readonly onEdit: () => void;
}

function Value({ row, correction }: Pick<RowProps, 'row' | 'correction'>) {
  if (correction !== undefined)
    return (
      <>
        {correction} <Badge tone="accent">{texts.corrected}</Badge>
      </>
    );
  return row.value === null ? <i className="text-soft">{texts.absent}</i> : row.value;
}

function Row({ row, isChosen, correction, onChoose, onEdit }: RowProps) {
  const { path, name, depth, value, citation, errors } = row;
  const indent = { paddingLeft: `${String(8 + depth * 16)}px` };
  return (
    <>
      {value === undefined ? (
        <p style={indent} className="pt-2 pb-1 text-[13px] font-medium text-soft">
          {name}
        </p>
      ) : (
        <div className={classes('flex items-center', isChosen && 'bg-accent-soft')}>
          <button
            type="button"
            data-value={path}
            aria-pressed={isChosen}
            onClick={onChoose}
            style={indent}
            className={classes(
              'flex min-w-0 flex-1 flex-wrap items-center gap-x-3 py-1 pr-2',
              'text-left hover:bg-sunken sm:flex-nowrap',
            )}
          >
            <span className="w-32 grow truncate text-soft sm:shrink-0 sm:grow-0" title={name}>
              {name}
            </span>
            <span className="order-last min-w-0 basis-full break-words sm:order-none sm:flex-1 sm:basis-0">
              <Value row={row} correction={correction} />
            </span>
            {citation !== undefined && (
              <>
                <span className="text-[13px] text-soft max-sm:hidden">{texts.onPage(citation.page)}</span>
                <Confidence citation={citation} />
              </>
            )}
          </button>
          <Button look="quiet" size="icon" aria-label={texts.correct(name)} onClick={onEdit}>
            <Pencil aria-hidden className="size-3.5" />
          </Button>
        </div>
      )}
      {errors.map((said) => (
        <p key={said} style={indent} className="pb-1 text-[13px] text-bad">
          {said}
        </p>
      ))}
    </>
  );
}

/** The head of a table has no value to choose. */
const nothing = (): void => undefined;

function RowPart({ row, ...props }: ValueTreeProps & { readonly row: ValueRow }) {
  const { chosen, onChoose, corrections, editing, onEdit, onCorrect } = props;
  return (
    <>
      <Row
        row={row}
        isChosen={row.path === chosen}
        correction={corrections.get(row.path)}
        onChoose={() => onChoose(row.path)}
        onEdit={() => {
          onChoose(row.path);
          onEdit({ path: row.path, text: corrections.get(row.path) ?? row.value ?? '' });
        }}
      />
      {editing?.path === row.path && (
        <Correction name={row.name} editing={editing} onEdit={onEdit} onCorrect={onCorrect} />
      )}
    </>
  );
}

function TablePart({ table, ...props }: ValueTreeProps & { readonly table: ValueTable }) {
  const { chosen, onChoose, corrections, editing, onEdit, onCorrect } = props;
  const edited = table.lines
    .flatMap(({ cells }) => [...cells.values()])
    .find(({ path }) => path === editing?.path);
  return (
    <>
      <Row row={table.row} isChosen={false} correction={undefined} onChoose={nothing} onEdit={nothing} />
      <ValueTableView
        table={table}
        chosen={chosen}
        onChoose={onChoose}
        corrections={corrections}
        onEdit={({ path, value }) => onEdit({ path, text: corrections.get(path) ?? value ?? '' })}
      />
      {editing !== undefined && edited !== undefined && (
        <Correction name={cellName(table, edited)} editing={editing} onEdit={onEdit} onCorrect={onCorrect} />
      )}
    </>
  );
}

/** The values, lists of objects as tables; each with its place, how certain it is, and what is wrong with it. */
export function ValueTree(props: ValueTreeProps) {
  const { rows, chosen } = props;
  const place = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => partsOf(rows), [rows]);
  useEffect(() => {
    if (chosen === undefined) return;
    const value = place.current?.querySelector(`[data-value="${CSS.escape(chosen)}"]`);
    value?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  return (
    <div
      ref={place}
      role="group"
      aria-label={texts.values}
      tabIndex={-1}
      onKeyDown={walk}
      className="max-h-[60vh] divide-y divide-line overflow-y-auto"
    >
      {parts.map((part) =>
        part.kind === 'row' ? (
          <div key={part.row.path}>
            <RowPart {...props} row={part.row} />
          </div>
        ) : (
          <div key={part.table.row.path}>
            <TablePart {...props} table={part.table} />
          </div>
        ),
      )}
    </div>
  );
}
