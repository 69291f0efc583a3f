import type { Box, DocumentPage, Line } from '../document/document.ts';
import { lexicon } from '../extraction/words/lexicon.ts';
import { stemOf } from '../extraction/words/labelWords.ts';
import { folded } from '../kernel/text.ts';
import { type PageMark, pageMarkOf } from './pageMarks.ts';

/** A letter is a word where words are not parted. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{L}+/gu;

/** The words of a text as they are compared: folded and without endings; no numbers. */
export const wordsIn = (text: string): readonly string[] => (folded(text).match(WORD) ?? []).map(stemOf);

/** Numbers that name something: an invoice, an account, a customer. */
const NAMING = /[\p{L}\d][\p{L}\d/.-]{4,}/gu;
const DATE = /\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/g;
const AMOUNT = /^\d{1,3}(?:[.,]\d{3})*[.,]\d{1,2}$/;

/** Parts of a page's height at its top and its end. */
const HEAD = 0.2;
const FOOT = 0.88;
/** Lines at the top and the end of a page without geometry, and at the least. */
const HEAD_LINES = 5;
const FOOT_LINES = 3;
/** Words of a page that are looked at. */
const WORDS_MAX = 3000;

const letters = (pattern: string, tail: string): RegExp =>
  new RegExp(`^\\s*(?:${pattern})(?![\\p{L}\\p{N}])${tail}`, 'iu');
const SALUTATION = letters(lexicon.parts.salutations.pattern, '.{0,60}$');
const CLOSING = letters(lexicon.parts.closings.pattern, '.{0,20}$');

const ANNEX = letters(lexicon.parts.annexes.pattern, '.{0,80}$');

/** The first and the last number of a style of numbering on a page. */
export interface OutlineSpan {
  readonly first: number;
  readonly last: number;
}

/** `12.`, `(12)`, `[12]`, `(f)`, `B.` and `3.1` at the start of a line. */
const OUTLINE =
  /^\s*(?:([([]?)(\d{1,3})([.)\]])(?=\s)|(\()([a-z])(\))|([A-Z])(\.)(?=\s|\d)|(\d{1,2}\.)(\d{1,2})(?=[.\s]))/u;

const numberOf = (text: string): number =>
  /\d/.test(text) ? Number(text) : text.toLowerCase().charCodeAt(0) - 'a'.charCodeAt(0) + 1;

function outlineOf(lines: readonly Line[]): ReadonlyMap<string, OutlineSpan> {
  const spans = new Map<string, OutlineSpan>();
  for (const { text } of lines) {
    const found = OUTLINE.exec(text)?.slice(1).filter(Boolean);
    const value = found?.find((part) => /^(?:\d{1,3}|[a-zA-Z])$/.test(part));
    if (found === undefined || value === undefined) continue;
    const sign = /\d/.test(value) ? '1' : 'a';
    const style = found.map((part) => (part === value ? sign : part)).join('');
    const number = numberOf(value);
    spans.set(style, { first: spans.get(style)?.first ?? number, last: number });
  }
  return spans;
}

/** What is seen of a page: enough to tell whether another goes on with it. */
export interface PageFacts {
  readonly page: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly source: DocumentPage['source'];
  /** How many words, and how often each. */
  readonly count: number;
  readonly words: ReadonlyMap<string, number>;
  readonly head: ReadonlySet<string>;
  readonly foot: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly headNames: ReadonlySet<string>;
  readonly dates: ReadonlySet<string>;
  readonly mark: PageMark | undefined;
  /** The marks that its lines are numbered by, the first and the last of each style. */
  readonly outline: ReadonlyMap<string, OutlineSpan>;
  /** Its first line says that it belongs to something: an annex, a continuation. */
  readonly isAnnex: boolean;
  readonly salutation: Line | undefined;
  readonly closing: Line | undefined;
  /** A line near the top that is larger than the text. */
  readonly title: Line | undefined;
  /** Of the title, over that of the text. */
  readonly titleSize: number;
  readonly first: Line | undefined;
  readonly last: Line | undefined;
  /** How far down the page its text goes, 0..1; 1 where that is not known. */
  readonly depth: number;
  readonly fontSize: number;
  readonly margin: number | null;
}

const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Where a line stands, 0 at the top of the page to 1; undefined where that is not known. */
const depthOf = ({ box }: Line, height: number | null, edge: 1 | 3): number | undefined =>
  box === null || height === null || height <= 0 ? undefined : box[edge] / height;

