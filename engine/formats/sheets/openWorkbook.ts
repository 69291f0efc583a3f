import { read, utils, type WorkBook, type WorkSheet } from '@e965/xlsx';
import { zipSync } from 'fflate';
import { blocksOf, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { plainRun } from '../pieces/runs.ts';
import { compoundStreams } from '../pieces/compoundFile.ts';
import { shownText, type ReadCell } from './cellTexts.ts';
import { formulaReader, uncomputedFormulas, type CellValue } from './formulas.ts';
import { drawingsBySheet, sheetParts, type PlacedDrawing, type SheetTexts } from './sheetTables.ts';
import { readPart, relationshipsOf } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { unzip, type Archive } from '../pieces/archive.ts';
import type { OpenedDocument, Opener } from '../pieces/opened.ts';
import {
  CELLS_MAX,
  characterAllowance,
  DAMAGED_WORKBOOK,
  openSheets,
  readSheets,
  TooManyCells,
  type Workbook,
} from './openSheets.ts';

/** Records of a workbook stream (MS-XLS). */
const BEGIN = 0x0809;
const SHEET = 0x0085;
const TEXT_OBJECT = 0x01b6;
const CONTINUED = 0x003c;
const BIFF8 = 0x0600;
const TEXT_LENGTH_AT = 10;
const BOXES_MAX = 1000;

interface XlsRecord {
  readonly type: number;
  readonly at: number;
  readonly data: Buffer;
}

/** The records of a workbook stream, in order. */
function* recordsOf(stream: Buffer): Generator<XlsRecord> {
  for (let at = 0; at + 4 <= stream.length;) {
    const length = stream.readUInt16LE(at + 2);
    yield { type: stream.readUInt16LE(at), at, data: stream.subarray(at + 4, at + 4 + length) };
    at += 4 + length;
  }
}

/** The texts of the boxes of an Excel 97 to 2003 workbook by sheet name. They follow the sheet's cells. */
export function xlsTextBoxes(bytes: Buffer): ReadonlyMap<string, readonly PlacedDrawing[]> {
  try {
    const streamOf = compoundStreams(bytes);
    return textBoxesIn(streamOf('Workbook') ?? Buffer.alloc(0));
  } catch (error) {
    if (error instanceof RefusedDocument || error instanceof RangeError) return new Map();
    throw error;
  }
}

interface Boxes {
  /** Sheet names by where their own records begin. */
  readonly names: Map<number, string>;
  readonly texts: Map<string, string[]>;
  sheet: string;
  /** Characters of the text that is being read that are still to come. */
  left: number;
  count: number;
}

function textBoxesIn(stream: Buffer): ReadonlyMap<string, readonly PlacedDrawing[]> {
  const boxes: Boxes = { names: new Map(), texts: new Map(), sheet: '', left: 0, count: 0 };
  for (const record of recordsOf(stream)) {
    if (record.type === BEGIN && record.data.readUInt16LE(0) !== BIFF8) return new Map();
    if (record.type === CONTINUED) goOn(boxes, record.data);
    else begin(boxes, record);
  }
  const drawingOf = (texts: readonly string[]): PlacedDrawing => ({
    row: Infinity,
    blocks: blocksOf(texts.map(pieceOf)),
  });
  return new Map([...boxes.texts].map(([name, texts]) => [name, [drawingOf(texts)]]));
}

function begin(boxes: Boxes, { type, at, data }: XlsRecord): void {
  boxes.left = 0;
  if (type === SHEET) boxes.names.set(data.readUInt32LE(0), sheetName(data));
  if (type === BEGIN) boxes.sheet = boxes.names.get(at) ?? boxes.sheet;
  if (type !== TEXT_OBJECT || data.readUInt16LE(TEXT_LENGTH_AT) === 0 || boxes.count >= BOXES_MAX) return;
  boxes.left = data.readUInt16LE(TEXT_LENGTH_AT);
  boxes.count += 1;
  boxTextsOf(boxes.texts, boxes.sheet).push('');
}

/** The characters of a text follow its record, in as many others as they need. */
function goOn(boxes: Boxes, data: Buffer): void {
  if (boxes.left === 0 || data.length === 0) return;
  const text = charactersIn(data).slice(0, boxes.left);
  boxes.left -= text.length;
  const own = boxTextsOf(boxes.texts, boxes.sheet);
  own.push((own.pop() ?? '') + text);
}

function boxTextsOf(texts: Map<string, string[]>, sheet: string): string[] {
  const own = texts.get(sheet) ?? [];
  texts.set(sheet, own);
  return own;
}

/** A short text: its length, whether its characters have two bytes, and they. */
function sheetName(data: Buffer): string {
  const length = data.readUInt8(6);
  return charactersIn(data.subarray(7)).slice(0, length);
}

const charactersIn = (data: Buffer): string =>
  (data.readUInt8(0) & 1) === 0 ? data.toString('latin1', 1) : data.toString('utf16le', 1);

const pieceOf = (text: string): Piece => ({
  kind: 'text',
  role: { kind: 'paragraph' },
  label: null,
  runs: [plainRun(text.replace(/\r\n?/g, '\n'))],
});

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
      workbookIn(packedAgain(members), {
        drawings: drawingsBySheet(members),
        formulas: uncomputedIn(members),
        sentBytes: bytes.length,
      }),
    ),
  );
};

