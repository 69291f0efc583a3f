import type { ParsedPage, TextItem } from '../../recognition/liteparse.ts';
import { cleanText } from '../../document/plainText.ts';
import type { Box } from '../../document/document.ts';
import { around, type PlacedWord } from '../../layout/content.ts';
import { hasSwappedLigature, mendedLigatures, mendedLone } from '../../layout/direction.ts';
import { boxSigns } from './boxSigns.ts';
import { fontLook, type FontLook } from './inside/fontLook.ts';
import type { RunsAt } from './inside/insideOf.ts';
import type { DrawnRun } from './inside/operators.ts';
import { raisedNumber } from './raisedNumbers.ts';
import { levelBox, turnOfWord } from './turnedPages.ts';

/** A word with what tells whether it can be seen. */
export interface InkedWord extends PlacedWord {
  /** `aarrggbb`; null where the parser does not say. */
  readonly color: string | null;
  /** Degrees, counted clockwise. */
  readonly rotation: number;
  /** Drawn without ink. */
  readonly isInvisible: boolean;
}

/** The words of a page's text layer, each with its place, look and link. `runsAt` knows how they were drawn. */
export function pdfWords(page: ParsedPage, runsAt?: RunsAt): readonly InkedWord[] {
  const links = linksOf(page);
  const lookOf = looks();
  const signs = boxSigns(page);
  const read = page.textItems.flatMap((item) => wordsOf(item, { page, runsAt, lookOf, signs }));
  const words = page.textItems.some(({ text }) => hasSwappedLigature(text))
    ? read.map((word) => ({ ...word, text: mendedLone(word.text) }))
    : read;
  return links.length === 0 ? words : words.map((word) => withLink(word, links));
}

type LookOf = (name: string, weight: number) => FontLook;

/** Pages have few fonts and many words. */
function looks(): LookOf {
  const byWeight = new Map<number, Map<string, FontLook>>();
  return (name, weight) => {
    const known = byWeight.get(weight) ?? new Map<string, FontLook>();
    const look = known.get(name) ?? fontLook(name, weight);
    byWeight.set(weight, known.set(name, look));
    return look;
  };
}

interface Around {
  readonly page: ParsedPage;
  readonly runsAt: RunsAt | undefined;
  readonly lookOf: LookOf;
  readonly signs: ReturnType<typeof boxSigns>;
}

/** Nothing in it can need cleaning. */
const PLAIN_WORD = /^[\x21-\x7e]+$/;

/**
 * The parser's pieces may break within a word; its text says where the words end. It joins texts of several fonts on
 * a line and tells the first one: what the page draws tells that of each word.
 */
function wordsOf(item: TextItem, around: Around): readonly InkedWord[] {
  const { confidence = 1, fillColor: color = null, rotation = 0 } = item;
  const size = sizeOf(item);
  const words: InkedWord[] = [];
  for (const { raw, box, isSpaced } of turnedParts(item, around.page) ?? levelParts(item)) {
    const text = textOf(raw, item, around);
    if (text === '') continue;
    const { run, raised } = drawnAt({ text, box }, around);
    const { bold, italic, mono, face } = lookOf(item, run, around);
    const isInvisible = run?.isInvisible === true;
    // Named one by one: words made by spreading take twice the time here and wherever they are read.
    words.push({
      text, box, size, bold, italic, mono, face, link: null, confidence, color, rotation, isInvisible, raised,
      isSpaced,
    }); // prettier-ignore
  }
  return words;
}

/** The run that the middle of a word lies in, and a raised number in it. */
function drawnAt(word: Pick<PlacedWord, 'text' | 'box'>, { runsAt }: Around) {
  if (runsAt === undefined) return NOT_DRAWN;
  return { run: mainRun(runsAt(word.box), word.box), raised: raisedNumber(word, runsAt) };
}

const NOT_DRAWN = { run: undefined, raised: undefined } as const;

function mainRun(runs: readonly DrawnRun[], box: Box): DrawnRun | undefined {
  const middle = (box[0] + box[2]) / 2;
  return runs.find((run) => middle >= run.box[0] && middle <= run.box[2]);
}

/** The weight that the parser gives is that of the item's own font. */
function lookOf(
  { fontName = '', fontWeight }: TextItem,
  run: DrawnRun | undefined,
  around: Around,
): FontLook {
  const font = run?.font ?? fontName;
  return around.lookOf(font, font === fontName ? (fontWeight ?? 0) : 0);
}

interface WordPart {
  readonly raw: string;
  readonly box: Box;
  /** A space stands before it. */
  readonly isSpaced?: boolean | undefined;
}

