import iconv from 'iconv-lite';
import { RefusedDocument } from '../pieces/blocks.ts';
import { compoundStreams } from '../pieces/compoundFile.ts';

/** A stretch of text that stands at one place of the file. */
export interface DocPiece {
  /** Its first character's number in the whole text. */
  readonly cp: number;
  /** The file offset of its first character, and the bytes of each. */
  readonly fc: number;
  readonly width: 1 | 2;
  readonly text: string;
}

/** A Word 97 file: its text in pieces and the tables that describe it (MS-DOC). */
export interface DocFile {
  readonly main: Buffer;
  /** What fields of forms and pictures point to; empty where there is none. */
  readonly data: Buffer;
  readonly pieces: readonly DocPiece[];
  /** Characters of each story, in their order in the text. */
  readonly lengths: Readonly<
    Record<'body' | 'footnotes' | 'headers' | 'comments' | 'endnotes' | 'frames' | 'headerFrames', number>
  >;
  /** A described table, by its number in the file's header; empty where there is none. */
  readonly tableAt: (index: number) => Buffer;
  /** The stream of tables from where a described one begins, for those that go on past their end. */
  readonly tailAt: (index: number) => Buffer;
}

const MAGIC = 0xa5ec;
const WORD_97 = 0xc1;
const FC_LCB_AT = 0x9a;
const CLX = 33;
/** Pieces may overlap, so a small file could claim any amount of text. */
const CHARACTERS_MAX = 20_000_000;

/** The main stream of a Word file, and what gives its other streams. */
export interface DocStreams {
  readonly main: Buffer;
  readonly streamOf: (name: string) => Buffer | undefined;
}

/** The streams of a Word file of any release from 6 on. */
export function docStreams(bytes: Buffer): DocStreams {
  const streamOf = compoundStreams(bytes);
  const main = streamOf('WordDocument');
  if (main === undefined) throw new RefusedDocument('The document is damaged.');
  return { main, streamOf };
}

/** A Word 97 to 2003 file. */
export function docFile({ main, streamOf }: DocStreams): DocFile {
  if (main.readUInt16LE(0) !== MAGIC) throw new RefusedDocument('The document is damaged.');
  const flags = main.readUInt16LE(0x0a);
  if ((flags & 0x0100) !== 0)
    throw new RefusedDocument('The file is encrypted and needs a password. Send it without one.');
  if (main.readUInt16LE(2) < WORD_97)
    throw new RefusedDocument('The file was written by Word 2 or older. Save it as DOCX and send that.');
  const tables = streamOf((flags & 0x0200) === 0 ? '0Table' : '1Table') ?? Buffer.alloc(0);
  const rangeOf = (index: number): readonly [number, number] => [
    main.readUInt32LE(FC_LCB_AT + index * 8),
    main.readUInt32LE(FC_LCB_AT + index * 8 + 4),
  ];
  const tableAt = (index: number): Buffer => {
    const [from, length] = rangeOf(index);
    return tables.subarray(from, from + length);
  };
  const tailAt = (index: number): Buffer => {
    const [from, length] = rangeOf(index);
    return length === 0 ? Buffer.alloc(0) : tables.subarray(from);
  };
  const lengthAt = (offset: number): number => main.readUInt32LE(offset);
  return {
    main,
    data: streamOf('Data') ?? Buffer.alloc(0),
    pieces: piecesOf(main, tableAt(CLX)),
    lengths: {
      body: lengthAt(0x4c),
      footnotes: lengthAt(0x50),
      headers: lengthAt(0x54),
      comments: lengthAt(0x5c),
      endnotes: lengthAt(0x60),
      frames: lengthAt(0x64),
      headerFrames: lengthAt(0x68),
    },
    tableAt,
    tailAt,
  };
}

/** The piece table follows property modifiers of no interest here. */
function piecesOf(main: Buffer, clx: Buffer): readonly DocPiece[] {
  let at = 0;
  while (clx.readUInt8(at) === 1) at += 3 + clx.readUInt16LE(at + 1);
  if (clx.readUInt8(at) !== 2) throw new RefusedDocument('The document is damaged.');
  const table = clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1));
  const count = Math.floor((table.length - 4) / 12);
  const pieces: DocPiece[] = [];
  let characters = 0;
  for (let index = 0; index < count; index += 1) {
    const cp = table.readUInt32LE(index * 4);
    const length = table.readUInt32LE(index * 4 + 4) - cp;
    characters += Math.max(0, length);
    if (characters > CHARACTERS_MAX) throw new RefusedDocument('The document has too much text.');
    if (length > 0)
      pieces.push(pieceAt(main, { cp, length, place: table.readUInt32LE((count + 1) * 4 + index * 8 + 2) }));
  }
  return pieces;
}

const COMPRESSED = 0x40000000;

function pieceAt(
  main: Buffer,
  { cp, length, place }: { readonly cp: number; readonly length: number; readonly place: number },
): DocPiece {
  if ((place & COMPRESSED) === 0) {
    const fc = place;
    return { cp, fc, width: 2, text: main.toString('utf16le', fc, fc + length * 2) };
  }
  const fc = (place & ~COMPRESSED) >>> 1;
  return { cp, fc, width: 1, text: iconv.decode(main.subarray(fc, fc + length), 'windows-1252') };
}
