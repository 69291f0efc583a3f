import { isOverfull, PAGE_CHARACTERS_MAX, chosenPages, PAGE_NUMBER_MAX } from '../document/pages.ts';
import type { Format, OpenedDocument, Opener, SourceFile } from './pieces/opened.ts';
import { openImage } from './images/openImage.ts';
import { openDoc } from './doc/openDoc.ts';
import { openDocx } from './docx/openDocx.ts';
import { openOdt } from './odt/openOdt.ts';
import { openRtf } from './rtf/openRtf.ts';
import { openIcs, openVcf } from './text/records.ts';
import { openPdf } from './pdf/readPdf.ts';
import { openEpub } from './text/openEpub.ts';
import { openMail } from './mail/openMail.ts';
import { openMsg } from './mail/openMsg.ts';
import { openTnef } from './mail/openTnef.ts';
import { openCsv } from './sheets/openCsv.ts';
import { openOds } from './sheets/openOds.ts';
import { openXls, openXlsx } from './sheets/openWorkbook.ts';
import { openOdp } from './slides/openSlides.ts';
import { openPptx } from './slides/openPptx.ts';
import { openHtml } from './text/html.ts';
import { openOfx } from './text/openOfx.ts';
import { openXml } from './text/openXml.ts';
import { markdownDocument } from './text/markdownDocument.ts';
import { textDocument } from './text/textDocument.ts';
import { openedFlow } from './pieces/flow.ts';
import type { Inspection, ParseFailure, ParseResult } from '../ports/documentParser.ts';
import type { ReceivedFile } from './pieces/received.ts';
import { sniff, SUPPORTED } from './sniff.ts';
import { contentOfEnvelope, envelopeIn, isMailPart } from './mail/sealed.ts';

const DEPTH_MAX = 5;

const failure = (detail: string): Promise<ParseFailure> => Promise.resolve({ kind: 'unreadable', detail });

/** Opens the file that another one signs (`invoice.pdf.p7m`), as if it came by itself. */
const openSealed: Opener = (file) => {
  const envelope = envelopeIn(file.bytes);
  const content = envelope === undefined ? undefined : contentOfEnvelope(envelope);
  if (content === 'encrypted') return failure('The file is encrypted. Send it decrypted.');
  if (content === undefined)
    return failure('The file is a signature alone, without what it signs. Send that.');
  if (file.depth > DEPTH_MAX) return failure('The file is in too many envelopes.');
  const name = (file.fileName ?? '').replace(/\.p7[ms]$/i, '');
  const fileName = isMailPart(content) ? `${name}.eml` : name === '' ? null : name;
  return file.openPart({ bytes: content, fileName });
};

/** How each format is opened. A format without an opener is told apart, and refused. */
const OPENERS: Readonly<Partial<Record<Format, Opener>>> = {
  pdf: openPdf,
  png: openImage('png'),
  jpeg: openImage('jpeg'),
  webp: openImage('webp'),
  gif: openImage('gif'),
  bmp: openImage('bmp'),
  tiff: openImage('tiff'),
  avif: openImage('avif'),
  doc: openDoc,
  docx: openDocx,
  odt: openOdt,
  xlsx: openXlsx,
  xls: openXls,
  ods: openOds,
  csv: openCsv,
  eml: openMail,
  msg: openMsg,
  tnef: openTnef,
  p7m: openSealed,
  pptx: openPptx,
  odp: openOdp,
  epub: openEpub,
  vcf: openVcf,
  ics: openIcs,
  ofx: openOfx,
  html: openHtml,
  xml: openXml,
  rtf: openRtf,
  markdown: ({ text = '' }) => Promise.resolve(openedFlow(markdownDocument(text))),
  text: ({ text = '' }) => Promise.resolve(openedFlow(textDocument(text))),
};

/** Opens a file, or gives what is open of it already. */
export type OpenFile = (file: ReceivedFile) => Promise<OpenedDocument | ParseFailure>;

/** Type and page count. */
export async function inspectFile(file: ReceivedFile, open: OpenFile): Promise<Inspection> {
  const opened = await open(file);
  if (opened.kind !== 'open') return opened;
  const { mimeType, pages, chosen } = opened;
  return { kind: 'ok', mimeType, pages, total: chosen?.total ?? pages };
}

/** The whole document. The page cap is checked before the pages are read. */
export async function readFileAsDocument(
  file: ReceivedFile,
  open: OpenFile = openFile,
): Promise<ParseResult> {
  const opened = await open(file);
  if (opened.kind !== 'open') return opened;
  const read = await opened.read();
  if (read.kind !== 'ok') return read;
  const { pages } = read.document;
  const isTooMuch = isOverfull(
    pages.flatMap(({ blocks }) => blocks),
    pages.length,
  );
  return isTooMuch ? tooFull : read;
}

const tooFull: ParseFailure = {
  kind: 'unreadable',
  detail: `The document has more than ${PAGE_CHARACTERS_MAX} characters a page, and is not read.`,
};

/** The type and the pages of a file; the page cap is checked, nothing is read yet. */
export async function openFile({
  pages: choice,
  ...file
}: ReceivedFile): Promise<OpenedDocument | ParseFailure> {
  if (choice === undefined) return openBytes({ ...file, depth: 0 });
  const opened = await openBytes({ ...file, pagesMax: PAGE_NUMBER_MAX, depth: 0 });
  return opened.kind === 'open' ? chosenOf(opened, choice, file.pagesMax) : opened;
}

/** The chosen pages of a document, under their numbers. The page cap is theirs alone. */
function chosenOf(whole: OpenedDocument, choice: string, pagesMax: number): OpenedDocument | ParseFailure {
  const { pages: total, mimeType } = whole;
  const chosen = chosenPages(choice, total);
  if (chosen.kind !== 'pages') return chosen;
  const { numbers } = chosen;
  if (numbers.length > pagesMax) return tooManyPages(numbers.length, pagesMax);
  const wanted = new Set(numbers);
  return {
    kind: 'open',
    mimeType,
    pages: numbers.length,
    chosen: { numbers, total },
    read: async () => {
      const read = await whole.read(numbers);
      if (read.kind !== 'ok') return read;
      const pages = read.document.pages.filter(({ page }) => wanted.has(page));
      return { kind: 'ok', document: { ...read.document, pages } };
    },
  };
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
