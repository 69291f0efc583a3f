import { read, utils, type WorkBook, type WorkSheet } from '@e965/xlsx';
import { zipSync } from 'fflate';
import { compoundStreams } from '../doc/compoundFile.ts';
import { readPart, relationshipsOf } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';
import { RefusedDocument } from '../pieces/blocks.ts';
import { recordsOf, xlsTextBoxes } from './xlsTextBoxes.ts';
import { cleanText, oneLine } from '../../document/plainText.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { unzip, type Archive } from '../pieces/archive.ts';
import type { OpenedDocument, Opener } from '../pieces/opened.ts';
import { drawingsBySheet, type PlacedDrawing, type SheetTexts } from './sheetTables.ts';
import {
  CELLS_MAX,
  characterAllowance,
  DAMAGED_WORKBOOK,
  openSheets,
  TooManyCells,
  type Workbook,
} from './openSheets.ts';

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
function boundedMembers(members: Members): Readonly<Record<string, Uint8Array>> {
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
function boundedStream(file: Buffer): Buffer | undefined {
  const streamOf = compoundStreams(file);
  const stream = streamOf('Workbook') ?? streamOf('Book');
  if (stream === undefined) return undefined;
  const bytes = Buffer.from(stream);
  for (const { type, at } of recordsOf(stream)) if (OLD_LINKS.has(type)) bytes.writeUInt16LE(NOTHING, at);
  return bytes;
}

/** Opens a workbook of Excel 2007 and later: a page for each sheet that has something to show. */
export const openXlsx: Opener = ({ bytes }) => {
  const parts = partsOf(bytes);
  if (parts.kind === 'unreadable') return Promise.resolve(parts);
  const { members } = parts;
  return Promise.resolve(
    opened('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', () =>
      workbookIn(packedAgain(members), drawingsBySheet(members), bytes.length),
    ),
  );
};

/** Opens a workbook of Excel 97 to 2003, as `openXlsx` does. */
export const openXls: Opener = ({ bytes }) =>
  Promise.resolve(
    opened('application/vnd.ms-excel', () =>
      workbookIn(boundedStream(bytes) ?? bytes, xlsTextBoxes(bytes), bytes.length),
    ),
  );

const opened = (mimeType: string, read: () => Workbook): OpenedDocument | ParseFailure =>
  openSheets({ mimeType, read, detailOf });

/** Refused when grown beyond the cap, or with a document type, which no workbook has and entity bombs need. */
function partsOf(bytes: Buffer): Archive {
  const archive = unzip(bytes, (name) => /\.(?:xml|rels|bin|vml)$/i.test(name));
  if (archive.kind === 'unreadable') return archive;
  for (const member of archive.members.values())
    if (Buffer.from(member.subarray(0, 1024)).includes('<!DOCTYPE'))
      return { kind: 'unreadable', detail: 'The workbook has a document type declaration, and is not read.' };
  return archive;
}

/**
 * The parts in an archive without compression. SheetJS unpacks every member, wanted or not, with an inflater
 * of its own, which knows no bound and does not come back from some damaged data: so it is given none to unpack.
 */
const packedAgain = (members: ReadonlyMap<string, Uint8Array>): Buffer =>
  Buffer.from(zipSync(boundedMembers(members), { level: 0 }).buffer);

/** Formulas are not computed: cells show what they were saved with. */
function workbookIn(
  bytes: Buffer,
  drawings: ReadonlyMap<string, readonly PlacedDrawing[]>,
  sentBytes: number,
): Workbook {
  const book = read(bytes, {
    dense: false,
    cellFormula: false,
    cellHTML: false,
    cellDates: true,
    sheetRows: 0,
    UTC: true,
  });
  const count = characterAllowance(sentBytes);
  const sheets = visibleSheets(book).map(({ name, sheet }) => ({
    name,
    texts: textsOf(sheet, count),
    drawings: drawings.get(name) ?? [],
  }));
  return { sheets, hasHidden: sheets.length < book.SheetNames.length };
}

const detailOf = (error: unknown): string =>
  // eslint-disable-next-line house/no-telling-errors-by-text -- SheetJS throws plain errors; becomes a ParseFailure
  error instanceof Error && /password|encrypt/i.test(error.message)
    ? 'The workbook is encrypted and needs a password. Send it without one.'
    : DAMAGED_WORKBOOK;

const visibleSheets = (book: WorkBook): readonly { readonly name: string; readonly sheet: WorkSheet }[] =>
  book.SheetNames.flatMap((name, index) => {
    const sheet = book.Sheets[name];
    const hidden = (book.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0;
    return sheet === undefined || hidden ? [] : [{ name, sheet }];
  });

/** Only filled cells are looked at: a sheet may claim to be as large as it likes. */
function textsOf(sheet: WorkSheet, count: (characters: number) => void): SheetTexts {
  const rows = new Map<number, Map<number, string>>();
  let cells = 0;
  for (const address of Object.keys(sheet)) {
    if (address.startsWith('!')) continue;
    const text = shownText(sheet[address] as { readonly w?: string; readonly v?: unknown });
    if (text === '') continue;
    cells += 1;
    if (cells > CELLS_MAX) throw new TooManyCells();
    count(text.length + 1);
    const { r, c } = utils.decode_cell(address);
    const row = rows.get(r);
    if (row === undefined) rows.set(r, new Map([[c, text]]));
    else row.set(c, text);
  }
  const merges = (sheet['!merges'] ?? []).map(({ s, e }) => ({
    row: s.r,
    column: s.c,
    rows: e.r - s.r + 1,
    columns: e.c - s.c + 1,
  }));
  return { rows, merges };
}

/** As the workbook shows it: dates, percents and currencies by their formats. */
function shownText({ w, v }: { readonly w?: string; readonly v?: unknown }): string {
  if (w !== undefined) return oneLine(cleanText(w));
  if (v instanceof Date) return v.toISOString().slice(0, 10);
  if (typeof v === 'string') return oneLine(cleanText(v));
  return typeof v === 'number' || typeof v === 'boolean' ? String(v) : '';
}
