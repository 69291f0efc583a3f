import { fileTypeFromBuffer } from 'file-type';
import type { Format, Sniffed } from './pieces/opened.ts';
import { isTnef } from './mail/openTnef.ts';
import { envelopeIn } from './mail/sealed.ts';
import { compoundIn } from './doc/compoundFile.ts';
import { unzip } from './pieces/archive.ts';
import { RefusedDocument } from './pieces/blocks.ts';
import { decodeText, hasByteOrderMark, isUtf8 } from './text/textDocument.ts';

type TextFormat = Extract<
  Format,
  'rtf' | 'eml' | 'vcf' | 'ics' | 'html' | 'csv' | 'markdown' | 'xml' | 'text'
>;

/** Of texts the name decides where it is telling; else what the text begins with. */
function textFormat(text: string, fileName: string | null): TextFormat {
  const start = text.slice(0, 4096).trimStart();
  if (start.startsWith('{\\rtf')) return 'rtf';
  if (/^BEGIN:VCARD\s/i.test(start)) return 'vcf';
  if (/^BEGIN:VCALENDAR\s/i.test(start)) return 'ics';
  if (isMail(start, fileName)) return 'eml';
  if (isHtml(start, fileName)) return 'html';
  if (isXml(start, fileName)) return 'xml';
  return namedFormat(text, fileName ?? '');
}

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

const MANIFEST_LIMITS = { bytesMax: 4 * 1024 * 1024, membersMax: 10_000 };
const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
const COMPOUND = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);

/** The formats inside ZIP archives and compound files; undefined when the bytes are neither. */
export function containerFormat(bytes: Uint8Array, fileName: string | null): Sniffed | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 4).equals(ZIP)) return zipFormat(buffer, fileName);
  if (buffer.subarray(0, 8).equals(COMPOUND)) return compoundFormat(buffer);
  return undefined;
}

/** What OpenDocument files and books declare; templates have the same types with an ending. */
const DECLARED: readonly (readonly [string, Format])[] = [
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/epub+zip', 'epub'],
];

/** The main part of each format, in the order in which they are looked for. */
const MAIN_PARTS: readonly (readonly [string, Format])[] = [
  ['word/document', 'docx'],
  ['xl/workbook', 'xlsx'],
  ['ppt/presentation', 'pptx'],
  ['META-INF/container.xml', 'epub'],
];

/** Told by what the file declares, else by its members' names. */
function zipFormat(buffer: Buffer, fileName: string | null): Sniffed {
  const declared = declaredTypes(buffer);
  for (const [type, format] of DECLARED) if (declared.includes(type)) return knownAs(format);
  const has = memberTest(buffer);
  for (const [part, format] of MAIN_PARTS) if (has(part)) return knownAs(format);
  if (/\.(?:docx|xlsx|pptx|odt|ods|odp|epub)$/i.test(fileName ?? ''))
    return {
      kind: 'damaged',
      detail: 'The file is named like an Office document, but it is damaged or something else.',
    };
  return {
    kind: 'unsupported',
    detail: 'An archive cannot be read. Unpack it and send each document by itself.',
  };
}

/**
 * By the directory, for a file may hold others whose names stand in plain in it; where the directory is
 * gone, as in a file that was cut, by what stands in plain.
 */
function memberTest(buffer: Buffer): (part: string) => boolean {
  const names: string[] = [];
  const archive = unzip(buffer, (name) => names.push(name) === 0, MANIFEST_LIMITS);
  if (archive.kind !== 'archive') return (part) => buffer.includes(part);
  return (part) => names.some((name) => name.startsWith(part));
}

/** What an OpenDocument says of itself: in its first member, as it should, or in its manifest. */
function declaredTypes(buffer: Buffer): string {
  if (buffer.subarray(30, 38).toString('latin1') === 'mimetype') return buffer.toString('latin1', 38, 120);
  if (!buffer.includes('META-INF/manifest.xml')) return '';
  const archive = unzip(
    buffer,
    (name) => name === 'META-INF/manifest.xml' || name === 'mimetype',
    MANIFEST_LIMITS,
  );
  if (archive.kind !== 'archive') return '';
  return [...archive.members.values()].map((member) => Buffer.from(member).toString('latin1')).join(' ');
}

/**
 * By the names in the directory, for any text may hold the same words; where the directory is gone, as in a file that
 * was cut, by what stands in plain.
 */
function compoundNames(buffer: Buffer): (name: string) => boolean {
  try {
    const { names } = compoundIn(buffer);
    if (names.size > 0) return (name) => names.has(name.toLowerCase());
  } catch (error) {
    if (!(error instanceof RefusedDocument || error instanceof RangeError)) throw error;
  }
  return (name) =>
    [name, name.toUpperCase(), name.toLowerCase()].some((one) =>
      buffer.includes(Buffer.from(`${one}\0`, 'utf16le')),
    );
}

/** The formats inside compound files by a stream that each has. */
function compoundFormat(buffer: Buffer): Sniffed {
  const holds = compoundNames(buffer);
  if (holds('EncryptedPackage'))
    return { kind: 'damaged', detail: 'The file is encrypted and needs a password. Send it without one.' };
  if (holds('WordDocument')) return knownAs('doc');
  if (holds('Workbook') || holds('Book')) return knownAs('xls');
  if (holds('__properties_version1.0')) return knownAs('msg');
  return {
    kind: 'unsupported',
    detail: 'An Office file of this kind cannot be read. Save it as PDF and send that.',
  };
}

const knownAs = (format: Format): Sniffed => ({ kind: 'known', format, text: undefined });

/** A PDF may begin with up to so much else (ISO 32000, annex H). */
const PDF_HEADER_WITHIN = 1024;
export const SUPPORTED =
  'PDF, PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF, DOCX, DOC, ODT, RTF, PPTX, ODP, XLSX, XLS, ODS, CSV, TSV, EPUB, EML, ' +
  'MSG, TNEF, P7M, VCF, ICS, HTML, Markdown or plain text';

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
