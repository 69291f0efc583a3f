import type { Document } from '../../document/document.ts';
import { readThrough } from '../../document/wholeBlocks.ts';
import { layoutOf, overlap, type Layout, type Row, type Segment } from '../places/layout.ts';
import { folded } from '../../kernel/text.ts';
import { addTo, firstPlace } from '../../kernel/lists.ts';

/** A run of letters and digits of a segment, folded; of scripts without spaces a single sign. */
export interface Token {
  readonly key: string;
  readonly segment: Segment;
  /** Range in the segment's text. */
  readonly from: number;
  readonly to: number;
}

/** The document's letters and digits without anything between, in one order of reading. */
export interface Stream {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Where each token begins in `text`. */
  readonly starts: readonly number[];
  /** Tokens by their first letters, as many as `KEY_MAX`. */
  readonly byKey: ReadonlyMap<string, readonly number[]>;
  /** It runs from page to page: only what begins on one and ends on the next is sought in it. */
  readonly turnsPages: boolean;
}

export interface TextIndex {
  readonly layout: Layout;
  /** Line by line, and down the columns: a value of several lines runs on in one of them. */
  readonly streams: readonly Stream[];
}

/** Longer tokens are found by so many of their first letters. */
export const KEY_MAX = 40;

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const TOKEN = new RegExp(
  `[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])*`,
  'gu',
);

const ZEROS = [0x660, 0x6f0, 0x966];

/** Arabic and Devanagari digits as ASCII's; of the same length. */
export const asciiDigits = (text: string): string =>
  text
    .replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g, (digit) => {
      const code = digit.charCodeAt(0);
      return String(code - (ZEROS.find((zero) => code >= zero && code < zero + 10) ?? code));
    })
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',');

/** A text's tokens, folded, with their ranges. */
export const keysOf = (text: string): readonly { key: string; from: number; to: number }[] =>
  [...text.matchAll(TOKEN)]
    .map((match) => ({
      key: asciiDigits(folded(match[0])),
      from: match.index,
      to: match.index + match[0].length,
    }))
    .filter(({ key }) => key !== '');

/** A text's letters and digits, folded, and nothing else. */
export const compact = (text: string): string =>
  keysOf(text)
    .map(({ key }) => key)
    .join('');

export function textIndexOf(document: Document): TextIndex {
  const layout = layoutOf(readThrough(document));
  const tokens = layout.segments.map((segment) =>
    keysOf(segment.text).map((key): Token => ({ ...key, segment })),
  );
  const stream = (order: readonly Segment[]): Stream =>
    streamOf(order.flatMap(({ index }) => tokens[index] ?? []));
  const streams = [stream(layout.segments), stream(downTheColumns(layout))];
  const running = layout.pages > 1 ? [{ ...stream(withoutEdges(layout)), turnsPages: true }] : [];
  return { layout, streams: [...streams, ...running] };
}

function streamOf(tokens: readonly Token[]): Stream {
  const byKey = new Map<string, number[]>();
  const starts: number[] = [];
  let at = 0;
  for (const [index, { key }] of tokens.entries()) {
    const short = key.slice(0, KEY_MAX);
    addTo(byKey, short, index);
    starts.push(at);
    at += key.length;
  }
  return { text: tokens.map(({ key }) => key).join(''), tokens, starts, byKey, turnsPages: false };
}

/** Rows from the top and the bottom of a page that may be its header or footer. */
const EDGE_ROWS = 3;

/** All segments but those of headers, footers and page numbers: what other pages have at their edges too. */
function withoutEdges({ rows }: Layout): readonly Segment[] {
  const edges = rows.filter(
    ({ page }, at) => rows[at - EDGE_ROWS]?.page !== page || rows[at + EDGE_ROWS]?.page !== page,
  );
  const pagesOf = new Map<string, Set<number>>();
  for (const row of edges)
    pagesOf.set(edgeText(row), (pagesOf.get(edgeText(row)) ?? new Set()).add(row.page));
  const running = new Set(
    edges.filter((row) => /^[#\P{L}]*$/u.test(edgeText(row)) || (pagesOf.get(edgeText(row))?.size ?? 0) > 1),
  );
  return rows.filter((row) => !running.has(row)).flatMap(({ segments }) => segments);
}

const edgeText = ({ segments }: Row): string =>
  segments.map(({ text }) => text.replace(/\d+/g, '#').toLowerCase()).join(' ');

/** Each segment is followed by the one below it, as long as one stands there. */
function downTheColumns({ rows, segments }: Layout): readonly Segment[] {
  const seen = new Set<number>();
  const order: Segment[] = [];
  for (const first of segments) {
    for (let next: Segment | undefined = first; next !== undefined && !seen.has(next.index);) {
      const here: Segment = next;
      seen.add(here.index);
      order.push(here);
      next = rows[here.row + 1]?.segments.find(
        (other) => other.page === here.page && !seen.has(other.index) && isBelow(other, here),
      );
    }
  }
  return order;
}

const isBelow = (other: Segment, segment: Segment): boolean =>
  overlap(other, segment) > 0.3 || Math.abs(other.x0 - segment.x0) < 6;

/** The token in which a place of the stream's text lies; -1 before the first. */
export const tokenAt = ({ starts }: Stream, offset: number): number =>
  firstPlace(starts.length, (place) => (starts[place] ?? 0) > offset) - 1;
