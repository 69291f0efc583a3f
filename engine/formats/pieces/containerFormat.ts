import { unzip } from './archive.ts';
import { RefusedDocument } from './blocks.ts';
import { compoundIn } from './compoundFile.ts';
import type { Format, Sniffed } from './opened.ts';

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
