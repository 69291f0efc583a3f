import { oneOf } from '../../kernel/text.ts';
import { folded } from '../fields/words.ts';
import type { EvidenceKind } from '../evidence.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import { termsIn } from '../matching/terms.ts';
import { isSentence } from '../form/printed.ts';
import type { Field } from '../fields/fields.ts';
import parts from '../lexicon/parts.json' with { type: 'json' };
import type { Segment } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';
import { datesIn, monthOf, type DateShape } from '../values/dates.ts';
import { asksOnly } from './asked.ts';
import { headOf } from './head.ts';

const BEFORE_DAY = `(?:${oneOf(parts.before_day)}\\s){0,2}`;
const PLACE = String.raw`\p{Lu}[\p{L}.'’/-]{1,30}(?:\s(?:\p{L}[\p{L}.'’/-]{0,30}|\(\p{L}{1,30}\))){0,3}?`;
const MADE_AT = oneOf(
  parts.made_at.map((one) => `[${one.charAt(0)}${one.charAt(0).toUpperCase()}]${one.slice(1)}`),
);
const PLACE_BEFORE = new RegExp(`^(?:${MADE_AT}\\s)?(${PLACE}),?\\s${BEFORE_DAY}$`, 'u');
const ONLY_BEFORE = new RegExp(`^(?:\\p{L}{2,12}\\.?,?\\s)?${BEFORE_DAY}$`, 'iu');
const WEEKDAYS = new Set(parts.weekdays);

interface DateLine {
  readonly segment: Segment;
  readonly date: DateShape;
  readonly place: string | undefined;
}

interface DateLines {
  readonly all: readonly DateLine[];
  /** Those before the first sentence: of what the document is about, rather than of when it was written. */
  readonly heading: readonly DateLine[];
}

const KNOWN = new WeakMap<Source, DateLines>();

function dateLinesOf(source: Source): DateLines {
  const known = KNOWN.get(source) ?? found(source);
  KNOWN.set(source, known);
  return known;
}

function found(source: Source): DateLines {
  const all = [...linesOf(source), ...labelledDates(source)];
  const text = source.layout.segments.find((one) => isSentence(one.text))?.index ?? Number.POSITIVE_INFINITY;
  return { all, heading: all.filter(({ segment }) => segment.index < text) };
}

/** The date of a document itself, and the place that stands before it: "Praha 6. 6. 2024", "Lyon, le 6 juin 2024". */
export function datelineOffers(field: Field, source: Source): readonly Draft[] {
  switch (shapeOf(field)) {
    case 'date':
      if (asksOnly(field, 'event')) return dateLinesOf(source).heading.map(dateOf);
      return asksOnly(field, 'date_of') ? dateLinesOf(source).all.map(dateOf) : [];
    case 'text':
      return asksOnly(field, 'place') ? dateLinesOf(source).all.flatMap(placeOf) : [];
    default:
      return [];
  }
}

const WITH_PLACE = 0.97;
const ALONE = 0.87;

function dateOf({ segment, date, place }: DateLine): Draft {
  const { from, to, text, iso } = date;
  const score = place === undefined ? ALONE : WITH_PLACE;
  return { segment, from, to, text, value: iso, strictness: 1, kind: 'dateline', score };
}

function placeOf({ segment, place }: DateLine): readonly Draft[] {
  if (place === undefined) return [];
  const from = segment.text.indexOf(place);
  const to = from + place.length;
  return [
    { segment, from, to, text: place, value: place, strictness: 1, kind: 'dateline', score: WITH_PLACE },
  ];
}

/** A label that says "date" and nothing else says it of the document. */
function labelledDates(source: Source): readonly DateLine[] {
  const bare = labelIndexOf(source).form.pairs.filter(
    ({ label, kind }) => SURE.has(kind) && label.length < LABEL_CHARACTERS && isDateWord(label),
  );
  return bare.slice(0, LINES_MAX).flatMap(({ value: { segment, from } }): readonly DateLine[] => {
    const [date] = datesIn(segment.text, source.conventions.dayFirst);
    return date !== undefined && date.from <= from + 1 ? [{ segment, date, place: undefined }] : [];
  });
}

const SURE: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'cell', 'right', 'below', 'beside']);
const LABEL_CHARACTERS = 12;
const isDateWord = (label: string): boolean => {
  const words = termsIn(label);
  return words.length === 1 && words[0] === 'date';
};

const LINES_MAX = 6;
const LINE_CHARACTERS = 70;

function linesOf(source: Source): readonly DateLine[] {
  const head = new Set(headOf(source).segments);
  return source.layout.segments
    .filter(({ text }) => /\d/.test(text))
    .flatMap((segment) => lineOf(segment, source) ?? [])
    .filter(({ place, segment, date }) => place !== undefined || head.has(segment) || isDated(segment, date))
    .slice(0, LINES_MAX);
}

/** "Dated 5 December 2023" is the date of the document wherever it stands. */
const isDated = ({ text }: Segment, { from }: DateShape): boolean => /^dated\s/iu.test(text.slice(0, from));

/** What a press release sets between its dateline and its text. */
const TEXT_FOLLOWS = /^\s?(?:[–—]|-\s|\.\s?[–—-])/;

function lineOf(segment: Segment, { conventions }: Source): DateLine | undefined {
  const [date] = datesIn(segment.text.slice(0, LINE_CHARACTERS), conventions.dayFirst);
  if (date === undefined) return undefined;
  const rest = segment.text.slice(date.to);
  if (rest.trim().replace(/[.,]/g, '') !== '' && !TEXT_FOLLOWS.test(rest)) return undefined;
  const before = segment.text.slice(0, date.from);
  const place = PLACE_BEFORE.exec(before)?.[1];
  if (place !== undefined && isPlace(place)) return { segment, date, place: place.replace(/,$/, '') };
  return ONLY_BEFORE.test(before) && isDayWord(before) ? { segment, date, place: undefined } : undefined;
}

const isDayWord = (before: string): boolean => {
  const [word = ''] = folded(before).split(/[\s,.]+/);
  return word === '' || WEEKDAYS.has(word) || parts.before_day.includes(word);
};

/** Neither a day of the week nor a month, and not what a label of a date is called. */
function isPlace(text: string): boolean {
  const words = folded(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  return !words.some(
    (word) =>
      WEEKDAYS.has(word) ||
      LABELS.has(word) ||
      (word.length > 2 && monthOf(word) > 0 && word.length <= 9 && words.length === 1),
  );
}
const LABELS = new Set([...parts.date_of, ...parts.start, ...parts.end]);
