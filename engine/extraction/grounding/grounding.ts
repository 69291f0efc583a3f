import type { Document } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { boxAround, pageOf } from '../places/layout.ts';
import { currencyOf } from '../values/numbers.ts';
import type { ValueCitation } from '../../ports/extractionEngine.ts';
import { chosenOf, memberOf, type Chosen, type Sought } from './groundingChoice.ts';
import { leavesOf, type Leaf } from './groundingLeaves.ts';
import {
  assembledOccurrences,
  fuzzyOccurrences,
  occurrenceIn,
  textOccurrences,
  type Budget,
  type Occurrence,
} from './groundingSearch.ts';
import {
  calendarOf,
  computedPaths,
  monthsSaid,
  namedPeriod,
  roundedDays,
  saysNothing,
  type Calendar,
} from './groundingDerived.ts';
import { textIndexOf, type TextIndex } from './groundingText.ts';
import { daysSaid, numberSaid, scaledNumber, typedIndexOf, type TypedIndex } from './groundingTyped.ts';

/**
 * Of each value of an answer that says something, in its order, where it comes from. Those that follow from the
 * rest of the answer or are picked (booleans, enumerations) and stand nowhere are `derived` without a place.
 */
export type Grounded = readonly ValueCitation[];

interface Indexed {
  readonly text: TextIndex;
  readonly typed: TypedIndex;
  readonly calendar: Calendar;
  readonly budget: Budget;
}

/** Enough for thousands of values; what is sought after that counts as not found. */
const STEPS = 20_000_000;

/**
 * Looks for each value of an answer in the text of the pages: as it is, then without case, spaces and marks,
 * numbers and dates in whatever way they are written, put together from several places, at last where recognition
 * got a few letters wrong. Pure; the time grows with the text and the number of values, whatever they are.
 */
export function groundedIn(
  document: Document,
  { schema, value }: { readonly schema: JsonObject; readonly value: JsonObject },
): Grounded {
  const text = textIndexOf(document);
  const typed = typedIndexOf(text.layout);
  const calendar = calendarOf(text.layout, typed.days.keys());
  const indexed: Indexed = { text, typed, calendar, budget: { steps: STEPS } };
  const found = new Map<Leaf['value'], readonly Occurrence[]>();
  const sought = leavesOf(schema, value).map((leaf): Sought => {
    const occurrences = found.get(leaf.value) ?? occurrencesOf(leaf, indexed);
    found.set(leaf.value, occurrences);
    return { leaf, occurrences };
  });
  const computed = computedPaths(value, text.layout.pages);
  const chosen = new Map(chosenOf(sought, text.layout, computed).map((one) => [one.leaf, one]));
  const mostly = mostlyPlaced(sought, chosen);
  return sought
    .filter(({ leaf }) => leaf.value !== '')
    .map(({ leaf }) => {
      const one = chosen.get(leaf);
      if (one !== undefined) return citationOf(one);
      const isDerived =
        leaf.isJudgement ||
        (computed.has(leaf.path) && !mostly.has(memberOf(leaf))) ||
        saysNothing(leaf) ||
        !hasLetters(leaf);
      return unplaced(leaf, isDerived ? 'derived' : 'none');
    });
}

/** Members of lists that stand on the pages in four of five items and more: then they do not follow from the answer. */
function mostlyPlaced(sought: readonly Sought[], chosen: ReadonlyMap<Leaf, Chosen>): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { leaf } of sought)
    if (leaf.path.includes('/', 1)) {
      const member = memberOf(leaf);
      counts.set(member, (counts.get(member) ?? 0) + (chosen.has(leaf) ? 1 : -4));
    }
  return new Set([...counts].flatMap(([member, more]) => (more > 0 ? [member] : [])));
}

const hasLetters = ({ value }: Leaf): boolean => typeof value !== 'string' || /[\p{L}\p{N}]/u.test(value);

/** What nothing on the pages speaks for or against. */
const UNPLACED = 0.5;

