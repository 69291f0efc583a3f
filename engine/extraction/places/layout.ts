import type { Box, Document, DocumentPage, Line, Word } from '../../document/document.ts';

/** A piece of a line that stands by itself: words without a wide gap between them. */
export interface Segment {
  /** Its place in reading order. */
  readonly index: number;
  readonly row: number;
  readonly page: number;
  readonly text: string;
  /** Where each word begins in `text`. */
  readonly starts: readonly number[];
  readonly words: readonly Word[];
  /** Points; made up from lines and columns of characters where the format has no geometry. */
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly y1: number;
}

export interface Row {
  readonly index: number;
  readonly page: number;
  readonly segments: readonly Segment[];
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly segments: readonly Segment[];
  readonly pages: number;
}

interface Placed {
  readonly word: Word;
  readonly box: Box;
}

const CHARACTER_WIDTH = 6;
const ROW_HEIGHT = 12;
const ROW_TEXT_HEIGHT = 10;
/** Cells that a tab parts stand this far from each other; their text never reaches the next. */
const TAB_WIDTH = 3000;

/** Dots that lead from a label to its value, and rules drawn with characters. */
const LEADER = /^[.·…_=*~–—-]{3,}$/;
/** The same with spaces between: each dot is a word then, and so many of them lead. */
const SPACED_DOT = /^[.·…_]$/;
const SPACED_MIN = 4;

/** The lines of a document as rows of segments. */
export function layoutOf({ pages }: Document): Layout {
  const rows: Row[] = [];
  const segments: Segment[] = [];
  for (const page of pages) {
    const space = commonSpace(page);
    for (const [index, line] of page.lines.entries()) {
      const row = rows.length;
      const parts = groupsOf(page, line, { index, space }).map((words): Segment => {
        const segment = segmentOf(words, { index: segments.length, row, page: page.page });
        segments.push(segment);
        return segment;
      });
      if (parts.length > 0) rows.push({ index: row, page: page.page, segments: parts });
    }
  }
  return { rows, segments, pages: pages.length };
}

interface Spacing {
  readonly index: number;
  /** The usual gap between words of the page, points. */
  readonly space: number;
}

