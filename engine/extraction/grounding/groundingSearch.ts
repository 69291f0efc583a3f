import type { Word } from '../../document/document.ts';
import type { Grounding } from '../../ports/extractionEngine.ts';
import { wordsIn, type Segment } from '../places/layout.ts';
import { fitted } from './groundingFuzzy.ts';
import { compact, KEY_MAX, keysOf, tokenAt, type Stream, type TextIndex } from './groundingText.ts';

/** A place where a value stands. */
export interface Occurrence {
  readonly segment: Segment;
  /** Where it begins in the first segment's text. */
  readonly from: number;
  readonly text: string;
  readonly words: readonly Word[];
  /** 0..1: how exactly it says the value. */
  readonly exactness: number;
  /** Left out: `exact` where `exactness` is as good as can be, else `normalised`. */
  readonly grade?: Exclude<Grounding, 'none'> | undefined;
}

/** Steps left for all values of an answer together, so that no answer takes for ever. */
export interface Budget {
  steps: number;
}

const OCCURRENCES_MAX = 200;
const AS_IT_IS = 0.99;
const NORMALISED = 0.96;
/** The best that a text with a letter amiss can be. */
const FUZZY = 0.8;
const FUZZY_MIN = 8;
const FUZZY_MAX = 2000;

/** A range of one segment as an occurrence. */
export const occurrenceIn = (
  segment: Segment,
  { from, to }: { readonly from: number; readonly to: number },
  exactness: number,
): Occurrence => ({
  segment,
  from,
  text: segment.text.slice(from, to).trim(),
  words: wordsIn(segment, from, to),
  exactness,
});

/** Where a text stands: its letters and digits in their order, whatever spaces, marks and lines part them. */
export function textOccurrences(index: TextIndex, value: string, budget: Budget): readonly Occurrence[] {
  const wanted = compact(value);
  if (wanted === '') return [];
  const found = new Map<string, Occurrence>();
  for (const stream of index.streams)
    for (const [first, last] of matchesIn(stream, wanted, budget)) {
      const occurrence = occurrenceOf(stream, [first, last], NORMALISED);
      const isSame = occurrence.text === value.trim();
      if (wanted.length <= LITERAL_MAX && !isSame && bare(occurrence.text) !== bare(value)) continue;
      found.set(
        `${occurrence.segment.index} ${occurrence.from} ${occurrence.text.length}`,
        isSame ? { ...occurrence, exactness: AS_IT_IS } : occurrence,
      );
      if (found.size >= OCCURRENCES_MAX) return [...found.values()];
    }
  return [...found.values()];
}

/** Of texts this short the marks count too: `dc` is not `D.C.`. */
const LITERAL_MAX = 3;
const bare = (text: string): string => text.toLowerCase().replace(/\s|[.,;:]$/gu, '');

type Range = readonly [first: number, last: number];

/** A value begins where a token does that begins it, and ends where one ends. */
function* matchesIn(stream: Stream, wanted: string, budget: Budget): Generator<Range> {
  for (let length = Math.min(KEY_MAX, wanted.length); length >= 1; length -= 1) {
    for (const first of stream.byKey.get(wanted.slice(0, length)) ?? []) {
      if ((budget.steps -= 1) <= 0) return;
      const last = endOf(stream, first, wanted);
      if (last !== undefined) yield [first, last];
    }
  }
}

function endOf(stream: Stream, first: number, wanted: string): number | undefined {
  const start = stream.starts[first] ?? 0;
  if (!stream.text.startsWith(wanted, start)) return undefined;
  const last = tokenAt(stream, start + wanted.length - 1);
  const end = (stream.starts[last] ?? 0) + (stream.tokens[last]?.key.length ?? 0);
  const isWhole = end === start + wanted.length || isNoteMark(stream, last, start + wanted.length);
  return isWhole && isInReach(stream, [first, last], wanted.length) ? last : undefined;
}

