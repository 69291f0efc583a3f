import { Pencil } from '../../ui/icons/icons.tsx';
import { useState, type SyntheticEvent } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/style.ts';
import type { Placed, ValueRow, TableLine, ValueTable } from '../../document/values.ts';

const { results: texts } = playground;

/** Green, yellow or red. */
const toneOf = (share: number): string =>
  [[0.9, 'bg-good'] as const, [0.7, 'bg-warn'] as const].find(([least]) => share >= least)?.[1] ?? 'bg-bad';

/** How certain a value is, where it stands, and how it was found; results of earlier releases do not say that. */
const saidOf = ({ confidence, by, page }: Placed): readonly string[] => [
  texts.confidence(confidence),
  ...(by === undefined ? [] : [texts.foundBy(by)]),
  texts.onPage(page),
];

/** How certain a value is, as a bar and in figures. */
export function Confidence({ citation }: { citation: Placed }) {
  const { confidence: share } = citation;
  return (
    <span className="flex items-center gap-1.5" title={saidOf(citation).join(', ')}>
      <span aria-hidden className="h-1.5 w-10 overflow-hidden rounded-full bg-sunken">
        <span className={`block h-full ${toneOf(share)}`} style={{ width: `${String(share * 100)}%` }} />
      </span>
      <span className="w-9 text-right text-[13px] text-soft">{Math.round(share * 100)} %</span>
    </span>
  );
}

interface Shared {
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly corrections: ReadonlyMap<string, string>;
}

interface CellProps extends Shared {
  readonly cell: ValueRow;
  /** Whether the tab key stops here; arrow keys go on. */
  readonly isStop: boolean;
  readonly isNumber: boolean;
}

const certainty = ({ citation }: ValueRow): string | undefined => citation && saidOf(citation).join(', ');

function Cell({ cell, isStop, isNumber, chosen, onChoose, corrections }: CellProps) {
  const { path, name, value, citation, errors } = cell;
  const isChosen = path === chosen;
  const shown = corrections.get(path) ?? value;
  const said = certainty(cell);
  return (
    <td
      className={classes('border-l border-line p-0 align-top first:border-l-0', isChosen && 'bg-accent-soft')}
    >
      <button
        type="button"
        data-value={path}
        data-said={said}
        aria-pressed={isChosen}
        aria-label={[`${name}: ${shown ?? texts.absent}`, said].filter(Boolean).join(', ')}
        tabIndex={isStop ? 0 : -1}
        onClick={() => onChoose(path)}
        className={classes(
          'block h-full w-full scroll-my-28 px-2 py-1 hover:bg-sunken',
          isNumber ? 'min-w-16 text-right' : 'min-w-24 text-left',
        )}
      >
        <span className="block max-w-56 break-words">
          {shown ?? <i className="text-soft">–</i>}
          {corrections.has(path) && <span className="text-accent"> *</span>}
        </span>
        {citation !== undefined && (
          <span
            aria-hidden
            className={`mt-0.5 block h-0.5 rounded-full ${toneOf(citation.confidence)}`}
            style={{ width: `${String(citation.confidence * 100)}%` }}
          />
        )}
      </button>
      {errors.map((fault) => (
        <p key={fault} className="px-2 pb-1 text-[13px] text-bad">
          {fault}
        </p>
      ))}
    </td>
  );
}

interface Hint {
  readonly said: string;
  readonly left: number;
  readonly top: number;
}

/** What is said of the cell under the pointer or the focus: one for all, since a table has hundreds. */
const useHint = () => {
  const [hint, show] = useState<Hint>();
  const look = ({ target }: SyntheticEvent): void => {
    const value = target instanceof Element ? target.closest<HTMLElement>('[data-said]') : null;
    const said = value?.dataset['said'];
    if (value === null || said === undefined) {
      show(undefined);
      return;
    }
    const { left, bottom } = value.getBoundingClientRect();
    show({ said, left, top: bottom + 2 });
  };
  const hide = (): void => show(undefined);
  return {
    hint,
    events: { onMouseOver: look, onFocus: look, onMouseLeave: hide, onBlur: hide, onScroll: hide },
  };
};

