import { compoundStreams } from '../doc/compoundFile.ts';
import { readPart, relationshipsOf } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';
import { RefusedDocument } from '../pieces/blocks.ts';
import { recordsOf } from './xlsTextBoxes.ts';

/*
 * SheetJS visits each cell of a link's range, up to 17 billion for a range of some bytes, and reads an archive with
 * the parts of another program as that one's. Links are not shown, so it is not given any.
 */

type Members = ReadonlyMap<string, Uint8Array>;

/** Parts by which SheetJS takes an archive for OpenDocument or UOF. */
const OF_OTHERS = /(?:^|[\\/])(?:META-INF[\\/]manifest|objectdata)\.xml$/i;
const LINK = /<((?:\w{1,64}:)?)hyperlink /g;

/** BrtHLink, as its two bytes (MS-XLSB). */
const BINARY_LINK = 0x01ee;
const RANGE_BYTES = 16;

/** The parts of a workbook in an archive, without links. */
export function boundedMembers(members: Members): Readonly<Record<string, Uint8Array>> {
  refuseRepeated(members);
  const own = [...members].filter(([name]) => !OF_OTHERS.test(name));
  return Object.fromEntries(own.map(([name, bytes]) => [name, withoutLinks(name, bytes)]));
}

const WORKBOOKS = ['xl/workbook.xml', 'xl/workbook.bin'];

/** SheetJS reads the part of each sheet, also where ten thousand sheets are one part. */
function refuseRepeated(members: Members): void {
  const parts = WORKBOOKS.flatMap((name) => relationshipsOf(members, name))
    .filter(({ type }) => type === 'worksheet')
    .map(({ target }) => target);
  const ids = elementsOf(childAt(readPart(members.get('xl/workbook.xml')), 'sheets'), 'sheet').map(
    ({ attributes }) => attributes['r:id'] ?? '',
  );
  for (const named of [parts, ids])
    if (new Set(named).size < named.length)
      throw new RefusedDocument('The workbook is damaged: several of its sheets are one part.');
}

function withoutLinks(name: string, bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (name.toLowerCase().endsWith('.bin')) return withoutBinaryLinks(buffer);
  if (!buffer.includes('hyperlink ')) return bytes;
  return Buffer.from(buffer.toString('latin1').replace(LINK, '<$1unlinked '), 'latin1');
}

/** A number of up to so many bytes, seven bits each. */
function packedAt(
  bytes: Buffer,
  at: number,
  bytesMax: number,
): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < bytesMax; index += 1) {
    const byte = bytes[at + index] ?? 0;
    value |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  return { value, next: at + bytesMax };
}

/** Each link lies over no cell: its range ends before it begins. */
function withoutBinaryLinks(part: Buffer): Buffer {
  const bytes = Buffer.from(part);
  for (let at = 0; at < bytes.length;) {
    const low = bytes[at] ?? 0;
    const type = low < 0x80 ? low : low - 0x80 + ((bytes[at + 1] ?? 0) << 7);
    const { value: length, next } = packedAt(bytes, at + (low < 0x80 ? 1 : 2), 4);
    if (type === BINARY_LINK && next + RANGE_BYTES <= bytes.length) emptyRange(bytes, next);
    at = next + length;
  }
  return bytes;
}

/** First row, last row, first column, last column. */
function emptyRange(bytes: Buffer, at: number): void {
  for (const [index, value] of [1, 0, 1, 0].entries()) bytes.writeUInt32LE(value, at + 4 * index);
}

const OLD_LINKS = new Set([0x01b8, 0x0800]);
/** A record that no program writes and every reader skips. */
const NOTHING = 0xfff0;

/** The stream of a workbook of Excel 97 to 2003 without links; undefined: there is none. */
export function boundedStream(file: Buffer): Buffer | undefined {
  const streamOf = compoundStreams(file);
  const stream = streamOf('Workbook') ?? streamOf('Book');
  if (stream === undefined) return undefined;
  const bytes = Buffer.from(stream);
  for (const { type, at } of recordsOf(stream)) if (OLD_LINKS.has(type)) bytes.writeUInt16LE(NOTHING, at);
  return bytes;
}
