import { ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import { isEmpty, sameValue } from './agreement.ts';
import { compared, f1, type Counts } from './scoring.ts';

/** How an answer compares with what was expected. */
export interface ScoredAnswer {
  readonly counts: Counts;
  /** F1, 0 to 1. */
  readonly score: number;
  readonly leaves: readonly (readonly [path: string, counts: Counts])[];
  /** A line for each field that is wrong; empty where all is right. */
  readonly feedback: readonly string[];
}

const LINES_MAX = 20;
const VALUE_CHARACTERS_MAX = 300;

/** Scores an answer and says what is wrong with it. `got` undefined: there was no JSON object. */
export const scoredAnswer = (expected: JsonObject, got: JsonObject | undefined): ScoredAnswer => {
  const leaves: (readonly [string, Counts])[] = [];
  const counts = compared({ expected, got: got ?? {} }, '', (path, leaf) => leaves.push([path, leaf]));
  const lines = got === undefined ? ['The answer was no JSON object.'] : differences({ expected, got }, '');
  return { counts, score: f1(counts), leaves, feedback: lines.slice(0, LINES_MAX) };
};

interface Pair {
  readonly expected: Json | undefined;
  readonly got: Json | undefined;
}

const asObject = (value: Json | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

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

const shown = (value: Json | undefined): string => {
  if (isEmpty(value)) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
};

const lineOf = ({ expected, got }: Pair, path: string): string =>
  `${path}: expected ${shown(expected)}, got ${shown(got)}`;