/** The sheets of a workbook of Excel 2007 and later, with what their cells show. */
export function workbookOf(bytes: Buffer): Workbook | ParseFailure {
  const parts = partsOf(bytes);
  if (parts.kind === 'unreadable') return parts;
  const { members } = parts;
  const beside = { drawings: new Map(), formulas: uncomputedIn(members), sentBytes: bytes.length };
  return readSheets(() => workbookIn(packedAgain(members), beside), detailOf);
}

/** Opens a workbook of Excel 97 to 2003, as `openXlsx` does. */
export const openXls: Opener = ({ bytes }) =>
  Promise.resolve(
    opened('application/vnd.ms-excel', () =>
      workbookIn(boundedStream(bytes) ?? bytes, {
        drawings: xlsTextBoxes(bytes),
        formulas: new Map(),
        sentBytes: bytes.length,
      }),
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

/** What SheetJS does not read of a workbook: its drawings, and formulas that have no value, by sheet. */
interface Beside {
  readonly drawings: ReadonlyMap<string, readonly PlacedDrawing[]>;
  readonly formulas: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly sentBytes: number;
}

/** Cells show what they were saved with, and are computed only where nothing was saved. */
function workbookIn(bytes: Buffer, { drawings, formulas, sentBytes }: Beside): Workbook {
  const book = read(bytes, {
    dense: false,
    cellFormula: false,
    cellHTML: false,
    cellNF: true,
    cellDates: true,
    sheetRows: 0,
    UTC: true,
  });
  const count = characterAllowance(sentBytes);
  const notComputed = fillFormulas(book, formulas);
  const sheets = visibleSheets(book).map(({ name, sheet }) => ({
    name,
    texts: textsOf(sheet, count),
    drawings: drawings.get(name) ?? [],
  }));
  return { sheets, hasHidden: sheets.length < book.SheetNames.length, notComputed };
}

/** Gives cells with formulas alone what these come to, and says which are left. */
function fillFormulas(book: WorkBook, formulas: Beside['formulas']): readonly string[] {
  if (formulas.size === 0) return [];
  const compute = formulaReader({
    formulaAt: (sheet, address) => formulas.get(sheet)?.get(address),
    valueAt: (sheet, address) => countedValue(book.Sheets[sheet], address),
  });
  const left = visibleSheets(book).flatMap(({ name, sheet }) =>
    [...(formulas.get(name)?.keys() ?? [])].map((address) => ({ name, sheet, address })),
  );
  // Long chains of formulas are computed from their beginning, which the first round reaches.
  const isLeft = ({ name, sheet, address }: (typeof left)[number]): boolean => {
    const value = compute(name, address);
    if (value !== undefined) Object.assign(sheet, { [address]: { w: String(value) } });
    return value === undefined;
  };
  const isNamed = book.SheetNames.length > 1;
  return left
    .filter(isLeft)
    .filter(isLeft)
    .map(({ name, address }) => (isNamed ? `${name}!${address}` : address));
}

/** Days are no numbers to whoever sees them. */
function countedValue(sheet: WorkSheet | undefined, address: string): CellValue {
  const cell = sheet?.[address] as ReadCell | undefined;
  if (sheet === undefined || cell?.v instanceof Date) return undefined;
  return typeof cell?.v === 'number' || typeof cell?.v === 'string' ? cell.v : null;
}

/** Formulas without a value, by the names of their sheets. */
function uncomputedIn(members: ReadonlyMap<string, Uint8Array>): Beside['formulas'] {
  const parts = sheetParts(members);
  const found = [...parts].map(
    ([name, part]) => [name, uncomputedFormulas(members.get(part) ?? new Uint8Array())] as const,
  );
  return new Map(found.filter(([, formulas]) => formulas.size > 0));
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
    const text = shownText(sheet[address] as ReadCell);
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
