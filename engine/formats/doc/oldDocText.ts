import iconv from 'iconv-lite';
import { RefusedDocument, tablePieces, type Piece, type TextPiece, type Slot } from '../pieces/blocks.ts';
import { plainRun } from '../pieces/runs.ts';

const MAGIC = 0xa5dc;
const LANGUAGE_AT = 0x06;
const FLAGS_AT = 0x0a;
const TEXT_AT = 0x18;
const BODY_LENGTH_AT = 0x34;
const PIECES_AT = 0x0160;
const IS_COMPLEX = 0x0004;
const IS_ENCRYPTED = 0x0100;

/** Whether a main stream is of Word 6 or Word 95. */
export const isOldDoc = (main: Buffer): boolean =>
  main.length > PIECES_AT + 8 && main.readUInt16LE(0) === MAGIC;

/** The body of a Word 6 or Word 95 document: its paragraphs and tables, without how they look. */
export function oldDocPieces(main: Buffer): readonly Piece[] {
  const flags = main.readUInt16LE(FLAGS_AT);
  if ((flags & IS_ENCRYPTED) !== 0)
    throw new RefusedDocument('The file is encrypted and needs a password. Send it without one.');
  const length = main.readUInt32LE(BODY_LENGTH_AT);
  const bytes =
    (flags & IS_COMPLEX) === 0
      ? main.subarray(main.readUInt32LE(TEXT_AT)).subarray(0, length)
      : piecedText(main).subarray(0, length);
  return piecesOf(withoutFields(iconv.decode(bytes, encodingOf(main.readUInt16LE(LANGUAGE_AT)))));
}

/** A text that was saved in pieces, put together. Pieces may overlap, but not beyond what the file holds. */
function piecedText(main: Buffer): Buffer {
  const clx = main.subarray(main.readUInt32LE(PIECES_AT)).subarray(0, main.readUInt32LE(PIECES_AT + 4));
  let at = 0;
  while (clx.readUInt8(at) === 1) at += 3 + clx.readUInt16LE(at + 1);
  const table = clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1));
  const count = Math.floor((table.length - 4) / 12);
  const parts: Buffer[] = [];
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const length = table.readUInt32LE(index * 4 + 4) - table.readUInt32LE(index * 4);
    const from = table.readUInt32LE((count + 1) * 4 + index * 8 + 2);
    const part = main.subarray(from, from + Math.max(0, length));
    total += part.length;
    if (total > main.length) throw new RefusedDocument('The document is damaged.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Code pages by the language of the document, by the low byte of its number. */
const ENCODINGS: Readonly<Record<number, string>> = {
  0x01: 'windows-1256',
  0x05: 'windows-1250',
  0x08: 'windows-1253',
  0x0d: 'windows-1255',
  0x0e: 'windows-1250',
  0x11: 'shift_jis',
  0x15: 'windows-1250',
  0x19: 'windows-1251',
  0x1f: 'windows-1254',
  0x22: 'windows-1251',
};

const encodingOf = (language: number): string => ENCODINGS[language & 0xff] ?? 'windows-1252';

/** Fields show their results: what stands between their beginning and their separator is an instruction. */
function withoutFields(text: string): string {
  const shown: boolean[] = [];
  let result = '';
  for (const part of text.split(/([\u0013-\u0015])/)) {
    if (part === '\u0013') shown.push(false);
    else if (part === '\u0014') shown.splice(-1, 1, true);
    else if (part === '\u0015') shown.pop();
    else if (!shown.includes(false)) result += part;
  }
  return result;
}

/** A cell ends with this sign, and a row with one more. */
const CELL_END = '\u0007';

/**
 * Paragraphs and tables of a text. Which paragraphs stand in cells is not told by the text alone: a cell is
 * the paragraph that its sign ends, and a row begins with its first cell.
 */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const rows: Slot[][] = [];
  let cells: string[] = [];
  const endTable = (): void => {
    if (cells.length > 0) rows.push(cells.splice(0).map(slotOf));
    if (rows.length > 0) pieces.push(...tablePieces(rows.splice(0), null));
  };
  const endRow = (): void => {
    rows.push(cells.map(slotOf));
    cells = [];
  };
  // The parts alternate: a content, then the sign that ends it.
  const parts = text.split(/([\r\f\u0007])/);
  for (let at = 0; at < parts.length; at += 2) {
    const content = parts[at] ?? '';
    if (parts[at + 1] === CELL_END) {
      if (content === '' && cells.length > 0 && cells.length >= (rows[0]?.length ?? 1)) endRow();
      else cells.push(content);
    } else if (content.trim() !== '') {
      endTable();
      pieces.push(pieceOf(content));
    }
  }
  endTable();
  return pieces;
}

const slotOf = (content: string): Slot => ({
  kind: 'cell',
  cell: { pieces: [pieceOf(content)], columnSpan: 1, rowSpan: 1 },
});

const pieceOf = (content: string): TextPiece => ({
  kind: 'text',
  role: { kind: 'paragraph' },
  label: null,
  runs: [
    plainRun(
      content
        .replace(/\u000b/g, '\n')
        .replace(/\u001e/g, '-')
        .replace(/[\u0000-\u0008\u000e-\u001f]/g, ''),
    ),
  ],
});
