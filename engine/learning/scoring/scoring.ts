import { memberPointer, asObject, ownMember, type Json } from '../../kernel/json.ts';
import { isEmpty, sameValue } from './agreement.ts';
import { bestPairs } from '../../kernel/assignment.ts';

/** Leaves that were right, leaves that were wrong or too many, leaves that are missing. */
export interface Counts {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}

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

function comparedLists({ expected, got, at }: ComparedLists, path: string, note: Note): Counts {
  const cells = expected.map((a) => got.map((b) => compared({ expected: a, got: b }, path, unheard)));
  const pairs = bestPairs(cells.map((row) => row.map(({ tp, fp, fn }) => tp * 1000 - fp - fn))).filter(
    ([i, j]) => (cells[i]?.[j]?.tp ?? 0) > 0,
  );
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
