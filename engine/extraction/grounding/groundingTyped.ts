import { conventionsOf, type Conventions } from '../candidates.ts';
import { compactDatesIn, datesIn } from '../values/dates.ts';
import type { Layout, Segment } from '../places/layout.ts';
import {
  currenciesIn,
  numbersIn,
  parseNumber,
  type DecimalMark,
  type NumberShape,
} from '../values/numbers.ts';
import { occurrenceIn, type Occurrence } from './groundingSearch.ts';
import { spelledNumbersIn } from './numberWords.ts';
import { asciiDigits } from './groundingText.ts';
import { values } from '../words/lexicon.ts';

/** Where each number, day (`YYYY-MM-DD`) and currency (ISO code) of a document stands. */
export interface TypedIndex {
  readonly conventions: Conventions;
  readonly numbers: ReadonlyMap<number, readonly Occurrence[]>;
  readonly days: ReadonlyMap<string, readonly Occurrence[]>;
  readonly currencies: ReadonlyMap<string, readonly Occurrence[]>;
  /** By the factors that tables state for all their numbers (`in millions`): where they do. */
  readonly scales: ReadonlyMap<number, readonly Occurrence[]>;
}

/** Of a longer line only so much is read for values: lines end long before. */
const LINE_MAX = 20_000;
const OCCURRENCES_MAX = 200;

const OWN_READING = 0.97;
/** A percentage as the fraction that it is, a number with a word for its scale. */
const DERIVED = 0.9;
/** Read by the other decimal mark, or the month first where the document has the day first. */
const OTHER_READING = 0.8;
/** Written out in words. */
const SPELLED = 0.85;
/** Digits beside letters. */
const PART = 0.75;

export function typedIndexOf(layout: Layout): TypedIndex {
  const conventions = conventionsOf(layout);
  const numbers = collector<number>();
  const days = collector<string>();
  const currencies = collector<string>();
  const scales = collector<number>();
  for (const segment of layout.segments) {
    const text = asciiDigits(segment.text.slice(0, LINE_MAX));
    addNumbers({ segment, text, conventions }, numbers.add);
    addDays({ segment, text, conventions }, days.add);
    addYears({ segment, text, conventions }, numbers.add);
    for (const { value, from, to } of spelledNumbersIn(text))
      numbers.add(value, occurrenceIn(segment, { from, to }, SPELLED));
    for (const { code, from, to } of currenciesIn(text))
      currencies.add(code, occurrenceIn(segment, { from, to }, OWN_READING));
    for (const { 0: said, 1: word = '', index } of text.matchAll(STATED_SCALE))
      scales.add(
        SCALES[word.toLowerCase().replace(/s$/, '')] ?? SCALES[word.toLowerCase()] ?? 1,
        asDerived(occurrenceIn(segment, { from: index, to: index + said.length }, DERIVED)),
      );
  }
  return {
    conventions,
    numbers: numbers.all,
    days: days.all,
    currencies: currencies.all,
    scales: scales.all,
  };
}

type Add<K> = (key: K, occurrence: Occurrence) => void;

/** What stands at a place already is not added again: its first reading is the best. */
function collector<K>(): { readonly add: Add<K>; readonly all: ReadonlyMap<K, readonly Occurrence[]> } {
  const all = new Map<K, Occurrence[]>();
  const add: Add<K> = (key, occurrence) => {
    const same = all.get(key);
    if (same === undefined) all.set(key, [occurrence]);
    else if (same.length < OCCURRENCES_MAX && !same.some((one) => isSamePlace(one, occurrence)))
      same.push(occurrence);
  };
  return { add, all };
}

const isSamePlace = (a: Occurrence, b: Occurrence): boolean =>
  a.segment === b.segment && a.from < b.from + b.text.length && b.from < a.from + a.text.length;

interface Line {
  readonly segment: Segment;
  readonly text: string;
  readonly conventions: Conventions;
}

const SCALE = /^\s?(thousand|tsd|million|mio|mn|billion|bn|mrd|milliarden|millionen)\b/i;
/** As tables state it, and as words without a number: `billions of dollars`. */
const STATED_SCALE = /\b(thousands?|tsd|millions?|mio|billions?|mrd|milliarden|millionen|tausend)\b/gi;
const SCALES: Readonly<Record<string, number>> = values.scales;

function addNumbers(line: Line, add: Add<number>): void {
  const { segment, text, conventions } = line;
  const own = conventions.decimalMark;
  for (const shape of numbersIn(text)) {
    addReadings({ line, shape, mark: own, exactness: OWN_READING }, add);
    addReadings({ line, shape, mark: own === ',' ? '.' : ',', exactness: OTHER_READING }, add);
  }
  for (const match of text.matchAll(BESIDE_LETTERS))
    add(
      Number(match[0]),
      occurrenceIn(segment, { from: match.index, to: match.index + match[0].length }, PART),
    );
}