function groupsOf(page: DocumentPage, line: Line, { index, space }: Spacing): readonly (readonly Placed[])[] {
  const placed = placedWords(page, line);
  if (page.width === null || placed.length === 0) return virtualGroups(line, index);
  const groups: Placed[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  const spaced = spacedLeaders(placed);
  for (const word of placed) {
    if (LEADER.test(word.word.text) || spaced.has(word)) {
      end = Number.NEGATIVE_INFINITY;
      continue;
    }
    const [x0, y0, x1, y1] = word.box;
    const gap = Math.max(4, 0.9 * (y1 - y0), WIDER * space);
    if (x0 - end > gap) groups.push([word]);
    else groups.at(-1)?.push(word);
    end = Math.max(end, x1);
  }
  return groups;
}

const WIDER = 2.2;

/** The dots of leaders that are set with spaces between. */
function spacedLeaders(placed: readonly Placed[]): ReadonlySet<Placed> {
  const runs: Placed[][] = [];
  let isOpen = false;
  for (const one of placed) {
    const isDot = SPACED_DOT.test(one.word.text);
    if (isDot && isOpen) runs.at(-1)?.push(one);
    else if (isDot) runs.push([one]);
    isOpen = isDot;
  }
  return new Set(runs.filter((run) => run.length >= SPACED_MIN).flat());
}

const placedWords = ({ source }: DocumentPage, { words }: Line): readonly Placed[] =>
  words.flatMap((word) => {
    if (word.box === null) return [];
    return [{ word: source === 'ocr' ? { ...word, text: repairedShape(word.text) } : word, box: word.box }];
  });

/** The median gap between neighbours that stand no further apart than letters are high. */
function commonSpace(page: DocumentPage): number {
  const gaps = page.lines.flatMap(({ words }) =>
    words.flatMap(({ box }, i) => {
      const before = words[i - 1]?.box;
      if (box === null || before === null || before === undefined) return [];
      const gap = box[0] - before[2];
      return gap > 0 && gap < 1.3 * (box[3] - box[1]) ? [gap] : [];
    }),
  );
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}

const PARTS = /(?:(?!\t| {2}|[.·…_=*~–—-]{4}).)+/gu;

/** The parts of a line without geometry, placed by the columns that tabs or characters stand in. */
function virtualGroups({ text, words }: Line, index: number): readonly (readonly Placed[])[] {
  const top = index * ROW_HEIGHT;
  const read = wordsByOffset(text, words);
  const isTabbed = text.includes('\t');
  return [...text.matchAll(PARTS)]
    .map(({ 0: part, index: at }) => {
      const column = isTabbed ? text.slice(0, at).split('\t').length - 1 : 0;
      const start = isTabbed ? column * TAB_WIDTH : at * CHARACTER_WIDTH;
      return placedParts(part, { start, top, wordAt: (offset) => read?.get(at + offset) });
    })
    .filter((group) => group.length > 0);
}

/** Words by where they begin in a line's text, where something is known of them: few formats without geometry do. */
function wordsByOffset(text: string, words: readonly Word[]): ReadonlyMap<number, Word> | undefined {
  if (!words.some(({ within, page, confidence }) => (within ?? page) !== undefined || confidence < 1))
    return undefined;
  const found = [...text.matchAll(/\S+/g)];
  if (found.length !== words.length) return undefined;
  return new Map(words.map((word, at) => [found[at]?.index ?? 0, word]));
}

interface VirtualPlace {
  readonly start: number;
  readonly top: number;
  readonly wordAt: (offset: number) => Word | undefined;
}

function placedParts(part: string, { start, top, wordAt }: VirtualPlace): readonly Placed[] {
  const width = Math.min(CHARACTER_WIDTH, (0.9 * TAB_WIDTH) / Math.max(1, part.length));
  return [...part.matchAll(/\S+/g)].map(({ 0: text, index }) => {
    const x0 = start + index * width;
    const box: Box = [x0, top, x0 + text.length * width, top + ROW_TEXT_HEIGHT];
    const { within, page, confidence = 1 } = wordAt(index) ?? {};
    return { word: { text, box: null, within, page, confidence, fontSize: null, bold: false }, box };
  });
}

function segmentOf(
  placed: readonly Placed[],
  at: { readonly index: number; readonly row: number; readonly page: number },
): Segment {
  const starts: number[] = [];
  let text = '';
  for (const { word } of placed) {
    if (text !== '') text += ' ';
    starts.push(text.length);
    text += word.text;
  }
  const [x0, y0, x1, y1] = aroundAll(placed.map(({ box }) => box));
  return {
    ...at,
    text,
    starts,
    words: placed.map(({ word }) => word),
    x0,
    y0,
    x1,
    y1,
  };
}

/** The words that a range of a segment's text touches. */
export const wordsIn = (segment: Segment, from: number, to: number): readonly Word[] =>
  segment.words.filter((word, i) => {
    const start = segment.starts[i] ?? 0;
    return start < to && start + word.text.length > from;
  });

/** The box around words, or around what they stand in; null where neither has one. */
export function boxAround(words: readonly Word[]): Box | null {
  const boxes = words.flatMap(({ box, within = null }) => {
    const place = box ?? within;
    return place === null ? [] : [place];
  });
  return boxes.length === 0 ? null : aroundAll(boxes);
}

/** The page that words stand on, of a text that begins on `page`. */
export const pageOf = (page: number, [first]: readonly Word[]): number => first?.page ?? page;

/** The smallest box around all of at least one. */
export const aroundAll = (boxes: readonly Box[]): Box =>
  boxes.reduce((all, box) => [
    Math.min(all[0], box[0]),
    Math.min(all[1], box[1]),
    Math.max(all[2], box[2]),
    Math.max(all[3], box[3]),
  ]);

/** Share of the narrower one's width that two segments have in common. */
export function overlap(a: Pick<Segment, 'x0' | 'x1'>, b: Pick<Segment, 'x0' | 'x1'>): number {
  const common = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0);
  const width = Math.min(a.x1 - a.x0, b.x1 - b.x0);
  return width <= 0 ? 0 : Math.max(0, common / width);
}

const DIGITS: Readonly<Record<string, string>> = {
  O: '0', o: '0', D: '0', Q: '0', I: '1', l: '1', '|': '1', S: '5', s: '5', B: '8', Z: '2',
}; // prettier-ignore
const LIKE = '[\\dOoDQIl|SsBZ]';
const AMOUNT = new RegExp(
  `^[^\\p{L}\\d]{0,2}(?:${LIKE}{1,3},)*${LIKE}{1,7}[.,]${LIKE}{2}[^\\p{L}\\d]{0,2}$`,
  'u',
);
const DATE = new RegExp(`^${LIKE}{1,2}([./-])${LIKE}{1,2}\\1(?:${LIKE}{2}|${LIKE}{4})$`);

/**
 * What OCR takes for letters inside of an amount or a date, as digits again: `1O.5O` is `10.50`. Of the same
 * length; other words stay as they are.
 */
export function repairedShape(text: string): string {
  const isShape = (AMOUNT.test(text) || DATE.test(text)) && (text.match(/\d/g) ?? []).length >= 2;
  return isShape ? text.replace(/[OoDQIl|SsBZ]/g, (letter) => DIGITS[letter] ?? letter) : text;
}
