import { ASSIGNED } from '../form/colons.ts';
import { inColumn } from '../form/neighbours.ts';
import type { Layout, Segment } from './layout.ts';
import { once } from '../../kernel/once.ts';

/** A place in a paragraph. */
export interface ParagraphPlace {
  readonly paragraph: Segment;
  /** Where the line begins in the paragraph's text. */
  readonly from: number;
}

export interface Paragraphs {
  /** Wrapped lines as one; whatever else stands in the document as it is. In reading order. */
  readonly all: readonly Segment[];
  /** The paragraph that a line is a part of; none for a line alone. */
  readonly of: ReadonlyMap<Segment, ParagraphPlace>;
}

/** The paragraphs of a document, made once, in time linear in its segments. */
export const paragraphsOf = once(found);

/** Longer paragraphs are read in parts, so that what looks at all of one stays bounded. */
const CHARACTERS_MAX = 2000;
const ROWS_BETWEEN = 3;

function found(layout: Layout): Paragraphs {
  const taken = new Set<Segment>();
  const all: Segment[] = [];
  const of = new Map<Segment, ParagraphPlace>();
  for (const segment of layout.segments) {
    if (taken.has(segment)) continue;
    const lines = wrapped(columnFrom(segment, layout, taken));
    for (const line of lines) taken.add(line);
    const paragraph = joined(lines, of);
    all.push(paragraph);
  }
  return { all, of };
}

const SAME_LEFT = 6;
/** The first line of a paragraph may be set in so far. */
const INDENT = 28;
const LEADING = 0.8;

/** The lines below a segment that stand as lines of one text do: the same left, size and distance. */
function columnFrom(segment: Segment, layout: Layout, taken: ReadonlySet<Segment>): readonly Segment[] {
  const lines = [segment];
  let length = segment.text.length;
  for (let last = segment; length < CHARACTERS_MAX;) {
    const next = lineBelow(last, layout);
    if (next === undefined || taken.has(next) || !isAlike(last, next, lines.length === 1)) break;
    lines.push(next);
    length += next.text.length;
    last = next;
  }
  return lines;
}

function lineBelow(segment: Segment, { rows }: Layout): Segment | undefined {
  for (const row of rows.slice(segment.row + 1, segment.row + 1 + ROWS_BETWEEN)) {
    if (row.page !== segment.page) return undefined;
    const other = inColumn(row, segment);
    if (other !== undefined && other.y0 > segment.y0 + 2) return other;
  }
  return undefined;
}

function isAlike(before: Segment, after: Segment, isFirst: boolean): boolean {
  const height = before.y1 - before.y0;
  const left = before.x0 - after.x0;
  return (
    after.y0 - before.y1 < LEADING * height &&
    (Math.abs(left) < SAME_LEFT || (isFirst && left > 0 && left < INDENT)) &&
    sizeOf(before) === sizeOf(after)
  );
}

const sizeOf = ({ words: [word], y1, y0 }: Segment): number => Math.round(word?.fontSize ?? y1 - y0);

const LONG = 35;

/** The first lines that go on: where a line ends, the next word had no room. */
function wrapped(lines: readonly Segment[]): readonly Segment[] {
  const right = lines.reduce((most, { x1 }) => Math.max(most, x1), 0);
  const end = lines.findIndex((line, i) => {
    const next = lines[i + 1];
    return next === undefined || !goesOn(line, next, right);
  });
  return lines.slice(0, end + 1);
}

const OPENS = /^(?:\(?\p{L}?\d{0,3}[.)]|§|[-•–*▪■☐☒☑])\s/u;

/** Up to four words before a colon are a label, not the end of a sentence. */
const IS_LABEL = /^\p{Lu}\S*(?:\s\S+){0,3}\s?:$/u;

/** Lines of labels and values stand under each other, and none goes on in the next. */
const HAS_LABEL = /(?:^|\s)\p{Lu}[\p{L}\s]{1,30}:\s/u;
const OPENS_LABELLED = /^\p{Lu}\S*(?:\s\S+){0,3}:\s/u;

/** A label before a value, however it is written. */
const LABELLED = /^["\p{L}][\p{L}\p{N}\s/()"-]{0,40}:\s\S/u;

/** Lines of files without places end where a value does: none goes on in the next label, and a short one in nothing. */
const endsItself = (line: Segment, next: Segment): boolean =>
  line.words.every(({ box }) => box === null) &&
  LABELLED.test(line.text) &&
  (line.text.length < LONG || LABELLED.test(next.text));

/** A heading differs from its text by its weight. */
const isBold = ({ words }: Segment): boolean => words.length > 0 && words.every(({ bold }) => bold);

const beginsAnew = (line: Segment, next: Segment): boolean =>
  OPENS.test(next.text) ||
  /[:;]$/.test(line.text) ||
  IS_LABEL.test(next.text) ||
  ASSIGNED.test(next.text) ||
  isBold(line) !== isBold(next) ||
  endsItself(line, next) ||
  (HAS_LABEL.test(line.text) && OPENS_LABELLED.test(next.text));

function goesOn(line: Segment, next: Segment, right: number): boolean {
  if (beginsAnew(line, next)) return false;
  const letter = (next.x1 - next.x0) / Math.max(1, next.text.length);
  const word = (next.text.split(' ', 1)[0]?.length ?? 0) + 1;
  if (line.x1 + word * letter < right - letter) return false;
  return line.text.length >= LONG || /^\p{Ll}/u.test(next.text);
}

function joined(lines: readonly Segment[], of: Map<Segment, ParagraphPlace>): Segment {
  const [first, ...others] = lines;
  if (first === undefined || others.length === 0) return first as Segment;
  const starts: number[] = [...first.starts];
  const places = [0];
  let { text } = first;
  for (const line of others) {
    text = beforeNext(text, line.text);
    places.push(text.length);
    starts.push(...line.starts.map((start) => start + text.length));
    text += line.text;
  }
  const paragraph: Segment = {
    ...first,
    text,
    starts,
    words: lines.flatMap(({ words }) => words),
    x0: lines.reduce((least, { x0 }) => Math.min(least, x0), first.x0),
    x1: lines.reduce((most, { x1 }) => Math.max(most, x1), first.x1),
    y1: lines.reduce((most, { y1 }) => Math.max(most, y1), first.y1),
  };
  for (const [i, line] of lines.entries()) of.set(line, { paragraph, from: places[i] ?? 0 });
  return paragraph;
}

/** The text before another line: a hyphen that broke a word is undone, one inside a number is kept. */
function beforeNext(text: string, next: string): string {
  if (/\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1);
  return /[\p{Lu}\p{N}]-$/u.test(text) ? text : `${text} `;
}
