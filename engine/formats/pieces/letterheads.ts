import type { Block } from '../../document/document.ts';
import type { TableBlock } from '../../document/document.ts';
import type { Piece, TextPiece } from './blocks.ts';
import { plainRun, textOfRuns, type Run } from './runs.ts';

/** Stands in a header or footer for a number that is another one on each page. */
export const PAGE_MARK = '\uFDD0';

/** Whether the instruction of a field counts pages: `PAGE \* MERGEFORMAT`. */
export const countsPages = (instruction: string): boolean =>
  /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)(?=\s|\\|$)/i.test(instruction);

/** A stretch of a document whose pages have the same headers and footers. */
export interface Section {
  readonly body: readonly Piece[];
  /** Of its first, odd and even pages, as far as it has them. */
  readonly headers: readonly (readonly Piece[])[];
  readonly footers: readonly (readonly Piece[])[];
}

/**
 * Sections one after the other, each between its headers and its footers. What stands on many pages is said
 * once: a paragraph or table that an earlier header or footer said, or a heading of the document, is left out,
 * and so are the numbers of pages. No header is a heading, for it is no part of the outline.
 */
export function withLetterheads(sections: readonly Section[]): readonly Piece[] {
  const said = new Set(sections.flatMap(({ body }) => body.flatMap(headingText)));
  const once = (parts: readonly (readonly Piece[])[]): readonly Piece[] =>
    parts.flatMap((part) => {
      const fresh = part.flatMap(furnished).filter((piece) => !said.has(keyOf(piece)));
      for (const piece of fresh) said.add(keyOf(piece));
      return fresh;
    });
  return sections.flatMap(({ headers, body, footers }) => [...once(headers), ...body, ...once(footers)]);
}

const headingText = (piece: Piece): readonly string[] =>
  piece.kind === 'text' && (piece.role.kind === 'heading' || piece.role.kind === 'title')
    ? [keyOf(piece)]
    : [];

const keyOf = (piece: Piece): string =>
  (piece.kind === 'text' ? textOfRuns(piece.runs) : textOfBlock(piece.block)).replace(/\s+/g, ' ').trim();

const textOfBlock = (block: Block): string =>
  block.kind === 'table' ? block.cells.map(({ text }) => text).join('\t') : block.text;

/** A piece of a header or footer as it reads on every page; nothing where it only counts them. */
const furnished = (piece: Piece): readonly Piece[] =>
  piece.kind === 'text' ? furnishedText(piece) : furnishedBlock(piece.block);

function furnishedText(piece: TextPiece): readonly Piece[] {
  const cuts = numbersOfPages(textOfRuns(piece.runs));
  const role = piece.role.kind === 'list_item' ? piece.role : ({ kind: 'paragraph' } as const);
  const runs = cuts.length === 0 ? piece.runs : withoutRanges(piece.runs, cuts);
  return cuts.length > 0 && !hasText(textOfRuns(runs)) ? [] : [{ ...piece, role, runs }];
}

function furnishedBlock(block: Block): readonly Piece[] {
  if (block.kind === 'table') return furnishedTable(block);
  const text = withoutNumbers(block.text);
  if (text === block.text) return [{ kind: 'block', block }];
  if (!hasText(text)) return [];
  const marked = 'markdown' in block ? { markdown: withoutNumbers(block.markdown) } : {};
  return [{ kind: 'block', block: { ...block, ...marked, text } }];
}

/** A table of one row only sets things side by side: each cell is a paragraph. */
function furnishedTable(table: TableBlock): readonly Piece[] {
  const cells = table.cells.map((cell) => ({
    ...cell,
    text: withoutNumbers(cell.text),
    markdown: withoutNumbers(cell.markdown ?? cell.text),
  }));
  if (table.rows > 1)
    return cells.some(({ text }) => hasText(text)) ? [{ kind: 'block', block: { ...table, cells } }] : [];
  return cells
    .filter(({ text }) => hasText(text))
    .map(({ text, markdown }) => ({
      kind: 'block',
      block: { kind: 'paragraph', text, markdown, box: null },
    }));
}