const unplaced = ({ path }: Leaf, grounding: 'derived' | 'none'): ValueCitation => ({
  path,
  text: '',
  page: null,
  bbox: null,
  confidence: grounding === 'none' ? 0 : UNPLACED,
  grounding,
  by: 'model',
});

const citationOf = ({
  leaf: { path },
  occurrence: { segment, text, words, exactness, grade },
  confidence,
}: Chosen): ValueCitation => ({
  path,
  text,
  page: pageOf(segment.page, words),
  bbox: boxAround(words),
  confidence,
  grounding: grade ?? (exactness >= EXACT ? 'exact' : 'normalised'),
  by: 'model',
});

function occurrencesOf({ value }: Leaf, indexed: Indexed): readonly Occurrence[] {
  if (typeof value === 'boolean') return [];
  if (typeof value === 'number') {
    const { typed } = indexed;
    const found = asWritten(typed.numbers.get(value), String(value));
    return found.length > 0 ? found : (typed.scales.get(value) ?? scaledNumber(typed, value));
  }
  for (const way of WAYS) {
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

const inDays: Way = (value, { typed, calendar }) => {
  const [day] = ISO_DAY.exec(value) ?? [];
  if (day === undefined) return [];
  const found = asWritten(typed.days.get(day), day);
  return found.length > 0 ? found : roundedDays(value, calendar, typed.numbers);
};

const inText: Way = (value, { text, budget }) => textOccurrences(text, value, budget);

const inOtherForms: Way = (value, { text, typed, calendar, budget }) => {
  const days = daysSaid(value).flatMap((day) => typed.days.get(day) ?? []);
  if (days.length > 0) return days;
  const months = monthsSaid(value).flatMap((month) => calendar.months.get(month) ?? []);
  if (months.length > 0) return months;
  const number = numberSaid(value, typed.conventions);
  if (number !== undefined) return typed.numbers.get(number) ?? [];
  const currency = value.length <= 5 ? currencyOf(value.trim()) : undefined;
  if (currency !== undefined) return typed.currencies.get(currency) ?? [];
  const address = /^https?:\/\/(?:www\.)?(.*)$/i.exec(value.trim())?.[1];
  return address === undefined ? [] : textOccurrences(text, address, budget);
};

/** Words of a name of a person: it is written with the last one first, too. */
const NAME_WORDS_MAX = 5;

const inOtherOrder: Way = (value, { text, budget }) => {
  const words = value.split(/[\s,]+/u).filter((word) => word !== '');
  const [first = '', ...others] = words;
  const last = words.at(-1) ?? '';
  if (words.length < 2 || words.length > NAME_WORDS_MAX || /\d/.test(value)) return [];
  return [
    [last, ...words.slice(0, -1)],
    [...others, first],
  ].flatMap((order) =>
    textOccurrences(text, order.join(' '), budget).map((one) => ({
      ...one,
      exactness: TURNED,
      grade: undefined,
    })),
  );
};

const TURNED = 0.9;

/** A value without letters: `%`. */
const inSigns: Way = (value, { text }) => {
  const sign = value.trim();
  if (sign === '' || sign.length > 3 || /[\p{L}\p{N}]/u.test(sign)) return [];
  return text.layout.segments.flatMap((segment) => {
    const from = segment.text.indexOf(sign);
    return from < 0 ? [] : [occurrenceIn(segment, { from, to: from + sign.length }, EXACT)];
  });
};

const inPeriods: Way = (value, { calendar }) => namedPeriod(value, calendar);

const assembled: Way = (value, { text, budget }) => assembledOccurrences(text, value, budget);

const inFuzzyText: Way = (value, { text, budget }) => fuzzyOccurrences(text, value, budget);

/** One after the other, until one finds something. */
const WAYS: readonly Way[] = [
  inDays,
  inText,
  inOtherForms,
  inOtherOrder,
  inSigns,
  inPeriods,
  assembled,
  inFuzzyText,
];
