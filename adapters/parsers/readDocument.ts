import { readFile } from 'node:fs/promises';
import type { Document } from '../../domain/document/document.ts';
import { charactersIn, pagesOf } from '../../domain/document/pages.ts';
import type { Inspection, ParseFailure, ParseResult } from '../../domain/ports/documentParser.ts';
import type { JobFile } from './jobs.ts';
import { markdownDocument } from './markdownDocument.ts';
import { inspectPdf, readPdf } from './pdf.ts';
import { sniff, type Sniffed } from './sniff.ts';
import { textDocument } from './textDocument.ts';

type Readable = Extract<Sniffed, { readonly kind: 'pdf' | 'text' }>;
type Opened =
  | { readonly kind: 'open'; readonly bytes: Buffer; readonly type: Readable; readonly pages: number }
  | ParseFailure;

/** Type and page count. For a PDF it reads the page tree and nothing else. */
export async function inspectFile(file: JobFile): Promise<Inspection> {
  const opened = await openFile(file);
  if (opened.kind !== 'open') return opened;
  const { type, pages } = opened;
  return { kind: 'ok', mimeType: type.kind === 'pdf' ? 'application/pdf' : type.mimeType, pages };
}

/** The whole document. The page cap is checked before the pages are read. */
export async function readFileAsDocument(file: JobFile): Promise<ParseResult> {
  const opened = await openFile(file);
  if (opened.kind !== 'open') return opened;
  const { type, bytes, pages } = opened;
  if (type.kind === 'pdf') return readPdf(bytes, pages);
  return { kind: 'ok', document: ofText(type, pages) };
}

const ofText = ({ mimeType, text }: Extract<Readable, { readonly kind: 'text' }>, pages: number): Document =>
  mimeType === 'text/markdown' ? markdownDocument(text, pages) : textDocument(text, pages);

async function openFile({ path, fileName, pagesMax }: JobFile): Promise<Opened> {
  const bytes = await readFile(path);
  const type = await sniff(bytes, fileName);
  switch (type.kind) {
    case 'empty':
      return { kind: 'empty', detail: 'The file is empty.' };
    case 'damaged':
      return { kind: 'unreadable', detail: type.detail };
    case 'unsupported':
      return type;
    default:
      break;
  }
  const counted = await countPages(bytes, type);
  if (typeof counted !== 'number') return counted;
  if (counted > pagesMax) return tooManyPages(counted, pagesMax);
  return { kind: 'open', bytes, type, pages: counted };
}

async function countPages(bytes: Buffer, type: Readable): Promise<number | ParseFailure> {
  if (type.kind === 'text') return pagesOf({ by: 'characters', characters: charactersIn(type.text) });
  const inspected = await inspectPdf(bytes);
  return inspected.kind === 'ok' ? pagesOf({ by: 'pages', pages: inspected.pages }) : inspected;
}

const tooManyPages = (pages: number, pagesMax: number): ParseFailure => ({
  kind: 'too_many_pages',
  pages,
  pagesMax,
  detail: `The document has ${pages} pages; at most ${pagesMax} are read at once.`,
});
