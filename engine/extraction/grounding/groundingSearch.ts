import type { Word } from '../../document/document.ts';
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
      found.set(
        `${occurrence.segment.index} ${occurrence.from} ${occurrence.text.length}`,
        isSame ? { ...occurrence, exactness: AS_IT_IS } : occurrence,
      );
      if (found.size >= OCCURRENCES_MAX) return [...found.values()];
    }
  return [...found.values()];
}

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
  return end === start + wanted.length && isInReach(stream, [first, last], wanted.length) ? last : undefined;
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
 * Where a longer text stands with a few letters amiss, one in eight at most. It is looked for around its
 * rarest words; its digits must be the same, for another number is another thing.
 */
export function fuzzyOccurrences(index: TextIndex, value: string, budget: Budget): readonly Occurrence[] {
  const wanted = compact(value);
  if (wanted.length < FUZZY_MIN || wanted.length > FUZZY_MAX) return [];
  const amissMax = Math.min(24, Math.floor(wanted.length / 8));
  return index.streams.flatMap((stream) =>
    anchorsOf(stream, value).flatMap((expected) => fuzzyAt(stream, { wanted, expected, amissMax, budget })),
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
  readonly wanted: string;
  readonly expected: number;
  readonly amissMax: number;
  readonly budget: Budget;
}

const digitsOf = (text: string): string => text.replace(/\D/g, '');

function fuzzyAt(stream: Stream, { wanted, expected, amissMax, budget }: Fit): readonly Occurrence[] {
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
  return [occurrenceOf(stream, range, FUZZY - (0.25 * fit.amiss) / amissMax)];
}
