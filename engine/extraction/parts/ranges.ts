import type { Word } from '../../document/document.ts';
import { inSegment, type Candidate } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import { above } from '../form/neighbours.ts';
import { alike } from '../words/alike.ts';
import { termsIn } from '../fields/terms.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Draft } from '../singles/values.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Source } from '../source.ts';
import { calendarDay, datesIn, monthOf, type DateShape } from '../values/dates.ts';
import { asks, otherWords } from '../fields/wants.ts';
import { once } from '../../kernel/once.ts';
import { lexicon } from '../words/lexicon.ts';

interface Range<End> {
  readonly segment: Segment;
  readonly start: End;
  readonly end: End;
}

interface Ranges {
  readonly dates: readonly Range<DateShape>[];
  readonly numbers: readonly Range<Candidate>[];
  /** The words that only a start, or only an end, begins with. */
  readonly startWords: ReadonlySet<Word>;
  readonly endWords: ReadonlySet<Word>;
}

const rangesOf = once(found);

/** The ends of a range, for fields whose names ask for a start or an end: "1 July – 30 September 2023". */
export function rangeOffers(field: Field, source: Source): readonly Draft[] {
  const side = sideOf(field);
  const shape = shapeOf(field);
  if (side === undefined) return [];
  if (shape === 'date') return dateEnds(field, side, source);
  return shape === 'number' || shape === 'integer' ? numberEnds(field, side, source) : [];
}

type Side = 'start' | 'end';

/** Which end the field asks for; undefined where it asks for none, or for both. */
function sideOf(field: Field): Side | undefined {
  const isStart = asks(field, 'start');
  if (isStart === asks(field, 'end')) return undefined;
  return isStart ? 'start' : 'end';
}

/** Whether a date is the other end of a range than the field asks for. */
export function isOtherEnd(field: Field, first: Word | undefined, source: Source): boolean {
  const side = shapeOf(field) === 'date' && first !== undefined ? sideOf(field) : undefined;
  if (side === undefined || first === undefined) return false;
  const { startWords, endWords } = rangesOf(source);
  return (side === 'start' ? endWords : startWords).has(first);
}

const SAID = 0.97;
const ONLY = 0.87;
/** The first that "dates", a "period" or the like stands before is that of the whole document. */
const OF_PERIOD = 0.86;
const ONE_OF_SEVERAL = 0.6;
const PERIODS = lexicon.asks.period.words;

function dateEnds(field: Field, side: Side, source: Source): readonly Draft[] {
  const { dates } = rangesOf(source);
  const isOnly = new Set(dates.map(({ start, end }) => `${start.iso} ${end.iso}`)).size === 1;
  const period = dates.find((range) => saidNear(PERIODS, range, source));
  return dates.map((range): Draft => {
    const { from, to, text, iso } = range[side];
    const isSaid = saidNear(otherWords(field, side), range, source);
    const score = isSaid ? SAID : isOnly ? ONLY : range === period ? OF_PERIOD : ONE_OF_SEVERAL;
    return { segment: range.segment, from, to, text, value: iso, kind: 'end', strictness: 1, score };
  });
}

const numberEnds = (field: Field, side: Side, source: Source): readonly Draft[] =>
  rangesOf(source)
    .numbers.filter((range) => saidNear(otherWords(field, side), range, source))
    .map((range): Draft => {
      const { from, to, text, value, strictness } = range[side];
      return {
        segment: range.segment,
        from,
        to,
        text: text.trim(),
        value,
        kind: 'end',
        strictness,
        score: ONLY,
      };
    });

/** A document has no more of them that matter. */
const RANGES_MAX = 200;

function found({ layout, conventions }: Source): Ranges {
  const dates: Range<DateShape>[] = [];
  const numbers: Range<Candidate>[] = [];
  for (const segment of paragraphsOf(layout).all) {
    if (dates.length + numbers.length >= RANGES_MAX) break;
    if (!/\d\D+\d/.test(segment.text)) continue;
    dates.push(...datesIn(segment.text, conventions.dayFirst).flatMap(datePair(segment)));
    const amounts = inSegment(segment, conventions).filter(({ kind }) => kind === 'number');
    numbers.push(...amounts.flatMap((end, i) => pairOf(segment, amounts[i - 1], end)));
  }
  const firstWords = (side: Side): readonly (Word | undefined)[] =>
    dates.map((range) => wordsIn(range.segment, range[side].from, range[side].to)[0]);
  const [starts, ends] = [firstWords('start'), firstWords('end')];
  const apart = (
    own: readonly (Word | undefined)[],
    other: readonly (Word | undefined)[],
  ): ReadonlySet<Word> =>
    new Set(own.flatMap((word, i) => (word === undefined || word === other[i] ? [] : [word])));
  return { dates, numbers, startWords: apart(starts, ends), endWords: apart(ends, starts) };
}

