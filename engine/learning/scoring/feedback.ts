import { asObject, ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import { isEmpty, sameValue } from './agreement.ts';
import { compared, f1, type Compared, type Counts } from './scoring.ts';

/** A leaf that was expected or said. */
export interface ScoredLeaf {
  /** With `*` for places in lists. */
  readonly path: string;
  readonly counts: Counts;
  /** Where it stands in the answer, a JSON Pointer; null where the answer has no such place. */
  readonly at: string | null;
  /** What was wrong, as JSON, of bounded length; null: nothing. Left out where it is right. */
  readonly wrong?: { readonly expected: string | null; readonly got: string | null };
}

/** How an answer compares with what was expected. */
export interface ScoredAnswer {
  readonly counts: Counts;
  /** F1, 0 to 1. */
  readonly score: number;
  readonly leaves: readonly ScoredLeaf[];
  /** A line for each field that is wrong; empty where all is right. */
  readonly feedback: readonly string[];
}

const LINES_MAX = 20;
const VALUE_CHARACTERS_MAX = 300;

/** Scores an answer and says what is wrong with it. `got` undefined: there was no JSON object. */
export const scoredAnswer = (expected: JsonObject, got: JsonObject | undefined): ScoredAnswer => {
  const leaves: ScoredLeaf[] = [];
  const counts = compared({ expected, got: got ?? {}, at: '' }, '', (...leaf) =>
    leaves.push(leafOf(...leaf)),
  );
  const lines = got === undefined ? ['The answer was no JSON object.'] : differences({ expected, got }, '');
  return { counts, score: f1(counts), leaves, feedback: lines.slice(0, LINES_MAX) };
};

const leafOf = (path: string, counts: Counts, { expected, got, at }: Compared): ScoredLeaf => ({
  path,
  counts,
  at: at ?? null,
  ...(counts.fp + counts.fn > 0 && { wrong: { expected: jsonOf(expected), got: jsonOf(got) } }),
});

type Pair = Pick<Compared, 'expected' | 'got'>;

function differences({ expected, got }: Pair, path: string): readonly string[] {
  const [wanted, said] = [asObject(expected), asObject(got)];
  if (wanted !== undefined || said !== undefined)
    return [...new Set([...Object.keys(wanted ?? {}), ...Object.keys(said ?? {})])].flatMap((key) =>
      differences({ expected: ownMember(wanted, key), got: ownMember(said, key) }, `${path}/${key}`),
    );
  return isRight({ expected, got }) ? [] : [lineOf({ expected, got }, path)];
}

function isRight(pair: Pair): boolean {
  const { expected, got } = pair;
  if (Array.isArray(expected) || Array.isArray(got)) {
    const { fp, fn } = compared(pair, '', () => undefined);
    return fp + fn === 0;
  }
  return expected === undefined || isEmpty(expected) ? isEmpty(got) : sameValue(expected, got);
}

const jsonOf = (value: Json | undefined): string | null => {
  if (isEmpty(value)) return null;
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
};

const shown = (value: Json | undefined): string => jsonOf(value) ?? 'nothing';

const lineOf = ({ expected, got }: Pair, path: string): string =>
  `${path}: expected ${shown(expected)}, got ${shown(got)}`;
