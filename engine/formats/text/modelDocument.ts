import {
  tableGrid,
  type Block,
  type Box,
  type Document,
  type DocumentPage,
  type DocumentWarning,
  type Line,
  type TableBlock,
  type Word,
} from '../../document/document.ts';
import type { PageReading } from '../../ports/documentTools.ts';
import type { ReadBlock, ReadPage } from '../../ports/modelProvider.ts';
import type { PlacedWord } from '../../layout/content.ts';
import { pdfLines } from '../pdf/pdfLines.ts';
import { lineOf, linesOfBlock } from '../../document/markupLines.ts';
import { markdownBlocks } from './markdownDocument.ts';

/**
 * A document from what a model read: the blocks are its markdown's, the lines its words' where it placed
 * them. Pages that failed or were skipped keep their number and say why.
 */
export function modelDocument(mimeType: string, readings: readonly PageReading[]): Document {
  const pages = readings.map(pageOf).sort((a, b) => a.page - b.page);
  return { mimeType, pages, warnings: warningsOf(pages) };
}

const NOTHING = { source: 'model', width: null, height: null, lines: [], blocks: [] } as const;

function pageOf(reading: PageReading): DocumentPage {
  if (reading.status !== 'ok') {
    const { status, number, detail } = reading;
    return { ...NOTHING, page: number, status, detail };
  }
  const { page, markdown, width, height, words } = reading.page;
  const own = markdownBlocks(withoutPictureNames(unfenced(markdown)));
  const markup = { blocks: own, lines: own.flatMap(linesOfBlock) };
  const { blocks, lines } = placed(reading.page, markup);
  const base = { ...NOTHING, page, width, height };
  if (blocks.length === 0 && words.length === 0)
    return { ...base, status: 'empty', detail: 'The page is blank.' };
  return { ...base, status: 'ok', detail: null, lines, blocks };
}