const datePair =
  (segment: Segment) =>
  (end: DateShape, i: number, all: readonly DateShape[]): readonly Range<DateShape>[] => {
    const [pair] = pairOf(segment, all[i - 1], end);
    const start = pair?.start ?? startBefore(segment.text, end);
    return start !== undefined && start.iso <= end.iso ? [{ segment, start, end }] : [];
  };

interface Placed {
  readonly from: number;
  readonly to: number;
}

const pairOf = <End extends Placed>(
  segment: Segment,
  start: End | undefined,
  end: End,
): readonly Range<End>[] =>
  start !== undefined && isJoint(segment.text.slice(start.to, end.from)) ? [{ segment, start, end }] : [];

const BEFORE = 80;

/** Whether one of the words stands before the range, left of it or above it. */
function saidNear(words: readonly string[], { segment, start }: Range<Placed>, { layout }: Source): boolean {
  const left = layout.segments[segment.index - 1];
  const [over] = above(segment, layout);
  const beside = left?.row === segment.row ? left.text : '';
  const own = segment.text.slice(Math.max(0, start.from - BEFORE), start.from);
  const near = termsIn([beside, over?.text ?? '', own].join(' '));
  return words.some((word) => near.some((other) => alike(word, other) > 0));
}

const TO_WORDS =
  'to|until|till|through|and|bis(?:\\szum)?|au|et\\sle|al|hasta\\sel|a|e|y|tot(?:\\sen\\smet)?|t/m|do|até|ate';
const TO = `(?:\\s?[–—-]\\s?|\\s(?:${TO_WORDS})\\s)`;
const CURRENCY = '(?:€|EUR|\\$|£)?';
const ARTICLE = '(?:the|le|el|il|den|dem|dne|die|de)?';
const JOINT = new RegExp(`^\\s?${CURRENCY}${TO}${ARTICLE}\\s?${CURRENCY}\\s?$`, 'iu');

/** Stands between the ends of a range: "–", "to the", "bis zum". */
const isJoint = (text: string): boolean => JOINT.test(text);

/** "18", "1 July", "1." before a whole date that has what is left out. */
const DAY_FIRST = new RegExp(
  `(?<![\\p{L}\\p{N}.,/-])(?<day>\\d{1,2})(?:st|nd|rd|th|er|º|\\.)?(?:\\s(?:de\\s)?(?<month>\\p{L}{3,10})\\.?)?${TO}$`,
  'iu',
);
/** "November 6 to" before such a date. */
const MONTH_FIRST = new RegExp(
  `(?<!\\p{L})(?<month>\\p{L}{3,10})\\s(?<day>\\d{1,2})(?:st|nd|rd|th)?${TO}$`,
  'iu',
);
const AT_END = new RegExp(`${TO}$`, 'iu');
const CHARACTERS = 40;

/** The first day of a range whose month or year is said of its last day alone. */
function startBefore(text: string, end: DateShape): DateShape | undefined {
  const at = Math.max(0, end.from - CHARACTERS);
  const match = halfDate(text.slice(at, end.from));
  const day = match?.groups?.['day'];
  if (match === null || day === undefined) return undefined;
  const [year = 0, lastMonth = 0] = end.iso.split('-').map(Number);
  const month = match.groups?.['month'];
  const iso = calendarDay(year, month === undefined ? lastMonth : monthOf(month), Number(day));
  if (iso === undefined) return undefined;
  const from = at + match.index;
  const half = text.slice(from, end.from).replace(AT_END, '');
  return { from, to: from + half.length, text: half, iso };
}

function halfDate(before: string): RegExpExecArray | null {
  const early = MONTH_FIRST.exec(before);
  return early !== null && monthOf(early.groups?.['month']) > 0 ? early : DAY_FIRST.exec(before);
}