interface LineProps extends Shared {
  readonly line: TableLine;
  readonly number: number;
  readonly table: ValueTable;
  readonly stop: string | undefined;
}

function Line({ line, number, table, stop, ...shared }: LineProps) {
  return (
    <tr className="border-t border-line">
      <th scope="row" className="px-2 py-1 text-right align-top text-[13px] font-normal text-soft">
        {number}
        {line.errors.map((fault) => (
          <p key={fault} className="text-left text-bad">
            {fault}
          </p>
        ))}
      </th>
      {table.columns.map((name) => {
        const cell = line.cells.get(name);
        if (cell === undefined) return <td key={name} className="border-l border-line" />;
        const known = { cell, isStop: cell.path === stop, isNumber: table.numbers.has(name) };
        return <Cell key={name} {...known} {...shared} />;
      })}
    </tr>
  );
}

interface ValueTableProps extends Shared {
  readonly table: ValueTable;
  readonly onEdit: (cell: ValueRow, name: string) => void;
}

const cellAt = ({ lines }: ValueTable, path: string | undefined) => {
  for (const [at, { cells }] of lines.entries())
    for (const cell of cells.values()) if (cell.path === path) return { cell, number: at + 1 };
  return undefined;
};

/** The name by which a cell is corrected: `line_items 2 amount`. */
export const cellName = ({ row, lines }: ValueTable, cell: ValueRow): string => {
  const at = lines.findIndex(({ cells }) => cells.get(cell.name)?.path === cell.path);
  return `${row.name} ${String(at + 1)} ${cell.name}`;
};

/** The chosen cell in full: how certain it is, where it stands, and the way to correct it. */
function Chosen({ table, chosen, corrections, onEdit }: Omit<ValueTableProps, 'onChoose'>) {
  const found = cellAt(table, chosen);
  if (found === undefined) return null;
  const { cell } = found;
  const name = cellName(table, cell);
  return (
    <div className="sticky bottom-0 flex flex-wrap items-center gap-x-3 border-t border-line bg-accent-soft px-2">
      <span className="text-soft">{name}</span>
      <span className="min-w-0 flex-1 break-words">{corrections.get(cell.path) ?? cell.value}</span>
      {cell.citation !== undefined && (
        <>
          <span className="text-[13px] text-soft">{texts.onPage(cell.citation.page)}</span>
          <Confidence citation={cell.citation} />
        </>
      )}
      <Button look="quiet" size="icon" aria-label={texts.correct(name)} onClick={() => onEdit(cell, name)}>
        <Pencil aria-hidden className="size-3.5" />
      </Button>
    </div>
  );
}

/** A list of objects with a column for each member; a wide one scrolls within itself. */
export function ValueTableView({ table, onEdit, ...shared }: ValueTableProps) {
  const { row, columns, lines, numbers } = table;
  const { hint, events } = useHint();
  const stop = cellAt(table, shared.chosen)?.cell.path ?? [...(lines[0]?.cells.values() ?? [])][0]?.path;
  return (
    <div className="my-1 overflow-clip rounded-md border border-line">
      <div className="overflow-x-auto" {...events}>
        <table aria-label={row.name} className="w-full border-collapse">
          <thead className="bg-sunken text-[13px] text-soft">
            <tr>
              <th scope="col" className="px-2 py-1 text-right font-normal">
                #
              </th>
              {columns.map((name) => (
                <th
                  key={name}
                  scope="col"
                  className={classes('px-2 py-1 font-medium', numbers.has(name) ? 'text-right' : 'text-left')}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line, at) => (
              <Line key={line.path} line={line} number={at + 1} table={table} stop={stop} {...shared} />
            ))}
          </tbody>
        </table>
      </div>
      <Chosen table={table} onEdit={onEdit} chosen={shared.chosen} corrections={shared.corrections} />
      {hint !== undefined && (
        <div
          role="tooltip"
          style={{ left: hint.left, top: hint.top }}
          className="pointer-events-none fixed z-50 rounded-md bg-ink px-2 py-1 text-[13px] text-page shadow"
        >
          {hint.said}
        </div>
      )}
    </div>
  );
}