/** Models put a whole page into a fence of markdown now and then, whatever they were told. */
function unfenced(markdown: string): string {
  const lines = markdown.trim().split(/\r\n?|\n/);
  const opens = /^(`{3,}|~{3,})\s*(?:markdown|md)\s*$/i.exec(lines[0] ?? '')?.[1];
  const isWhole = opens !== undefined && lines.length > 1 && lines.at(-1)?.trim() === opens;
  return (isWhole ? lines.slice(1, -1) : lines).join('\n');
}

/** A picture whose description is only its file's name (`![img-0.jpeg](img-0.jpeg)`) says nothing. */
const withoutPictureNames = (markdown: string): string =>
  markdown.replace(/!\[([^\]\n]{0,200})\]\(\1\)/g, '');

type Markup = Pick<DocumentPage, 'lines' | 'blocks'>;

/** Lines of the words where these have boxes; else the markdown's, with what the provider's blocks and words tell. */
function placed({ words, blocks: placedBlocks = [] }: ReadPage, markup: Markup): Markup {
  const own = words.flatMap(placedWord);
  const within = placedBlocks.length === 0 ? markup : withinBlocks(markup.blocks, placedBlocks);
  if (own.length > 0) return { ...within, lines: pdfLines(own) };
  return words.length === 0 ? within : { ...within, lines: asSure(within.lines, words) };
}

/** Letters and digits, and nothing else: what markdown, HTML and plain text of the same have in common. */
const compact = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** The provider's blocks that the next line is sought in, and letters of each: so the time is linear. */
const AHEAD = 24;
const LETTERS_MAX = 20_000;

/** Finds the provider's block that a line stands in; both come in the same order, more or less. */
function blockFinder(placedBlocks: readonly ReadBlock[]): (line: string) => ReadBlock | undefined {
  const keys = placedBlocks.map(({ text }) => compact(text.slice(0, LETTERS_MAX)));
  let [at, from] = [0, 0];
  return (line) => {
    const key = compact(line.slice(0, LETTERS_MAX));
    if (key === '') return undefined;
    const nearby = [at, ...Array.from({ length: AHEAD }, (_, ahead) => at + 1 + ahead), at, at - 1, at - 2];
    for (const [tried, index] of nearby.entries()) {
      const found = keys[index]?.indexOf(key, tried === 0 ? from : 0) ?? -1;
      if (found < 0) continue;
      [at, from] = [index, found + key.length];
      return placedBlocks[index];
    }
    return undefined;
  };
}

/** The markdown's blocks and their lines, each with the place of the provider's block that holds it. */
function withinBlocks(blocks: readonly Block[], placedBlocks: readonly ReadBlock[]): Markup {
  const find = blockFinder(placedBlocks);
  const lines: Line[] = [];
  const found = blocks.map((block) => {
    const read = linesOfBlock(block).map((line) => ({ line, of: find(line.text) }));
    const of = read.find((one) => one.of !== undefined)?.of;
    if (block.kind === 'table') {
      const table = tableWithin(block, of);
      lines.push(...linesOfTable(table, of));
      return table;
    }
    lines.push(...read.map((one) => lineWithin(one.line, one.of)));
    return blockWithin(block, of);
  });
  return { blocks: found, lines };
}

const blockWithin = <B extends Block>(block: B, of: ReadBlock | undefined): B | Block => {
  const box = of?.box ?? null;
  return of?.kind === 'heading' && block.kind === 'paragraph'
    ? { kind: 'heading', level: 2, text: block.text, markdown: block.markdown, box }
    : { ...block, box };
};

const lineWithin = (line: Line, of: ReadBlock | undefined): Line => ({
  ...line,
  words: line.words.map((word) => wordWithin(word, of, of?.box)),
});

const wordWithin = (word: Word, of: ReadBlock | undefined, box: Box | null | undefined): Word => ({
  ...word,
  confidence: of?.confidence ?? word.confidence,
  ...(box && { within: box }),
});

/** Cells have the boxes that the provider gives them, or that of the table. */
function tableWithin(table: TableBlock, of: ReadBlock | undefined): TableBlock {
  const boxes = new Map(of?.cells?.map(({ row, column, box }) => [`${row} ${column}`, box]));
  const box = of?.box ?? null;
  const cells = table.cells.map((cell) => ({ ...cell, box: boxes.get(`${cell.row} ${cell.column}`) ?? box }));
  return { ...table, box, cells };
}

/** One line a row, as `linesOfBlock` has them; each word stands in its cell. */
function linesOfTable(table: TableBlock, of: ReadBlock | undefined): readonly Line[] {
  const boxes = new Map(table.cells.map(({ row, column, box }) => [`${row} ${column}`, box]));
  return tableGrid(table).map((texts, row) => {
    const cells = texts.map((text, column) => ({
      line: lineOf(text.replace(/\s+/g, ' ')),
      box: boxes.get(`${row} ${column}`) ?? table.box,
    }));
    return {
      text: cells.map(({ line }) => line.text).join('\t'),
      box: null,
      words: cells.flatMap(({ line, box }) => line.words.map((word) => wordWithin(word, of, box))),
    };
  });
}

/** How sure the provider is of each word; both come in the same order, more or less. */
function asSure(lines: readonly Line[], words: readonly Word[]): readonly Line[] {
  const keys = words.map(({ text }) => compact(text));
  let at = 0;
  return lines.map((line) => ({
    ...line,
    words: line.words.map((word) => {
      const key = compact(word.text);
      const found = key === '' ? -1 : keys.slice(at, at + AHEAD).indexOf(key);
      if (found < 0) return word;
      const { confidence } = words[at + found] ?? word;
      at += found + 1;
      return { ...word, confidence };
    }),
  }));
}

const placedWord = ({ text, box, confidence, fontSize, bold }: Word): readonly PlacedWord[] =>
  box === null || text.trim() === ''
    ? []
    : [{ ...PLAIN, text, box, confidence, size: fontSize ?? box[3] - box[1], bold }];

const PLAIN = { italic: false, mono: false, link: null } as const;

function warningsOf(pages: readonly DocumentPage[]): readonly DocumentWarning[] {
  const warnings: DocumentWarning[] = pages
    .filter(({ status }) => status === 'failed')
    .map(({ page, detail }) => ({
      code: 'page_failed',
      message: `Page ${page}: ${detail ?? 'it could not be read.'}`,
    }));
  if (pages.every(({ lines }) => lines.length === 0))
    warnings.push({ code: 'no_text_found', message: 'No text was found in the document.' });
  return warnings;
}
