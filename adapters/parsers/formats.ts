import { charactersIn, pagesOf } from '../../domain/document/pages.ts';
import type { Document } from '../../domain/document/document.ts';
import type { Format, OpenedDocument, Opener, SourceFile } from './opened.ts';
import { openImage } from './images/openImage.ts';
import { openDoc } from './office/openDoc.ts';
import { openDocx } from './office/openDocx.ts';
import { openOdt } from './office/openOdt.ts';
import { openRtf } from './office/openRtf.ts';
import { openPdf } from './pdf/readPdf.ts';
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
  doc: openDoc,
  docx: openDocx,
  odt: openOdt,
  rtf: openRtf,
  markdown: openText(markdownDocument),
  text: openText(textDocument),
};
