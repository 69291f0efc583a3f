import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { Pencil } from '../../ui/icons/icons.tsx';
import { playground } from '../../texts/playground.ts';
import { Badge } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import type { Part, ValueRow, ValueTable } from '../../document/values.ts';
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

/** What is chosen, corrected and being corrected; the page's boxes share it. */
export interface Choosing {
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
  /** The value that is being corrected, and what is typed or drawn for it. */
  readonly editing: { readonly path: string; readonly text: string } | undefined;
  readonly edit: (editing: { path: string; text: string } | undefined) => void;
  readonly corrections: ReadonlyMap<string, string>;
  readonly correct: (path: string, text: string) => void;
  /** All corrections are in an example. */
  readonly isKept: boolean;
  readonly markKept: () => void;
}

function Correction({ name, editing, edit, correct }: CorrectionProps) {
  return (
    <form
      className="flex flex-wrap items-center gap-2 bg-accent-soft px-2 py-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        correct(editing.path, editing.text);
      }}
    >
      <input
        autoFocus
        aria-label={texts.correct(name)}
        className={`${CONTROL} max-w-64`}
        value={editing.text}
        onChange={({ target }) => edit({ ...editing, text: target.value })}
      />
      <Button size="small" look="primary" type="submit">
        {texts.keep}
      </Button>
      <Button size="small" onClick={() => edit(undefined)}>
        {texts.cancel}
      </Button>
      <span className="text-[13px] text-soft">{texts.correctSay}</span>
    </form>
  );
}

interface CorrectionProps extends Pick<Choosing, 'edit' | 'correct'> {
  readonly name: string;
  readonly editing: { readonly path: string; readonly text: string };
}

interface RowProps {
  readonly row: ValueRow;
  /** The field beside which it stands, whose name is said there. */
  readonly field: string | undefined;
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

/** How deep below the field beside which it stands, or in the result. */
const depthIn = ({ path, depth }: ValueRow, field = ''): number =>
  field === '' ? depth : path.split('/').length - field.split('/').length;

function Row({ row, field, isChosen, correction, onChoose, onEdit }: RowProps) {
  const { path, name, value, citation, errors } = row;
  const indent = { paddingLeft: `${String(8 + depthIn(row, field) * 16)}px` };
  const isNamed = path !== field;
  return (
    <>
      {value === undefined ? (
        isNamed && (
          <p style={indent} className="pt-2 pb-1 text-[13px] font-medium text-soft">
            {name}
          </p>
        )
      ) : (
        <div className={classes('flex items-center', isChosen && 'bg-accent-soft')}>
          <button
            type="button"
            data-value={path}
            aria-pressed={isChosen}
            onClick={onChoose}
            style={indent}
            className={classes(
              'flex min-w-0 flex-1 scroll-my-28 items-center gap-x-3 py-1 pr-2 text-left hover:bg-sunken',
              isNamed && 'flex-wrap sm:flex-nowrap',
            )}
          >
            <span
              className={classes(isNamed ? 'w-32 grow truncate text-soft sm:shrink-0 sm:grow-0' : 'sr-only')}
              title={name}
            >
              {name}
            </span>
            <span
              className={classes(
                'min-w-0 break-words',
                isNamed ? 'order-last basis-full sm:order-none sm:flex-1 sm:basis-0' : 'flex-1',
              )}
            >
              <Value row={row} correction={correction} />
            </span>
            {citation !== undefined && (
              <>
                {isNamed && (
                  <span className="text-[13px] text-soft max-sm:hidden">{texts.onPage(citation.page)}</span>
                )}
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

interface PartProps {
  readonly choosing: Choosing;
  readonly field: string | undefined;
}

function RowPart({ row, field, choosing }: PartProps & { readonly row: ValueRow }) {
  const { chosen, choose, corrections, editing, edit, correct } = choosing;
  return (
    <>
      <Row
        row={row}
        field={field}
        isChosen={row.path === chosen}
        correction={corrections.get(row.path)}
        onChoose={() => choose(row.path)}
        onEdit={() => {
          choose(row.path);
          edit({ path: row.path, text: corrections.get(row.path) ?? row.value ?? '' });
        }}
      />
      {editing?.path === row.path && (
        <Correction name={row.name} editing={editing} edit={edit} correct={correct} />
      )}
    </>
  );
}

function TablePart({ table, field, choosing }: PartProps & { readonly table: ValueTable }) {
  const { chosen, choose, corrections, editing, edit, correct } = choosing;
  const edited = table.lines
    .flatMap(({ cells }) => [...cells.values()])
    .find(({ path }) => path === editing?.path);
  const head = { row: table.row, field, isChosen: false, correction: undefined };
  return (
    <>
      <Row {...head} onChoose={nothing} onEdit={nothing} />
      <ValueTableView
        table={table}
        chosen={chosen}
        onChoose={choose}
        corrections={corrections}
        onEdit={({ path, value }) => edit({ path, text: corrections.get(path) ?? value ?? '' })}
      />
      {editing !== undefined && edited !== undefined && (
        <Correction name={cellName(table, edited)} editing={editing} edit={edit} correct={correct} />
      )}
    </>
  );
}

interface ValuesProps {
  readonly parts: readonly Part[];
  readonly choosing: Choosing;
  /** The field beside which they stand; left out: none. */
  readonly field?: string;
}

/** Values, lists of objects as tables; each with its place, how certain it is, and what is wrong with it. */
export function Values({ parts, choosing, field }: ValuesProps) {
  return (
    <div className="min-w-0 divide-y divide-line">
      {parts.map((part) =>
        part.kind === 'row' ? (
          <div key={part.row.path}>
            <RowPart row={part.row} field={field} choosing={choosing} />
          </div>
        ) : (
          <div key={part.table.row.path}>
            <TablePart table={part.table} field={field} choosing={choosing} />
          </div>
        ),
      )}
    </div>
  );
}

/** The values of a result among their fields: the chosen one is scrolled to, arrow keys go from one to another. */
export function ValueGroup({ chosen, children }: { chosen: string | undefined; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen === undefined) return;
    const value = place.current?.querySelector(`[data-value="${CSS.escape(chosen)}"]`);
    value?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  return (
    <div ref={place} role="group" aria-label={texts.values} tabIndex={-1} onKeyDown={walk}>
      {children}
    </div>
  );
}