const hasText = (text: string): boolean => /[\p{L}\p{N}\p{S}]/u.test(text);

const PAGE_WORDS =
  'pages? pg seite blatt p[áa]gina p[áa]g side sida strana strona oldal страница стр p s 第 共';
const PAGE_WORD = `(?:${PAGE_WORDS.replaceAll(' ', '|')})`;
const OF_WORD = String.raw`(?:\/|\||of|von|de|di|van|sur|av|af|z|ze|из|[页頁][,，]?共?)`;
const BEFORE = String.raw`(?:(?<![\p{L}\p{N}])${PAGE_WORD}\.?[\s:]*)?`;
/** A mark with the words that belong to it; a number that is written out only after a word for pages. */
const MARKED = new RegExp(
  String.raw`${BEFORE}${PAGE_MARK}+(?:\s*${OF_WORD}\s*(?:${PAGE_MARK}+|\d{1,4}(?!\d)))?\s*[页頁]?`,
  'giu',
);
const ALONE = new RegExp(
  String.raw`^[\s–—|\-]*${PAGE_WORD}\.?\s*\d{1,4}(?:\s*${OF_WORD}\s*\d{1,4})?[\s–—|\-.]*$`,
  'iu',
);
/** What parts a number of a page from the text beside it. */
const PARTS_BEFORE = /[([,;–—|\-·•\s]/;
const PARTS_BEHIND = /[)\]–—|\-·•\s]/;

type Cut = readonly [from: number, to: number];

/** Longer ones are no lines of a header, and patterns go back and forth in them: only the marks go. */
const LINE_CHARACTERS_MAX = 1000;

/** Where a text counts pages. */
function numbersOfPages(text: string): readonly Cut[] {
  if (text.length > LINE_CHARACTERS_MAX) return matchesIn(text, new RegExp(`${PAGE_MARK}+`, 'g'));
  if (ALONE.test(text)) return [[0, text.length]];
  return text.includes(PAGE_MARK)
    ? matchesIn(text, MARKED).map((cut) => widened(text, cut))
    : segmentsAlone(text);
}

const matchesIn = (text: string, pattern: RegExp): readonly Cut[] =>
  [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length]);

function widened(text: string, [from, to]: Cut): Cut {
  let start = from;
  let end = to;
  while (start > 0 && PARTS_BEFORE.test(text.charAt(start - 1))) start -= 1;
  while (end < text.length && PARTS_BEHIND.test(text.charAt(end))) end += 1;
  return [start, end];
}

/** Left, middle and right of a header are parted by tabs. */
function segmentsAlone(text: string): readonly Cut[] {
  const cuts: Cut[] = [];
  let at = 0;
  for (const segment of text.includes('\t') ? text.split('\t') : []) {
    if (ALONE.test(segment)) cuts.push([at, at + segment.length]);
    at += segment.length + 1;
  }
  return cuts;
}

/** A text without the numbers of pages; what stood on both sides of one stays apart. */
const withoutNumbers = (text: string): string =>
  withoutRanges([plainRun(text)], numbersOfPages(text))[0]?.text ?? '';

const spaceAt = (text: string, [from, to]: Cut): string =>
  from === 0 || /^[,;.]?$/.test(text.charAt(to)) ? '' : (/[\n\t]/.exec(text.slice(from, to))?.[0] ?? ' ');

/** Runs without these stretches of their whole text. */
function withoutRanges(runs: readonly Run[], cuts: readonly Cut[]): readonly Run[] {
  const whole = textOfRuns(runs);
  let end = 0;
  let next = 0;
  return runs.map((run) => {
    let at = end;
    end += textOfRuns([run]).length;
    let kept = '';
    for (let cut = cuts[next]; cut !== undefined && cut[0] < end; cut = cuts[next]) {
      if (cut[0] >= at) kept += `${whole.slice(at, cut[0])}${spaceAt(whole, cut)}`;
      at = Math.min(end, Math.max(at, cut[1]));
      if (cut[1] > end) break;
      next += 1;
    }
    return run.note === null ? { ...run, text: `${kept}${whole.slice(at, end)}` } : run;
  });
}
