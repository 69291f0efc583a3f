import type { Opener } from '../pieces/opened.ts';
import {
  blocksOf,
  HIDDEN_TEXT,
  noteBlocks,
  RefusedDocument,
  type Piece,
  type Role,
  type TextPiece,
} from '../pieces/blocks.ts';
import { docFile, docStreams, type DocFile } from './docFile.ts';
import { docNumbering } from './docNumbering.ts';
import { numberOf, type Modifier } from './docProperties.ts';
import { docStyles, type DocStyles } from './docStyles.ts';
import { docSections } from './docSections.ts';
import { isOldDoc, oldDocPieces } from './oldDocText.ts';
import { docText, type DocParagraph, type DocText } from './docText.ts';
import type { Numbering } from '../office/numbering.ts';
import { tableOfEdges, type EdgeRow } from '../office/edgeTables.ts';
import { openOffice } from '../office/openOffice.ts';
import { withLetterheads, type Section } from '../pieces/letterheads.ts';
import { plainRun, type Run } from '../pieces/runs.ts';

const DEFINITION = 0xd608;
const HEADER = 0x3404;
const CELL_BYTES = 20;
const TO_LEFT = 0b10;
const VERTICAL = 0b110_0000;
const FROM_ABOVE = 0b010_0000;

/** A row of a Word 97 table, by what its mark says of its cells. */
function docRow(cells: readonly (readonly Piece[])[], modifiers: readonly Modifier[]): EdgeRow {
  const isHeader = modifiers.some(({ code, value }) => code === HEADER && value[0] === 1);
  const value = modifiers.findLast(({ code }) => code === DEFINITION)?.value;
  const count = value?.[0] ?? 0;
  if (value === undefined || value.length < 3 + count * 2) return { cells, at: [], merges: [], isHeader };
  const from = 1 + (count + 1) * 2;
  return {
    cells,
    at: Array.from({ length: count + 1 }, (_, index) => value.readInt16LE(1 + index * 2)),
    merges: Array.from({ length: count }, (_, index) => mergeAt(value, from + index * CELL_BYTES)),
    isHeader,
  };
}

function mergeAt(value: Buffer, at: number): EdgeRow['merges'][number] {
  const flags = at + 2 <= value.length ? value.readUInt16LE(at) : 0;
  if ((flags & VERTICAL) === FROM_ABOVE) return 'above';
  return (flags & TO_LEFT) === 0 ? 'none' : 'left';
}

const MIME_TYPE = 'application/msword';
const IN_TABLE = 0x2416;
const ENDS_ROW = 0x2417;
const ENDS_INNER_ROW = 0x244c;
const LEVEL = 0x260a;
const LIST = 0x460b;
const OUTLINE_LEVEL = 0x2640;

/**
 * Opens a Word document: its body in reading order, each section between its headers and footers, and its notes;
 * of Word 6 and 95 its paragraphs and tables.
 */
export const openDoc: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const streams = docStreams(bytes);
    if (isOldDoc(streams.main)) return { blocks: blocksOf(oldDocPieces(streams.main)), warnings: [] };
    const file = docFile(streams);
    const marks = noteMarks(file);
    const text = docText(file, (cp) => marks.numbers.get(cp) ?? null);
    const reader: Reader = { text, styles: docStyles(file), numbering: docNumbering(file) };
    const read = (from: number, to: number): readonly Piece[] => piecesOf(text.paragraphs(from, to), reader);
    const [frames, headerFrames, end] = framesIn(file.lengths);
    const sections = withFrames(docSections(file, read), {
      headers: read(headerFrames, end),
      body: read(frames, headerFrames),
    });
    const notes = noteBlocks(marks.ranges.map(([from, to]) => noteRuns(text.paragraphs(from, to))));
    return {
      blocks: [...blocksOf(withLetterheads(sections)), ...notes],
      warnings: text.hasHidden() ? [HIDDEN_TEXT] : [],
    };
  });

interface Reader {
  readonly text: DocText;
  readonly styles: DocStyles;
  readonly numbering: Numbering;
}

/** Where the text boxes of the body begin, those of headers and footers, and what is behind them. */
function framesIn(lengths: DocFile['lengths']): readonly [number, number, number] {
  const { body, footnotes, headers, comments, endnotes, frames, headerFrames } = lengths;
  const from = body + footnotes + headers + comments + endnotes;
  return [from, from + frames, from + frames + headerFrames];
}