function levelParts(item: TextItem): readonly WordPart[] {
  const texts = item.text.split(/\s+/).filter((text) => text !== '');
  return boxesOf(texts, item).map((box, index) => ({ raw: texts[index] ?? '', box, isSpaced: index > 0 }));
}

/** Of the font's size: wider gaps part words. */
const GAP = 0.12;

/**
 * The words of a text that is turned by quarters: the parser puts their letters in no sure order, and parts
 * them anywhere, so its pieces are joined by where they lie. Undefined of a text that lies otherwise.
 */
function turnedParts(item: TextItem, page: ParsedPage): readonly WordPart[] | undefined {
  const turn = turnOfWord({ rotation: item.rotation ?? 0 });
  if (turn === undefined || turn === 0 || item.words === undefined) return undefined;
  const pieces = item.words.map(({ text, x, y, width, height }) => {
    const box: Box = [x, y, x + width, y + height];
    return { raw: text.trim(), box, level: levelBox(box, turn, page) };
  });
  const parts: { raw: string; box: Box; end: number }[] = [];
  for (const { raw, box, level } of pieces.sort((a, b) => a.level[0] - b.level[0])) {
    if (raw === '') continue;
    const last = parts.at(-1);
    if (last === undefined || level[0] - last.end > GAP * sizeOf(item))
      parts.push({ raw, box, end: level[2] });
    else {
      last.raw += raw;
      last.box = around([last.box, box]);
      last.end = level[2];
    }
  }
  return parts.map(({ raw, box }) => ({ raw, box: rounded(box) }));
}

function textOf(raw: string, item: TextItem, { signs }: Around): string {
  const text = PLAIN_WORD.test(raw) ? raw : mended(raw);
  return signs === undefined ? text : signs(item, text);
}

const mended = (raw: string): string => mendedLigatures(cleanText(raw).replace(/\s+/g, ' ').trim());

const sizeOf = ({ fontHeight, fontSize, height }: TextItem): number => fontHeight ?? fontSize ?? height;

/** The boxes of the words: of their pieces where these add up, else in proportion to their letters. */
function boxesOf(texts: readonly string[], item: TextItem): readonly Box[] {
  const pieces = item.words ?? [];
  const boxes: Box[] = [];
  let at = 0;
  for (const text of texts) {
    let seen = 0;
    let box: Box | undefined;
    while (seen < text.length && at < pieces.length) {
      const piece = pieces[at];
      if (piece === undefined) break;
      at += 1;
      // most words are one piece
      seen += piece.text === text ? text.length : withoutSpaces(piece.text).length;
      const own = [piece.x, piece.y, piece.x + piece.width, piece.y + piece.height] as const;
      box = box === undefined ? own : around([box, own]);
    }
    if (seen !== text.length || box === undefined) return inProportion(texts, item);
    boxes.push(rounded(box));
  }
  return boxes;
}

const withoutSpaces = (text: string): string => (/\s/.test(text) ? text.replace(/\s/g, '') : text);

function inProportion(texts: readonly string[], { x, y, width, height, text }: TextItem): readonly Box[] {
  const step = width / Math.max(1, text.length);
  let from = 0;
  return texts.map((word) => {
    from = Math.max(from, text.indexOf(word, from));
    const box = rounded([x + from * step, y, x + (from + word.length) * step, y + height]);
    from += word.length;
    return box;
  });
}

interface LinkArea {
  readonly box: Box;
  readonly uri: string;
}

const linksOf = ({ annotations }: ParsedPage): readonly LinkArea[] =>
  (annotations ?? []).flatMap(({ subtype, uri, rect, quadpointRects }) => {
    if (subtype !== 'link' || uri === undefined || uri === '') return [];
    const areas = quadpointRects.length > 0 ? quadpointRects : rect === undefined ? [] : [rect];
    return areas.map(({ x, y, width, height }) => ({ box: [x, y, x + width, y + height] as const, uri }));
  });

function withLink(word: InkedWord, links: readonly LinkArea[]): InkedWord {
  const x = (word.box[0] + word.box[2]) / 2;
  const y = (word.box[1] + word.box[3]) / 2;
  const link = links.find(({ box }) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]);
  return link === undefined ? word : { ...word, link: link.uri };
}

/** Hundredths of a point are enough, and read well. */
export const rounded = (box: Box): Box => [cents(box[0]), cents(box[1]), cents(box[2]), cents(box[3])];
const cents = (points: number): number => Math.round(points * 100) / 100;