const isNaming = (text: string): boolean =>
  text.replace(/\D/g, '').length >= 3 &&
  !AMOUNT.test(text) &&
  !/^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(text);

const namesIn = (lines: readonly Line[]): ReadonlySet<string> =>
  new Set(
    lines.flatMap(({ text }) =>
      (text.match(NAMING) ?? []).map((name) => name.replace(/(?<![./-])[./-]+$/, '')).filter(isNaming),
    ),
  );

interface Zones {
  readonly head: readonly Line[];
  readonly foot: readonly Line[];
}

function zonesOf(lines: readonly Line[], height: number | null): Zones {
  const head = lines.filter((line, at) => at < 2 || (depthOf(line, height, 1) ?? at / HEAD_LINES) < HEAD);
  const foot = lines.filter((line, at) => at >= lines.length - 1 || (depthOf(line, height, 3) ?? 0) > FOOT);
  const isPlaced = lines.some(({ box }) => box !== null) && height !== null;
  return isPlaced ? { head, foot } : { head: lines.slice(0, HEAD_LINES), foot: lines.slice(-FOOT_LINES) };
}

const sizeOf = ({ words, box }: Line): number => {
  const sizes = words.flatMap(({ fontSize, box: own }) => fontSize ?? (own === null ? [] : own[3] - own[1]));
  return medianOf(sizes) ?? (box === null ? 0 : box[3] - box[1]);
};

/** Lines in the upper part of a page that may be its title. */
const TITLE_DEPTH = 0.4;
const TITLE_LINES = 12;

function titleOf(lines: readonly Line[], height: number | null, fontSize: number) {
  let title: Line | undefined;
  let titleSize = 1;
  for (const line of lines.slice(0, TITLE_LINES)) {
    if ((depthOf(line, height, 1) ?? 0) > TITLE_DEPTH || !/\p{L}{3}/u.test(line.text)) continue;
    const size = fontSize > 0 ? sizeOf(line) / fontSize : 1;
    if (size > titleSize * 1.05) [title, titleSize] = [line, size];
  }
  return { title, titleSize };
}

const counted = (lines: readonly Line[]) => {
  const words = new Map<string, number>();
  let count = 0;
  for (const { text } of lines)
    for (const word of wordsIn(text)) {
      if (count >= WORDS_MAX) break;
      count += 1;
      words.set(word, (words.get(word) ?? 0) + 1);
    }
  return { words, count };
};

const wordSet = (lines: readonly Line[]): ReadonlySet<string> =>
  new Set(lines.flatMap(({ text }) => wordsIn(text)));

export function pageFactsOf({ page, width, height, source, lines: all }: DocumentPage): PageFacts {
  const lines = all.filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const { head, foot } = zonesOf(lines, height);
  const fontSize = medianOf(lines.map(sizeOf)) ?? 0;
  const margins = lines.flatMap(({ box }) => (box === null ? [] : box[0]));
  return {
    page,
    width,
    height,
    source,
    ...counted(lines),
    head: wordSet(head),
    foot: wordSet(foot),
    names: namesIn(lines),
    headNames: namesIn(lines.filter((line, at) => at < 3 || (depthOf(line, height, 1) ?? 1) < TITLE_DEPTH)),
    dates: new Set(lines.flatMap(({ text }) => text.match(DATE) ?? [])),
    mark: pageMarkOf([...foot, ...head]),
    outline: outlineOf(lines),
    isAnnex: lines.slice(0, 2).some(({ text }) => ANNEX.test(text)),
    salutation: lines.find(({ text }) => SALUTATION.test(text)),
    closing: lines.find(({ text }) => CLOSING.test(text)),
    ...titleOf(lines, height, fontSize),
    first: lines[0],
    last: lines.at(-1),
    depth: Math.min(
      1,
      lines.reduce((most, line) => Math.max(most, depthOf(line, height, 3) ?? 1), 0),
    ),
    fontSize,
    margin: margins.length === 0 ? null : Math.min(...margins.slice(0, 200)),
  };
}

/** The box around some others. */
export const boxAround = (boxes: readonly (Box | null)[]): Box | null => {
  const placed = boxes.filter((box) => box !== null);
  if (placed.length === 0) return null;
  return [
    Math.min(...placed.map(([x0]) => x0)),
    Math.min(...placed.map(([, y0]) => y0)),
    Math.max(...placed.map(([, , x1]) => x1)),
    Math.max(...placed.map(([, , , y1]) => y1)),
  ];
};
