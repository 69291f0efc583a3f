import { charactersIn, pagesOf } from '../document/pages.ts';
import type { Document } from '../document/document.ts';
import type { Format, OpenedDocument, Opener, SourceFile } from './opened.ts';
import { openImage } from './images/openImage.ts';
import { openDoc } from './doc/openDoc.ts';
import { openDocx } from './docx/openDocx.ts';
import { openOdt } from './odt/openOdt.ts';
import { openRtf } from './rtf/openRtf.ts';
import { openIcs } from './records/openIcs.ts';
import { openVcf } from './records/openVcf.ts';
import { openPdf } from './pdf/readPdf.ts';
import { openEpub } from './epub/openEpub.ts';
import { openMail } from './mail/openMail.ts';
import { openMsg } from './mail/openMsg.ts';
import { openCsv } from './sheets/openCsv.ts';
import { openOds } from './sheets/openOds.ts';
import { openXls, openXlsx } from './sheets/openWorkbook.ts';
import { openOdp } from './slides/openOdp.ts';
import { openPptx } from './slides/openPptx.ts';
import { openHtml } from './web/openHtml.ts';
import { markdownDocument } from './text/markdownDocument.ts';
import { textDocument } from './text/textDocument.ts';

const openText =
  (read: (text: string, pages: number) => Document) =>
  ({ text = '' }: SourceFile): Promise<OpenedDocument> => {
    const pages = pagesOf({ by: 'characters', characters: charactersIn(text) });
    const document = read(text, pages);
    return Promise.resolve({
      kind: 'open',
      mimeType: document.mimeType,
      pages,
      read: () => Promise.resolve({ kind: 'ok', document }),
    });
  };

/** How each format is opened. A format without an opener is told apart, and refused. */
export const OPENERS: Readonly<Partial<Record<Format, Opener>>> = {
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
  pptx: openPptx,
  odp: openOdp,
  epub: openEpub,
  vcf: openVcf,
  ics: openIcs,
  html: openHtml,
  rtf: openRtf,
  markdown: openText(markdownDocument),
  text: openText(textDocument),
};
