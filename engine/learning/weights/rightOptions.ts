import type { Json } from '../../kernel/json.ts';
import type { Option } from '../options.ts';
import { isEmpty, sameValue, squeezed } from '../scoring/agreement.ts';
import { similarityOf } from '../scoring/similarity.ts';
import { remembered, once } from '../../kernel/once.ts';

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