/** A digit or two after the letters of a word are the mark of a note: `Zhang2`. */
function isNoteMark({ starts, tokens }: Stream, last: number, end: number): boolean {
  const key = tokens[last]?.key ?? '';
  const at = end - (starts[last] ?? 0);
  return /^\p{L}{3,}$/u.test(key.slice(0, at)) && /^\d{1,2}$/.test(key.slice(at));
}

/** Letters of a value that may run over the end of a page: what is shorter stands there by chance. */
const TURNED_MIN = 16;

/** A value stands on one page, or begins on one and ends on the next. */
function isInReach({ tokens, turnsPages }: Stream, [first, last]: Range, length: number): boolean {
  const pages = (tokens[last]?.segment.page ?? 0) - (tokens[first]?.segment.page ?? 0);
  return turnsPages ? pages === 1 && length >= TURNED_MIN : pages === 0;
}

/** The text from one token to another: the parts of the segments that it runs through. */
function occurrenceOf({ tokens }: Stream, [first, last]: Range, exactness: number): Occurrence {
  const parts: { segment: Segment; from: number; to: number }[] = [];
  for (const { segment, from, to } of tokens.slice(first, last + 1)) {
    const part = parts.at(-1);
    if (part?.segment === segment) part.to = to;
    else parts.push({ segment, from, to });
  }
  const [begin] = parts;
  if (begin === undefined) throw new Error('a range of tokens is empty');
  return {
    segment: begin.segment,
    from: begin.from,
    text: parts.map(({ segment, from, to }) => segment.text.slice(from, to)).join(' '),
    // A box is of one page: that on which the value begins.
    words: parts.flatMap(({ segment, from, to }) =>
      segment.page === begin.segment.page ? wordsIn(segment, from, to) : [],
    ),
    exactness,
  };
}

const ANCHORS = 4;
const ANCHORED_MAX = 20;

/**
 * Where a longer text was recognised with a few letters amiss, one in eight at most. It is looked for around its
 * rarest words; its digits must be the same, for another number is another thing.
 */
export function fuzzyOccurrences(index: TextIndex, value: string, budget: Budget): readonly Occurrence[] {
  const wanted = compact(value);
  if (wanted.length < FUZZY_MIN || wanted.length > FUZZY_MAX) return [];
  const amissMax = Math.min(24, Math.floor(wanted.length / 8));
  return index.streams.flatMap((stream) =>
    anchorsOf(stream, value).flatMap((expected) =>
      fuzzyAt(stream, { value, wanted, expected, amissMax, budget }),
    ),
  );
}

/** Where the value would begin in the stream, by the places of its rarest words. */
function anchorsOf(stream: Stream, value: string): readonly number[] {
  let offset = 0;
  const words = keysOf(value).map(({ key }) => {
    const word = { offset, places: stream.byKey.get(key.slice(0, KEY_MAX)) ?? [], isWord: key.length >= 3 };
    offset += key.length;
    return word;
  });
  const rarest = words
    .filter(({ places, isWord }) => isWord && places.length > 0)
    .sort((a, b) => a.places.length - b.places.length)
    .slice(0, ANCHORS);
  const starts = rarest.flatMap(({ offset: at, places }) =>
    places.slice(0, ANCHORED_MAX).map((place) => Math.max(0, (stream.starts[place] ?? 0) - at)),
  );
  return [...new Set(starts)];
}

interface Fit {
  readonly value: string;
  readonly wanted: string;
  readonly expected: number;
  readonly amissMax: number;
  readonly budget: Budget;
}

/** Of recognition: letters of words that it is less sure of may be others. */
const SURE = 0.85;

const digitsOf = (text: string): string => text.replace(/\D/g, '');

