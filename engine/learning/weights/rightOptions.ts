import type { Json } from '../../kernel/json.ts';
import type { Option } from '../options.ts';
import { isEmpty, sameValue, squeezed } from '../scoring/agreement.ts';
import { remembered, once } from '../../kernel/once.ts';

/** Longer texts are compared by their beginnings. */
const CHARACTERS_MAX = 160;

/**
 * 1 − edit distance / length of the longer text, 0..1; 0 where it cannot reach `least`, which is told from
 * lengths and letters alone.
 */
function similarityOf(one: string, other: string, least: number): number {
  const [a, b] = [one.slice(0, CHARACTERS_MAX), other.slice(0, CHARACTERS_MAX)];
  const longest = Math.max(a.length, b.length);
  if (a === b) return 1;
  if (Math.min(a.length, b.length) < least * longest || inCommon(a, b) < least * longest) return 0;
  const reached = 1 - editDistance(a, b) / longest;
  return reached >= least ? reached : 0;
}

/** Letters that both texts have, wherever they stand. */
function inCommon(a: string, b: string): number {
  const counts = new Map<string, number>();
  for (const letter of a) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let common = 0;
  for (const letter of b) {
    const left = counts.get(letter) ?? 0;
    if (left > 0) common += 1;
    counts.set(letter, left - 1);
  }
  return common;
}

function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min((before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}

/** A text that reads otherwise on the page than the example says is meant from this similarity on. */
const NEAR_FROM = 0.75;
/** Shorter texts are near too many others. */
const NEAR_CHARACTERS_MIN = 6;
/** Options that are near by so much less than the nearest are meant too. */
const NEAR_STEP = 0.02;

/** Which options are right does not change from one round to the next. */
const known = once((_: readonly Option[]) => new Map<string, readonly number[]>());

/**
 * Places of the options that say what was expected. Where none says it to the letter, those that come nearest:
 * recognised words have wrong letters, and an example may write a name otherwise than the page.
 */
export function rightOptions(options: readonly Option[], expected: Json | undefined): readonly number[] {
  if (expected === undefined || isEmpty(expected)) return [];
  return remembered(known(options), JSON.stringify(expected), () => placesOf(options, expected));
}

function placesOf(options: readonly Option[], expected: Json): readonly number[] {
  const exact = options.flatMap(({ value }, i) => (sameValue(expected, value) ? [i] : []));
  if (exact.length > 0 || typeof expected !== 'string') return exact;
  const wanted = squeezed(expected);
  if (wanted.length < NEAR_CHARACTERS_MIN || !hasMoreLettersThanDigits(wanted)) return [];
  const near = options.map(({ value }) =>
    typeof value === 'string' ? similarityOf(wanted, squeezed(value), NEAR_FROM) : 0,
  );
  const nearest = near.reduce((a, b) => Math.max(a, b), 0);
  return nearest === 0 ? [] : near.flatMap((one, i) => (one >= nearest - NEAR_STEP ? [i] : []));
}

/** In a number or a day one wrong sign makes another one; in a name it does not. */
const hasMoreLettersThanDigits = (text: string): boolean =>
  text.replace(/\P{L}/gu, '').length > text.replace(/\D/g, '').length;

/** What an example expects as the page has it: the nearest option where none says it to the letter. */
export function asRead(options: readonly Option[], expected: Json | undefined): Json | undefined {
  const [first] = rightOptions(options, expected);
  return first === undefined ? expected : (options[first]?.value ?? expected);
}
