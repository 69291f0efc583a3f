import { blocksOf, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { plainRun } from '../pieces/runs.ts';
import { compoundStreams } from '../doc/compoundFile.ts';
import type { PlacedDrawing } from './sheetTables.ts';

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
export function* recordsOf(stream: Buffer): Generator<XlsRecord> {
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
  textsOf(boxes.texts, boxes.sheet).push('');
}

/** The characters of a text follow its record, in as many others as they need. */
function goOn(boxes: Boxes, data: Buffer): void {
  if (boxes.left === 0 || data.length === 0) return;
  const text = charactersIn(data).slice(0, boxes.left);
  boxes.left -= text.length;
  const own = textsOf(boxes.texts, boxes.sheet);
  own.push((own.pop() ?? '') + text);
}

function textsOf(texts: Map<string, string[]>, sheet: string): string[] {
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
