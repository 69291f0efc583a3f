import type { Document, DocumentPage, DocumentWarning, Line, Word } from '../../document/document.ts';
import type { PageReading } from '../../ports/documentTools.ts';
import type { ReadPage } from '../../ports/modelProvider.ts';
import type { PlacedWord } from '../../layout/content.ts';
import { pdfLines } from '../pdf/pdfLines.ts';
import { markdownDocument } from './markdownDocument.ts';

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
  const [read] = markdownDocument(withoutPictureNames(unfenced(markdown)), 1).pages;
  const blocks = read?.blocks ?? [];
  const lines = placedLines(reading.page) ?? read?.lines ?? [];
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

/** Lines of the words that have boxes; undefined where none has, and the markdown's lines stand. */
function placedLines({ words }: ReadPage): readonly Line[] | undefined {
  const placed = words.flatMap(placedWord);
  return placed.length === 0 ? undefined : pdfLines(placed);
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
