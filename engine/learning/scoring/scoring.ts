import { memberPointer, asObject, ownMember, type Json } from '../../kernel/json.ts';
import { isEmpty, sameValue, squeezed } from './agreement.ts';
import { bestPairs } from '../../kernel/assignment.ts';
import type { Counts } from '../../ports/documentTools.ts';

export const NONE: Counts = { tp: 0, fp: 0, fn: 0 };
export const added = (a: Counts, b: Counts): Counts => ({
  tp: a.tp + b.tp,
  fp: a.fp + b.fp,
  fn: a.fn + b.fn,
});

/** F1 = 2 tp / (2 tp + fp + fn), 0..1; 1 where nothing was expected and nothing said. */
export const f1 = ({ tp, fp, fn }: Counts): number =>
  tp + fp + fn === 0 ? 1 : (2 * tp) / (2 * tp + fp + fn);

/** Two values to compare. */
export interface Compared {
  readonly expected: Json | undefined;
  readonly got: Json | undefined;
  /** JSON Pointer of `got` in the whole answer; left out where it has no place there. */
  readonly at?: string | undefined;
}

/** Receives the counts of each leaf by its path, with `*` for places in lists, and what was compared. */
export type Note = (path: string, counts: Counts, leaf: Compared) => void;

const below = (at: string | undefined, key: string | number): string | undefined =>
  at === undefined ? undefined : memberPointer(at, key);

/**
 * Counts leaves: a wrong value is one too many and one missing. Rows of a list are paired one to one in the
 * best way before their leaves are counted.
 */
export function compared(pair: Compared, path: string, note: Note): Counts {
  const { expected, got, at } = pair;
  if (Array.isArray(expected) || (isEmpty(expected) && Array.isArray(got)))
    return comparedLists({ expected: listOf(expected), got: listOf(got), at }, path, note);
  const object = asObject(expected);
  if (object !== undefined || (isEmpty(expected) && asObject(got) !== undefined)) {
    const other = asObject(got) ?? {};
    return [...new Set([...Object.keys(object ?? {}), ...Object.keys(other)])].reduce(
      (sum, key) =>
        added(
          sum,
          compared(
            { expected: ownMember(object, key), got: ownMember(other, key), at: below(at, key) },
            memberPointer(path, key),
            note,
          ),
        ),
      NONE,
    );
  }
  const counts = comparedLeaf(pair);
  note(path, counts, pair);
  return counts;
}

function listOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  return value === undefined || isEmpty(value) ? [] : [value];
}

function comparedLeaf({ expected, got }: Compared): Counts {
  const said = isEmpty(got) ? 0 : 1;
  if (expected === undefined || isEmpty(expected)) return { tp: 0, fp: said, fn: 0 };
  return sameValue(expected, got) ? { tp: 1, fp: 0, fn: 0 } : { tp: 0, fp: said, fn: 1 };
}

const unheard: Note = () => undefined;

interface ComparedLists extends Pick<Compared, 'at'> {
  readonly expected: readonly Json[];
  readonly got: readonly Json[];
}

type Rows = Pick<ComparedLists, 'expected' | 'got'>;
type RowPair = readonly [expected: number, got: number];

/** A row as a text: two rows with the same one say the same in every leaf. Empty for a row that says nothing. */
function signatureOf(row: Json | undefined): string {
  if (row === undefined || isEmpty(row)) return '';
  if (Array.isArray(row)) return `[${row.map(signatureOf).join('\u001f')}]`;
  const object = asObject(row);
  if (object === undefined) return typeof row === 'string' ? `"${squeezed(row)}` : JSON.stringify(row);
  const members = Object.keys(object)
    .sort()
    .flatMap((key) => {
      const text = signatureOf(object[key]);
      return text === '' ? [] : [`${JSON.stringify(key)}:${text}`];
    });
  return members.length === 0 ? '' : `{${members.join('\u001f')}}`;
}

/**
 * Pairs of rows that say the same. They are part of a best pairing: what two other rows share with them, these share
 * with each other. Long lists are mostly that.
 */
function samePairs({ expected, got }: Rows): readonly RowPair[] {
  const places = new Map<string, number[]>();
  for (const [j, row] of got.entries()) {
    const signature = signatureOf(row);
    if (signature === '') continue;
    const known = places.get(signature);
    if (known === undefined) places.set(signature, [j]);
    else known.push(j);
  }
  return expected.flatMap((row, i): readonly RowPair[] => {
    const j = places.get(signatureOf(row))?.shift();
    return j === undefined ? [] : [[i, j]];
  });
}

/** Cells of the table in which the best pairing of all is looked for. */
const CELLS_MAX = 40_000;
/** In larger ones a row is compared with so many before and after its own place. */
const NEAR = 60;

/** In the order of their places, each row with the nearest best one that is free. */
function nearPairs({ expected, got }: Rows): readonly RowPair[] {
  const taken = new Set<number>();
  return expected.flatMap((row, i): readonly RowPair[] => {
    const middle = Math.round((i * got.length) / expected.length);
    let [best, most] = [-1, 0];
    for (let j = Math.max(0, middle - NEAR); j < Math.min(got.length, middle + NEAR + 1); j += 1) {
      if (taken.has(j)) continue;
      const { tp, fp, fn } = compared({ expected: row, got: got[j] }, '', unheard);
      const worth = tp === 0 ? 0 : tp * 1000 - fp - fn;
      if (worth > most) [best, most] = [j, worth];
    }
    taken.add(best);
    return best < 0 ? [] : [[i, best]];
  });
}

function bestOf({ expected, got }: Rows): readonly RowPair[] {
  const cells = expected.map((a) => got.map((b) => compared({ expected: a, got: b }, '', unheard)));
  return bestPairs(cells.map((row) => row.map(({ tp, fp, fn }) => tp * 1000 - fp - fn))).filter(
    ([i, j]) => (cells[i]?.[j]?.tp ?? 0) > 0,
  );
}

/** Rows one to one: those that say the same, then the best pairing of the others. */
function pairsOf(rows: Rows): readonly RowPair[] {
  const same = samePairs(rows);
  const [seen, used] = [new Set(same.map(([i]) => i)), new Set(same.map(([, j]) => j))];
  const left = [...rows.expected.keys()].filter((i) => !seen.has(i));
  const free = [...rows.got.keys()].filter((j) => !used.has(j));
  const others = {
    expected: left.map((i) => rows.expected[i] ?? null),
    got: free.map((j) => rows.got[j] ?? null),
  };
  const pairs = left.length * free.length > CELLS_MAX ? nearPairs(others) : bestOf(others);
  return [...same, ...pairs.map(([i, j]): RowPair => [left[i] ?? 0, free[j] ?? 0])].sort(([a], [b]) => a - b);
}

function comparedLists({ expected, got, at }: ComparedLists, path: string, note: Note): Counts {
  const pairs = pairsOf({ expected, got });
  const paired = pairs.map(([i, j]) =>
    compared({ expected: expected[i], got: got[j], at: below(at, j) }, `${path}/*`, note),
  );
  const [rows, columns] = [new Set(pairs.map(([row]) => row)), new Set(pairs.map(([, column]) => column))];
  const missing = expected.filter((_, i) => !rows.has(i));
  const surplus = [...got.entries()].filter(([j]) => !columns.has(j));
  const lone = [
    ...missing.map((row) => compared({ expected: row, got: undefined }, `${path}/*`, note)),
    ...surplus.map(([j, row]) =>
      compared({ expected: undefined, got: row, at: below(at, j) }, `${path}/*`, note),
    ),
  ];
  return [...paired, ...lone].reduce(added, NONE);
}