/** The file says of no text box where it stands: those of headers stand in the first, others at the end. */
function withFrames(
  sections: readonly Section[],
  frames: { readonly headers: readonly Piece[]; readonly body: readonly Piece[] },
): readonly Section[] {
  const last = sections.length - 1;
  return sections.map((section, index) => ({
    ...section,
    headers: index === 0 ? [...section.headers, frames.headers] : section.headers,
    body: index === last ? [...section.body, ...frames.body] : section.body,
  }));
}

const noteRuns = (paragraphs: readonly DocParagraph[]): readonly Run[] =>
  paragraphs.flatMap(({ runs }) => [...runs, plainRun(' ')]);

const FOOTNOTE_MARKS = 2;
const FOOTNOTE_TEXTS = 3;
const ENDNOTE_MARKS = 46;
const ENDNOTE_TEXTS = 47;
/** Texts of notes may overlap, and each is looked for in all pieces. */
const NOTE_CHARACTERS_MAX = 5_000_000;
const NOTE_PIECES_MAX = 20_000_000;

/** The notes in the order of their marks: which character each mark is, and where its text stands. */
function noteMarks({ tableAt, lengths, pieces }: DocFile) {
  const { body, footnotes, headers, comments } = lengths;
  const endnotes = body + footnotes + headers + comments;
  const notes = [
    ...notesIn(tableAt(FOOTNOTE_MARKS), tableAt(FOOTNOTE_TEXTS), body),
    ...notesIn(tableAt(ENDNOTE_MARKS), tableAt(ENDNOTE_TEXTS), endnotes),
  ].sort((a, b) => a.mark - b.mark);
  const characters = notes.reduce((sum, { range: [from, to] }) => sum + Math.max(0, to - from), 0);
  if (characters > NOTE_CHARACTERS_MAX || notes.length * pieces.length > NOTE_PIECES_MAX)
    throw new RefusedDocument('The document has too many notes.');
  return {
    numbers: new Map(notes.map(({ mark }, index) => [mark, index + 1])),
    ranges: notes.map(({ range }) => range),
  };
}

interface Note {
  readonly mark: number;
  readonly range: readonly [number, number];
}

/** Each mark has its place and two bytes more; the texts stand one after the other from `offset` on. */
function notesIn(marks: Buffer, texts: Buffer, offset: number): readonly Note[] {
  const count = Math.min(Math.floor((marks.length - 4) / 6), Math.floor(texts.length / 4) - 1);
  return Array.from({ length: Math.max(0, count) }, (_, index) => ({
    mark: marks.readUInt32LE(index * 4),
    range: [offset + texts.readUInt32LE(index * 4), offset + texts.readUInt32LE(index * 4 + 4)],
  }));
}

/** Paragraphs outside of tables as they are; those of cells gathered by row, and rows by table. */
function piecesOf(paragraphs: readonly DocParagraph[], reader: Reader): readonly Piece[] {
  const pieces: Piece[] = [];
  let rows: EdgeRow[] = [];
  let cells: Piece[][] = [];
  let cell: Piece[] = [];
  const endTable = (): void => {
    if (rows.length > 0) pieces.push(...tableOfEdges(rows));
    pieces.push(...cells.flat(), ...cell);
    [rows, cells, cell] = [[], [], []];
  };
  for (const paragraph of paragraphs) {
    const { modifiers } = paragraph.properties;
    const has = (code: number): boolean => numberOf(modifiers, code) === 1;
    if (!paragraph.endsCell && !has(IN_TABLE)) {
      endTable();
      pieces.push(textPiece(paragraph, reader));
    } else if (has(ENDS_ROW)) {
      rows.push(docRow(cells, modifiers));
      cells = [];
    } else if (!has(ENDS_INNER_ROW)) {
      cell.push(textPiece(paragraph, reader));
      if (!paragraph.endsCell) continue;
      cells.push(cell);
      cell = [];
    }
  }
  endTable();
  return pieces;
}

function textPiece({ runs, properties: { style, modifiers } }: DocParagraph, reader: Reader): TextPiece {
  const { styles, numbering } = reader;
  const said = (code: number): number | undefined =>
    numberOf(modifiers, code) ?? styles.numberOf(style, code);
  const own = numberOf(modifiers, OUTLINE_LEVEL);
  const styled = styles.roleOf(style);
  const role: Role =
    own === undefined || own >= 9 || styled.kind === 'title' ? styled : { kind: 'heading', level: own + 1 };
  const list = said(LIST) ?? 0;
  const level = said(LEVEL) ?? 0;
  const label = list === 0 ? null : numbering.next(String(list), level);
  const isItem = label !== null && role.kind === 'paragraph';
  return { kind: 'text', role: isItem ? { kind: 'list_item', level } : role, label, runs };
}
