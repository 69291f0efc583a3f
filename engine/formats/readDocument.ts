import type { Inspection, ParseFailure, ParseResult } from '../ports/documentParser.ts';
import { OPENERS } from './formats.ts';
import type { ReceivedFile } from '../isolation/jobs.ts';
import type { OpenedDocument, SourceFile } from './opened.ts';
import { sniff, SUPPORTED } from './sniff.ts';

/** Opens a file, or gives what is open of it already. */
export type OpenFile = (file: ReceivedFile) => Promise<OpenedDocument | ParseFailure>;

/** Type and page count. */
export async function inspectFile(file: ReceivedFile, open: OpenFile): Promise<Inspection> {
  const opened = await open(file);
  if (opened.kind !== 'open') return opened;
  const { mimeType, pages } = opened;
  return { kind: 'ok', mimeType, pages };
}

/** The whole document. The page cap is checked before the pages are read. */
export async function readFileAsDocument(
  file: ReceivedFile,
  open: OpenFile = openFile,
): Promise<ParseResult> {
  const opened = await open(file);
  return opened.kind === 'open' ? opened.read() : opened;
}

/** The type and the pages of a file; the page cap is checked, nothing is read yet. */
export function openFile(file: ReceivedFile): Promise<OpenedDocument | ParseFailure> {
  return openBytes({ ...file, depth: 0 });
}

type Bytes = Omit<SourceFile, 'text' | 'openPart'>;

/** Tells the type and counts the pages of a file, or of what is attached to one. */
async function openBytes(file: Bytes): Promise<OpenedDocument | ParseFailure> {
  const type = await sniff(file.bytes, file.fileName);
  if (type.kind === 'empty') return { kind: 'empty', detail: 'The file is empty.' };
  if (type.kind === 'damaged') return { kind: 'unreadable', detail: type.detail };
  if (type.kind === 'unsupported') return type;
  const open = OPENERS[type.format];
  if (open === undefined)
    return {
      kind: 'unsupported',
      detail: `A file of type ${type.format} cannot be read. Send ${SUPPORTED}.`,
    };
  const openPart: SourceFile['openPart'] = (part) => openBytes({ ...file, ...part, depth: file.depth + 1 });
  const opened = await open({ ...file, text: type.text, openPart });
  if (opened.kind === 'open' && opened.pages > file.pagesMax)
    return tooManyPages(opened.pages, file.pagesMax);
  return opened;
}

const tooManyPages = (pages: number, pagesMax: number): ParseFailure => ({
  kind: 'too_many_pages',
  pages,
  pagesMax,
  detail: `The document has ${pages} pages; at most ${pagesMax} are read at once.`,
});
