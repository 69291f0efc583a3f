import {
  LiteParse,
  type LiteParseConfig,
  type ParsedPage,
  type ParseResult as Parsed,
} from '@llamaindex/liteparse';
import type { Document, DocumentPage, DocumentWarning } from '../../../domain/document/document.ts';
import type { ParseFailure, ParseResult } from '../../../domain/ports/documentParser.ts';
import { pagesOf } from '../../../domain/document/pages.ts';
import type { OpenedDocument, SourceFile } from '../opened.ts';
import { pdfBlocks } from './pdfBlocks.ts';
import { pdfLines } from './pdfLines.ts';

/** Nothing is rendered, converted or fetched; OCR stays off. */
const CONFIG: Partial<LiteParseConfig> = {
  ocrEnabled: false,
  quiet: true,
  imageMode: 'off',
  numWorkers: 1,
  continueOnPageError: true,
};

/** The page count, from the page tree: only the first page is read. */
async function inspectPdf(
  bytes: Buffer,
): Promise<{ readonly kind: 'ok'; readonly pages: number } | ParseFailure> {
  try {
    const { totalPages } = await new LiteParse({ ...CONFIG, outputFormat: 'text', maxPages: 1 }).parse(bytes);
    return totalPages > 0
      ? { kind: 'ok', pages: totalPages }
      : { kind: 'unreadable', detail: 'The PDF has no pages.' };
  } catch (error) {
    return unreadable(error);
  }
}

/** Counts the pages; the pages themselves are read when asked for. */
export async function openPdf({ bytes }: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const inspected = await inspectPdf(bytes);
  if (inspected.kind !== 'ok') return inspected;
  const pages = pagesOf({ by: 'pages', pages: inspected.pages });
  return { kind: 'open', mimeType: 'application/pdf', pages, read: () => readPdf(bytes, pages) };
}

/** Words with their boxes, and blocks, of every page. */
async function readPdf(bytes: Buffer, pages: number): Promise<ParseResult> {
  const config: Partial<LiteParseConfig> = {
    ...CONFIG,
    outputFormat: 'markdown',
    maxPages: pages,
    emitWordBoxes: true,
    extractBlocks: true,
    extractLinks: true,
  };
  try {
    return { kind: 'ok', document: documentOf(await new LiteParse(config).parse(bytes), pages) };
  } catch (error) {
    return unreadable(error);
  }
}

/** Every page of the file appears: those that failed too, so that nothing is lost in silence. */
function documentOf(parsed: Parsed, pages: number): Document {
  const read = new Map(parsed.pages.map((page) => [page.pageNum, page]));
  const all = Array.from({ length: pages }, (_, i) => pageOf(i + 1, read.get(i + 1)));
  const failed = all.filter(({ status }) => status === 'failed');
  const warnings: DocumentWarning[] = failed.map(({ page }) => ({
    code: 'page_failed',
    message: `Page ${page} could not be read.`,
  }));
  if (all.every(({ lines }) => lines.length === 0))
    warnings.push({ code: 'no_text_found', message: 'The document has no text layer.' });
  return { mimeType: 'application/pdf', pages: all, warnings };
}

function pageOf(page: number, parsed: ParsedPage | undefined): DocumentPage {
  const base = { page, source: 'text_layer' } as const;
  if (parsed === undefined)
    return {
      ...base,
      width: null,
      height: null,
      status: 'failed',
      detail: 'The page could not be read.',
      lines: [],
      blocks: [],
    };
  const lines = pdfLines(parsed.textItems);
  const size = { width: parsed.width, height: parsed.height };
  if (lines.length === 0)
    return { ...base, ...size, status: 'skipped', detail: 'The page has no text layer.', lines, blocks: [] };
  return {
    ...base,
    ...size,
    status: 'ok',
    detail: null,
    lines,
    blocks: pdfBlocks(parsed.blocks ?? [], lines),
  };
}

function unreadable(error: unknown): ParseFailure {
  const message = error instanceof Error ? error.message : '';
  return {
    kind: 'unreadable',
    detail: /password|encrypt|security/i.test(message)
      ? 'The PDF is encrypted and needs a password. Send it without one.'
      : 'The PDF is damaged and cannot be read.',
  };
}
