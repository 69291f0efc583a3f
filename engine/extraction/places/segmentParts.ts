import { aroundAll, type Segment } from './layout.ts';

const NUMBER = /^[-−+(]?[€$£]?\d[\d.,'’]*[)%]?$/;
const MARK = /^(?:[€$£%]|[A-Z]{3})$/;

/** A part of a segment: the words from one to before another; undefined where words have no place. */
export function partOf(segment: Segment, from: number, to: number): Segment | undefined {
  const words = segment.words.slice(from, to);
  const boxes = words.flatMap(({ box }) => (box === null ? [] : [box]));
  if (boxes.length === 0 || boxes.length < words.length) return undefined;
  const [x0, , x1] = aroundAll(boxes);
  const start = segment.starts[from] ?? 0;
  const starts = segment.starts.slice(from, to).map((at) => at - start);
  return {
    ...segment,
    words,
    starts,
    text: words.map(({ text }) => text).join(' '),
    x0,
    x1,
  };
}

/**
 * Numbers that begin or end a text as segments of their own: columns may stand so close that only their
 * kind tells them apart.
 */
export function numbersApart(segment: Segment): readonly Segment[] {
  const texts = segment.words.map(({ text }) => text);
  if (texts.length < 2 || !texts.some((text) => /\p{L}{2}/u.test(text))) return [segment];
  const first = texts.findIndex((text) => !NUMBER.test(text));
  const last = texts.findLastIndex((text) => !NUMBER.test(text) && !MARK.test(text)) + 1;
  const cuts = [...new Set([0, ...(first > 0 ? [first] : []), ...numberEnds(texts, last), texts.length])];
  const parts = cuts.slice(0, -1).map((from, i) => partOf(segment, from, cuts[i + 1] ?? texts.length));
  return parts.every((part) => part !== undefined) ? parts : [segment];
}

/** Where each of the numbers at the end begins; a mark stays with the number before it. */
const numberEnds = (texts: readonly string[], from: number): readonly number[] =>
  texts.flatMap((text, i) => (i >= from && i > 0 && NUMBER.test(text) ? [i] : []));
