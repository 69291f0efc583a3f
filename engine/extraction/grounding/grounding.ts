import type { Document } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { boxAround } from '../places/layout.ts';
import { currencyOf } from '../values/numbers.ts';
import type { Citation } from '../../ports/extractionEngine.ts';
import { chosenOf, type Chosen, type Sought } from './groundingChoice.ts';
import { leavesOf, type Leaf } from './groundingLeaves.ts';
import { fuzzyOccurrences, textOccurrences, type Budget, type Occurrence } from './groundingSearch.ts';
import { textIndexOf, type TextIndex } from './groundingText.ts';
import { daysSaid, numberSaid, typedIndexOf, type TypedIndex } from './groundingTyped.ts';

export interface Grounding {
  /** In the value's order. */
  readonly citations: readonly Citation[];
  /** JSON Pointers of values that stand nowhere; never of booleans, enumerations and empty texts. */
  readonly ungrounded: readonly string[];
}

interface Indexed {
  readonly text: TextIndex;
  readonly typed: TypedIndex;
  readonly budget: Budget;
}

/** Enough for thousands of values; what is sought after that counts as not found. */
const STEPS = 20_000_000;

/**
 * Looks for each value of an answer in the text of the pages: as it is, then without case, spaces and marks,
 * numbers and dates in whatever way they are written, at last with a few letters amiss. Pure; the time grows
 * with the text and the number of values, whatever they are.
 */
export function groundedIn(
  document: Document,
  { schema, value }: { readonly schema: JsonObject; readonly value: JsonObject },
): Grounding {
  const text = textIndexOf(document);
  const indexed: Indexed = { text, typed: typedIndexOf(text.layout), budget: { steps: STEPS } };
  const sought = leavesOf(schema, value).map((leaf): Sought => ({
    leaf,
    occurrences: occurrencesOf(leaf, indexed),
  }));
  const chosen = new Map(chosenOf(sought, text.layout).map((one) => [one.leaf, one]));
  return {
    citations: sought.flatMap(({ leaf }) => {
      const one = chosen.get(leaf);
      return one === undefined ? [] : [citationOf(one)];
    }),
    ungrounded: sought
      .filter(({ leaf }) => !chosen.has(leaf) && !leaf.isJudgement && saysSomething(leaf))
      .map(({ leaf }) => leaf.path),
  };
}

const saysSomething = ({ value }: Leaf): boolean => typeof value !== 'string' || /[\p{L}\p{N}]/u.test(value);

const citationOf = ({
  leaf: { path },
  occurrence: { segment, text, words },
  confidence,
}: Chosen): Citation => ({
  path,
  text,
  page: segment.page,
  bbox: boxAround(words),
  confidence,
});

function occurrencesOf({ value }: Leaf, indexed: Indexed): readonly Occurrence[] {
  if (typeof value === 'boolean') return [];
  if (typeof value === 'number') return asWritten(indexed.typed.numbers.get(value), String(value));
  const ways = [inDays, inText, inOtherForms, inFuzzyText];
  for (const way of ways) {
    const found = way(value, indexed);
    if (found.length > 0) return found;
  }
  return [];
}

const EXACT = 0.99;

/** A number that stands there just as JSON writes it is exact. */
const asWritten = (found: readonly Occurrence[] = [], text: string): readonly Occurrence[] =>
  found.map((one) => (one.text === text ? { ...one, exactness: Math.max(EXACT, one.exactness) } : one));

type Way = (value: string, indexed: Indexed) => readonly Occurrence[];

const ISO_DAY = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/;

const inDays: Way = (value, { typed }) => {
  const [day] = ISO_DAY.exec(value) ?? [];
  return day === undefined ? [] : asWritten(typed.days.get(day), day);
};

const inText: Way = (value, { text, budget }) => textOccurrences(text, value, budget);

const inOtherForms: Way = (value, { text, typed, budget }) => {
  const days = daysSaid(value).flatMap((day) => typed.days.get(day) ?? []);
  if (days.length > 0) return days;
  const number = numberSaid(value, typed.conventions);
  if (number !== undefined) return typed.numbers.get(number) ?? [];
  const currency = value.length <= 5 ? currencyOf(value.trim()) : undefined;
  if (currency !== undefined) return typed.currencies.get(currency) ?? [];
  const address = /^https?:\/\/(?:www\.)?(.*)$/i.exec(value.trim())?.[1];
  return address === undefined ? [] : textOccurrences(text, address, budget);
};

const inFuzzyText: Way = (value, { text, budget }) => fuzzyOccurrences(text, value, budget);