interface NumberReading {
  readonly line: Line;
  readonly shape: NumberShape;
  readonly mark: DecimalMark;
  readonly exactness: number;
}

/** A number as it reads, as the fraction that a percentage is, and with the word for its scale. */
function addReadings(
  { line: { segment, text }, shape, mark, exactness }: NumberReading,
  add: Add<number>,
): void {
  const { from, to, percent } = shape;
  const value = parseNumber(shape.text, mark);
  if (value === undefined) return;
  const derived = Math.min(DERIVED, exactness);
  add(value, occurrenceIn(segment, { from, to }, exactness));
  if (percent) add(rounded(value / 100), asDerived(occurrenceIn(segment, { from, to }, derived)));
  const scale = SCALE.exec(text.slice(to, to + 14));
  const times = SCALES[scale?.[1]?.toLowerCase() ?? ''];
  if (scale !== null && times !== undefined)
    add(
      rounded(value * times),
      asDerived(occurrenceIn(segment, { from, to: to + scale[0].length }, derived)),
    );
}

const asDerived = (one: Occurrence): Occurrence => ({ ...one, grade: 'derived' });

/** Whole numbers that letters touch (`12kg`, `No.42`): never a part of a longer number. */
const BESIDE_LETTERS = /(?<![\d.,]|\d[ ’'])\d{1,15}(?=\p{L})|(?<=\p{L}\.?)\d{1,15}(?![\d.,]\d|\d)/gu;

/** Without the last digits, which binary fractions get wrong. */
const rounded = (value: number): number => Number(value.toPrecision(12));

const CJK_DAY = /(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日/g;

function addDays({ segment, text, conventions: { dayFirst } }: Line, add: Add<string>): void {
  for (const { iso, from, to } of datesIn(text, dayFirst))
    add(iso, occurrenceIn(segment, { from, to }, OWN_READING));
  for (const { iso, from, to } of datesIn(text, !dayFirst))
    add(iso, occurrenceIn(segment, { from, to }, OTHER_READING));
  for (const { iso, from, to } of compactDatesIn(text))
    add(iso, occurrenceIn(segment, { from, to }, OTHER_READING));
  for (const match of text.matchAll(CJK_DAY)) {
    const [whole, year = '', month = '', day = ''] = match;
    const range = { from: match.index, to: match.index + whole.length };
    add(
      `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
      occurrenceIn(segment, range, OWN_READING),
    );
  }
}

const YEAR = /(?<![\d.,])(?:19|20)\d{2}(?![\d]|[.,]\d)/g;

/** The year of a date, and of a range of years, is a number that stands there. */
function addYears({ segment, text, conventions: { dayFirst } }: Line, add: Add<number>): void {
  const addYear = (year: string, from: number): void =>
    add(Number(year), occurrenceIn(segment, { from, to: from + 4 }, PART));
  for (const { from, to } of datesIn(text, dayFirst)) {
    const year = /\d{4}/.exec(text.slice(from, to));
    if (year !== null) addYear(year[0], from + year.index);
  }
  for (const { 0: year, index } of text.matchAll(YEAR)) addYear(year, index);
}

/** A number that a table holds in thousands or millions, as the table says. */
export function scaledNumber({ numbers, scales }: TypedIndex, value: number): readonly Occurrence[] {
  for (const scale of scales.keys()) {
    const found = scale === 1 ? undefined : numbers.get(rounded(value / scale));
    if (found !== undefined && Math.abs(value) >= scale / 1000) return found.map(asDerived);
  }
  return [];
}

const SHORT = 40;

/** The days that a text says, if it is nothing but a date. */
export function daysSaid(text: string): readonly string[] {
  const trimmed = asciiDigits(text.slice(0, SHORT + 1).trim());
  if (text.length > SHORT) return [];
  return [true, false].flatMap((dayFirst) =>
    datesIn(trimmed, dayFirst)
      .filter(({ text: date }) => date.length >= trimmed.length - 1)
      .map(({ iso }) => iso),
  );
}

/** The number that a text says, read as the document would, if it is nothing but a number. */
export function numberSaid(text: string, { decimalMark }: Conventions): number | undefined {
  if (text.length > SHORT) return undefined;
  const trimmed = asciiDigits(text.trim());
  const [only, ...others] = numbersIn(trimmed);
  if (only === undefined || others.length > 0 || only.text.length < trimmed.length) return undefined;
  return parseNumber(only.text, decimalMark);
}