function fuzzyAt(stream: Stream, { value, wanted, expected, amissMax, budget }: Fit): readonly Occurrence[] {
  budget.steps -= Math.ceil((wanted.length * (4 * amissMax + 1)) / 2);
  if (budget.steps <= 0) return [];
  const from = Math.max(0, expected - amissMax);
  const window = stream.text.slice(from, expected + wanted.length + amissMax);
  const fit = fitted(wanted, window, amissMax);
  if (fit === undefined) return [];
  const range: Range = [tokenAt(stream, from + fit.from), tokenAt(stream, from + fit.to - 1)];
  const text = stream.tokens
    .slice(range[0], range[1] + 1)
    .map(({ key }) => key)
    .join('');
  const isClose =
    text !== '' && Math.abs(text.length - wanted.length) <= amissMax && digitsOf(text) === digitsOf(wanted);
  if (!isClose || !isInReach(stream, range, wanted.length)) return [];
  const found = occurrenceOf(stream, range, FUZZY - (0.25 * fit.amiss) / amissMax);
  return isReadSo(value, found) ? [found] : [];
}

/** Whether all that differs is in words that recognition was not sure of. */
function isReadSo(value: string, { text, words }: Occurrence): boolean {
  const own = new Set(keysOf(value).map(({ key }) => key));
  const there = new Set(keysOf(text).map(({ key }) => key));
  const others = words.filter((word) => keysOf(word.text).some(({ key }) => !own.has(key)));
  const missing = [...own].filter((key) => !there.has(key));
  return (
    others.length >= missing.length / 2 &&
    others.every(({ readBy, confidence }) => readBy !== undefined && confidence < SURE)
  );
}

/** Letters of a stretch that tells something by itself, where it is no whole piece between marks. */
const STRETCH_MIN = 12;
/** Of a whole piece. */
const PIECE_MIN = 4;
const STRETCHES_MAX = 64;
const STARTS_MAX = 60;
/** Letters between two stretches that follow each other: a page number, a mark of a note, a bullet. */
const BETWEEN_MAX = 40;
const ASSEMBLED = 0.8;

/**
 * A text of which every word stands in longer stretches: what runs on in another column or past a table, has the
 * mark of a note in it, or was put together from several places. In order and close by it is `normalised`, else
 * `derived`. Its first stretch is cited.
 */
export function assembledOccurrences(index: TextIndex, value: string, budget: Budget): readonly Occurrence[] {
  const words = keysOf(value);
  if (words.length < 2 || value.length > 50_000) return [];
  const text = words.map(({ key }) => key).join('');
  const found: Stretch[] = [];
  for (let at = 0; at < words.length;) {
    const stretch = longestFrom(index, { value, words, text, at }, budget);
    if (stretch === undefined || found.length >= STRETCHES_MAX) return [];
    found.push(stretch);
    at = stretch.next;
  }
  const [first] = found;
  if (first === undefined) return [];
  const follows = found.every(({ stream, first: begin }, at) => {
    const before = found[at - 1];
    if (before === undefined) return true;
    const gap = (stream.starts[begin] ?? 0) - (stream.starts[before.last + 1] ?? Infinity);
    return stream === before.stream && gap >= 0 && gap <= BETWEEN_MAX;
  });
  const occurrence = occurrenceOf(first.stream, [first.first, first.last], ASSEMBLED);
  return [{ ...occurrence, grade: follows ? 'normalised' : 'derived' }];
}

/** Words of a value that stand one after another in a stream. */
interface Stretch {
  readonly stream: Stream;
  /** Tokens of the stream, both included. */
  readonly first: number;
  readonly last: number;
  /** The word of the value after it. */
  readonly next: number;
}

interface Assembling {
  readonly value: string;
  readonly words: ReturnType<typeof keysOf>;
  readonly text: string;
  readonly at: number;
}

/** Where in a stream the first word of what is sought stands. */
const startsIn = (stream: Stream, { words, at }: Assembling): readonly number[] =>
  (stream.byKey.get(words[at]?.key.slice(0, KEY_MAX) ?? '') ?? []).slice(0, STARTS_MAX);

