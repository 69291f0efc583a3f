import { unzip } from './archive.ts';
import type { Format } from './opened.ts';
import type { Sniffed } from './sniff.ts';

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

/** Told by the members' names, which stand in plain in the local headers and in the directory at the end. */
function zipFormat(buffer: Buffer, fileName: string | null): Sniffed {
  const openDocument = /application\/vnd\.oasis\.opendocument\.(text|spreadsheet)/.exec(
    declaredTypes(buffer),
  )?.[1];
  if (openDocument !== undefined) return known(openDocument === 'text' ? 'odt' : 'ods');
  if (buffer.includes('word/document')) return known('docx');
  if (buffer.includes('xl/workbook')) return known('xlsx');
  if (/\.(?:docx|xlsx|odt|ods)$/i.test(fileName ?? ''))
    return {
      kind: 'damaged',
      detail: 'The file is named like an Office document, but it is damaged or something else.',
    };
  return {
    kind: 'unsupported',
    detail: 'An archive cannot be read. Unpack it and send each document by itself.',
  };
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

/** The names of a compound file's streams are UTF-16 in its directory. */
function compoundFormat(buffer: Buffer): Sniffed {
  const holds = (name: string): boolean => buffer.includes(Buffer.from(name, 'utf16le'));
  if (holds('EncryptedPackage'))
    return { kind: 'damaged', detail: 'The file is encrypted and needs a password. Send it without one.' };
  if (holds('WordDocument')) return known('doc');
  if (holds('Workbook') || holds('Book')) return known('xls');
  return {
    kind: 'unsupported',
    detail: 'An Office file of this kind cannot be read. Save it as PDF and send that.',
  };
}

const known = (format: Format): Sniffed => ({ kind: 'known', format, text: undefined });
