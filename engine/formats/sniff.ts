import { fileTypeFromBuffer } from 'file-type';
import type { Format, Sniffed } from './opened.ts';
import { decodeText, hasByteOrderMark, isUtf8 } from './text/decodeText.ts';
import { containerFormat } from './containers.ts';
import { textFormat } from './textFormat.ts';

/** A PDF may begin with up to so much else (ISO 32000, annex H). */
const PDF_HEADER_WITHIN = 1024;
export const SUPPORTED =
  'PDF, PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF, DOCX, DOC, ODT, RTF, PPTX, ODP, XLSX, XLS, ODS, CSV, TSV, EPUB, EML, ' +
  'MSG, VCF, ICS, HTML, Markdown or plain text';

const BY_MIME: Readonly<Record<string, Format>> = {
  'image/png': 'png',
  'image/apng': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/avif': 'avif',
};

/** Pictures of phones, in an encoding that is patented: no reader of it is shipped. */
const HEIC = /^image\/hei[cf](?:-sequence)?$/;

/** The type is told from the bytes; the name only says which kind of text a text is. */
export async function sniff(bytes: Uint8Array, fileName: string | null): Promise<Sniffed> {
  if (bytes.length === 0) return { kind: 'empty' };
  if (Buffer.from(bytes.subarray(0, PDF_HEADER_WITHIN)).includes('%PDF-')) return known('pdf');
  const container = containerFormat(bytes, fileName);
  if (container !== undefined) return container;
  return (await byMagic(bytes)) ?? textual(bytes, fileName);
}

async function byMagic(bytes: Uint8Array): Promise<Sniffed | undefined> {
  const type = hasByteOrderMark(bytes) ? undefined : await fileTypeFromBuffer(bytes);
  if (
    type === undefined ||
    type.mime.startsWith('text/') ||
    type.mime === 'application/xml' ||
    type.mime === 'application/rtf'
  )
    return undefined;
  const format = BY_MIME[type.mime];
  if (format !== undefined) return known(format);
  if (HEIC.test(type.mime))
    return {
      kind: 'unsupported',
      detail:
        'A HEIC picture cannot be read, for its encoding is patented. Save it as JPEG or PNG and send that.',
    };
  return { kind: 'unsupported', detail: `A file of type ${type.mime} cannot be read. Send ${SUPPORTED}.` };
}

/** A file that is named for its pictures or pages is a text only when its bytes are plainly one. */
function textual(bytes: Uint8Array, fileName: string | null): Sniffed {
  const text = decodeText(bytes);
  const [, extension] = BINARY_NAME.exec(fileName ?? '') ?? [];
  if (text === undefined) return notText(extension);
  if (text.trim() === '') return { kind: 'empty' };
  const format = textFormat(text, fileName);
  // Web pages and tables are often named for the program that is to show them, in whatever encoding.
  if (extension !== undefined && format === 'text' && !isUtf8(bytes)) return notText(extension);
  return known(format, text);
}

const BINARY_NAME = /\.(pdf|docx?|odt|xlsx?|ods|pptx|odp|epub|msg|png|jpe?g|webp|gif|bmp|tiff?|avif|heic)$/i;

const known = (format: Format, text?: string): Sniffed => ({ kind: 'known', format, text });

const notText = (extension: string | undefined): Sniffed =>
  extension === undefined
    ? { kind: 'unsupported', detail: `The file is of no type that can be read. Send ${SUPPORTED}.` }
    : {
        kind: 'damaged',
        detail: `The file is named like a ${extension.toUpperCase()}, but it has no ${extension.toUpperCase()} header.`,
      };