/** What it takes to look at one place: a step, and one for each token that a stretch goes on over. */
const stepsFor = (stretch: Stretch | undefined): number =>
  stretch === undefined ? 1 : 1 + stretch.last - stretch.first;

function longestFrom(index: TextIndex, sought: Assembling, budget: Budget): Stretch | undefined {
  let best: Stretch | undefined;
  const starts = index.streams.flatMap((stream) =>
    startsIn(stream, sought).map((first) => ({ stream, first })),
  );
  for (const { stream, first } of starts) {
    const stretch = stretchAt(stream, first, sought);
    budget.steps -= stepsFor(stretch);
    if (budget.steps <= 0) return undefined;
    if (stretch === undefined) continue;
    if (stretch.next > (best?.next ?? sought.at) && isReached(stretch, sought)) best = stretch;
  }
  return best !== undefined && tellsSomething(sought, best) ? best : undefined;
}

/** How far a stretch goes in a stream: its last token, and letters up to its end. */
interface Reach {
  readonly last: number;
  readonly end: number;
}

/** Goes on over tokens until they have so many letters, or there are no more. */
function reachOf({ tokens }: Stream, { last, end }: Reach, letters: number): Reach {
  let [at, sum] = [last, end];
  while (sum < letters && at + 1 < tokens.length) {
    at += 1;
    sum += tokens[at]?.key.length ?? 0;
  }
  return { last: at, end: sum };
}

function stretchAt(stream: Stream, first: number, { words, at }: Assembling): Stretch | undefined {
  const from = stream.starts[first] ?? 0;
  let reach: Reach = { last: first - 1, end: 0 };
  let wordEnd = 0;
  let best: Stretch | undefined;
  // Both go on letter by letter, for a word may be parted at the end of a line.
  for (const [index, { key }] of words.slice(at).entries()) {
    const next = at + index + 1;
    if (wordEnd <= reach.end) wordEnd += key.length;
    reach = reachOf(stream, reach, wordEnd);
    if (!stream.text.startsWith(key, from + wordEnd - key.length)) return best;
    const isEnd = wordEnd === reach.end || (next === words.length && isInflected(key, reach.end - wordEnd));
    if (isEnd) best = { stream, first, last: reach.last, next };
  }
  return best;
}

const isReached = ({ stream, first, last, next }: Stretch, { words, at }: Assembling): boolean =>
  stream.tokens[first]?.segment.page === stream.tokens[last]?.segment.page ||
  isInReach(
    stream,
    [first, last],
    words.slice(at, next).reduce((sum, { key }) => sum + key.length, 0),
  );

/** The last word may stand there with another ending. */
const isInflected = (key: string, more: number): boolean => key.length >= STEM_MIN && more <= ENDING_MAX;
const STEM_MIN = 6;
const ENDING_MAX = 5;

/** Whether a stretch is long enough to stand there by more than chance, or all that stands between two marks. */
function tellsSomething({ value, words, at }: Assembling, { next }: Stretch): boolean {
  const [begin, end] = [words[at], words[next - 1]];
  if (begin === undefined || end === undefined) return false;
  const letters = words.slice(at, next).reduce((sum, { key }) => sum + key.length, 0);
  if (letters >= STRETCH_MIN && next - at >= 2) return true;
  return letters >= PIECE_MIN && isBetweenMarks(value, [words[at - 1], begin], [end, words[next]]);
}

type Sides = readonly [before: SoughtWord | undefined, after: SoughtWord | undefined];
type SoughtWord = Assembling['words'][number];

/** Whether a mark, or an edge of the value, stands before the first word and behind the last. */
const isBetweenMarks = (value: string, ...sides: readonly [Sides, Sides]): boolean =>
  sides.every(([left, right]) =>
    isMark(
      value.slice(left?.to ?? 0, right?.from ?? value.length),
      left === undefined || right === undefined,
    ),
  );

const isMark = (between: string, isEdge: boolean): boolean => isEdge || /[^\s]/u.test(between);
