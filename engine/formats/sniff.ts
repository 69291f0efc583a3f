import { fileTypeFromBuffer } from 'file-type';
import type { Format, Sniffed } from './pieces/opened.ts';
import { isTnef } from './mail/openTnef.ts';
import { envelopeIn } from './mail/sealed.ts';
import { containerFormat } from './pieces/containerFormat.ts';
import { decodeText, hasByteOrderMark, isUtf8 } from './text/textDocument.ts';

type TextFormat = Extract<
  Format,
  'rtf' | 'eml' | 'vcf' | 'ics' | 'ofx' | 'html' | 'csv' | 'markdown' | 'xml' | 'text'
>;

/** Of texts the name decides where it is telling; else what the text begins with. */
function textFormat(text: string, fileName: string | null): TextFormat {
  const start = text.slice(0, 4096).trimStart();
  if (start.startsWith('{\\rtf')) return 'rtf';
  if (/^BEGIN:VCARD\s/i.test(start)) return 'vcf';
  if (/^BEGIN:VCALENDAR\s/i.test(start)) return 'ics';
  if (isOfx(start)) return 'ofx';
  if (isMail(start, fileName)) return 'eml';
  if (isHtml(start, fileName)) return 'html';
  if (isXml(start, fileName)) return 'xml';
  return namedFormat(text, fileName ?? '');
}

/** Its header names it, or its outermost element does (Open Financial Exchange, in SGML or XML). */
const isOfx = (start: string): boolean => /^(?:OFXHEADER:|(?:<\?[^>]*>\s*)*<OFX>)/i.test(start);

const isXml = (start: string, fileName: string | null): boolean =>
  start.startsWith('<?xml') || (/\.xml$/i.test(fileName ?? '') && start.startsWith('<'));

function namedFormat(text: string, name: string): TextFormat {
  if (/\.(?:md|markdown|mdown|mkd)$/i.test(name)) return 'markdown';
  if (/\.(?:csv|tsv|tab)$/i.test(name) || isTabbed(text)) return 'csv';
  return 'text';
}

const HEADER = /^[A-Za-z][A-Za-z\d-]{1,60}:[ \t]?\S?/;
const MAIL_HEADERS =
  /^(?:from|to|received|return-path|delivered-to|mime-version|message-id|subject|date|content-type)\s*:/gim;
const FIRST_HEADERS = /^(?:from|received|return-path|mime-version|message-id)\s*:/im;

/** A mail begins with header lines, of which at least two are known; named so, one will do. */
function isMail(start: string, fileName: string | null): boolean {
  const [head = ''] = start.split(/\n[ \t]*\n/, 1);
  const lines = head.split('\n').filter((line) => !/^[ \t]/.test(line));
  if (lines.length === 0 || !lines.every((line, i) => HEADER.test(line) || (i === 0 && /^From /.test(line))))
    return false;
  const named = /\.(?:eml|mht|mhtml|p7m)$/i.test(fileName ?? '');
  const hits = new Set(head.match(MAIL_HEADERS)?.map((hit) => hit.toLowerCase().replace(/\s/g, ''))).size;
  return hits >= (named ? 1 : 3) && (FIRST_HEADERS.test(head) || (named && /^content-type\s*:/im.test(head)));
}

const isHtml = (start: string, fileName: string | null): boolean =>
  /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(start) ||
  (/\.(?:html?|xhtml)$/i.test(fileName ?? '') && /<[a-z][^>]*>/i.test(start));

const SAMPLE_CHARACTERS = 16_384;
const TABBED_LINES_MIN = 3;
const TABBED_COLUMNS_MIN = 3;

/**
 * A text is a table where tabs part each of its lines into the same columns, and each column has a name. Two
 * columns are not enough: so are labels before their values.
 */
function isTabbed(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARACTERS).split('\n');
  const whole = text.length > SAMPLE_CHARACTERS ? sample.slice(0, -1) : sample;
  const lines = whole.filter((line) => line.trim() !== '').map((line) => line.split('\t'));
  const [header = []] = lines;
  return (
    lines.length >= TABBED_LINES_MIN &&
    header.length >= TABBED_COLUMNS_MIN &&
    header.every((name) => name.trim() !== '') &&
    lines.every((cells) => cells.length === header.length)
  );
}

/** A PDF may begin with up to so much else (ISO 32000, annex H). */
const PDF_HEADER_WITHIN = 1024;
export const SUPPORTED =
  'PDF, PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF, DOCX, DOC, ODT, RTF, PPTX, ODP, XLSX, XLS, ODS, CSV, TSV, EPUB, EML, ' +
  'MSG, TNEF, P7M, VCF, ICS, OFX, HTML, Markdown or plain text';

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
  if (isTnef(Buffer.from(bytes.subarray(0, 8)))) return known('tnef');
  if (envelopeIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) !== undefined)
    return known('p7m');
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
