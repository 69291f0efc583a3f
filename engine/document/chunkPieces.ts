import {
  type Block,
  type Box,
  type Document,
  type DocumentPage,
  type TableBlock,
  tableGrid,
} from './document.ts';
import { blockMarkdown, cellMarkdown } from './markdown.ts';
import { cleanText, oneLine } from './plainText.ts';
import { withoutEnd } from '../kernel/text.ts';

/** A stretch of a page; `box` is null where the format has no geometry. */
export interface PiecePlace {
  readonly page: number;
  readonly box: Box | null;
}

/** The table or the code that a piece is a line of: its chunk repeats the head, and closes with the foot. */
export interface PieceFrame {
  readonly head: string;
  readonly foot: string;
}

/** The least that a chunk is made of: a paragraph, a heading, an item of a list, a row of a table, a line of code. */
export interface ChunkPiece {
  readonly text: string;
  /** Of a heading, with its text. */
  readonly heading?: { readonly level: number; readonly title: string };
  readonly frame?: PieceFrame;
  /** Of a row, which is not divided: its cells, for a row that goes on at the next page. */
  readonly cells?: readonly string[];
  readonly isListed: boolean;
  /** It goes on with the piece before it, from which it was cut. */
  readonly isPart?: true;
  /** It goes on with the last piece of the page before: in a new line of it, amid a line, or as the same row. */
  readonly continues?: 'line' | 'text' | 'row' | 'cell';
  /** Its table goes on with the one of the page before, whose frame it has then. */
  readonly continuesTable?: true;
  readonly places: readonly PiecePlace[];
}

const rowText = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const union = (boxes: readonly Box[]): Box | null =>
  boxes.length === 0
    ? null
    : [
        Math.min(...boxes.map((box) => box[0])),
        Math.min(...boxes.map((box) => box[1])),
        Math.max(...boxes.map((box) => box[2])),
        Math.max(...boxes.map((box) => box[3])),
      ];

/** The box of each row; a cell of several rows is a part of each. */
function rowBoxes({ rows, cells, box }: TableBlock): readonly (Box | null)[] {
  const byRow = Array.from({ length: rows }, (): Box[] => []);
  for (const cell of cells)
    if (cell.box !== null)
      for (const row of byRow.slice(cell.row, cell.row + cell.rowSpan)) row.push(cell.box);
  return byRow.map((boxes) => union(boxes) ?? box);
}

/** A table without a header has an empty one: markdown knows no other. */
function frameOf(header: readonly (readonly string[])[], columns: number): PieceFrame {
  const [first = Array<string>(columns).fill(''), ...more] = header;
  const lines = [rowText(first), rowText(first.map(() => '---')), ...more.map(rowText)];
  return { head: `${lines.join('\n')}\n`, foot: '' };
}

function tablePieces(table: TableBlock, page: number): readonly ChunkPiece[] {
  const grid = tableGrid(table, cellMarkdown);
  const header = grid.slice(0, table.headerRows);
  const frame = frameOf(header, table.columns);
  const boxes = rowBoxes(table);
  const { continues } = table;
  const goesOn = continues === undefined ? {} : ({ continuesTable: true } as const);
  const rows = grid.slice(table.headerRows).map((cells, at): ChunkPiece => ({
    text: rowText(cells),
    cells,
    frame,
    isListed: false,
    ...goesOn,
    ...(at === 0 && (continues === 'row' || continues === 'cell') && { continues }),
    places: [{ page, box: boxes[table.headerRows + at] ?? null }],
  }));
  if (rows.length > 0 || header.length === 0 || continues !== undefined) return rows;
  return [{ text: frame.head.trimEnd(), isListed: false, places: [{ page, box: table.box }] }];
}

/** The fence is longer than any run of backticks inside. */
function codePieces({ language, text, box, continues }: Extract<Block, { kind: 'code' }>, page: number) {
  const code = withoutEnd(cleanText(text), /\n/);
  if (code.trim() === '') return [];
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const frame = { head: `${fence}${(language ?? '').replace(/[^\w+#.-]/g, '')}\n`, foot: `\n${fence}` };
  const goesOn = continues === undefined ? {} : ({ continuesTable: true } as const);
  return code.split('\n').map((line): ChunkPiece => ({
    text: line,
    frame,
    isListed: false,
    ...goesOn,
    places: [{ page, box }],
  }));
}

function blockPieces(block: Block, page: number): readonly ChunkPiece[] {
  if (block.kind === 'table') return tablePieces(block, page);
  if (block.kind === 'code') return codePieces(block, page);
  const text = blockMarkdown(block);
  if (text === '') return [];
  const { continues } = block;
  return [
    {
      text,
      isListed: block.kind === 'list_item',
      ...(block.kind === 'heading' && { heading: { level: block.level, title: oneLine(block.text) } }),
      ...(continues !== undefined && { continues }),
      places: [{ page, box: block.box }],
    },
  ];
}

/** What the chunks of some pages are made of, in reading order. */
export const chunkPieces = ({ pages }: Pick<Document, 'pages'>): readonly ChunkPiece[] =>
  pages.flatMap(({ page, blocks }: DocumentPage) => blocks.flatMap((block) => blockPieces(block, page)));

const isRest = (piece: ChunkPiece): boolean => piece.continues === 'row' || piece.continues === 'cell';

/** A piece with what it has on the next page. */
function withRest(piece: ChunkPiece, rest: ChunkPiece): ChunkPiece {
  const places = [...piece.places, ...rest.places];
  if (piece.cells === undefined || rest.cells === undefined)
    return { ...piece, places, text: `${piece.text}${rest.continues === 'line' ? '\n' : ''}${rest.text}` };
  const glue = rest.continues === 'cell' ? '' : ' ';
  const cells = piece.cells.map((cell, at) => {
    const more = rest.cells?.[at] ?? '';
    return cell === '' || more === '' ? cell + more : cell + glue + more;
  });
  return { ...piece, places, cells, text: rowText(cells) };
}

/** Whether a piece begins a page with what the last one of the page before goes on with. */
const goesOnWith = (last: ChunkPiece | undefined, next: ChunkPiece): last is ChunkPiece =>
  next.continues !== undefined &&
  last?.places.at(-1)?.page === (next.places[0]?.page ?? 0) - 1 &&
  (last.frame === undefined) === (next.frame === undefined) &&
  (!isRest(next) || last.cells !== undefined);

/**
 * Pieces of one table have one frame, that of its first page. `isJoined`: what was cut between pages is whole where it
 * begins.
 */
export function wholePieces(
  pieces: readonly ChunkPiece[],
  { isJoined }: { readonly isJoined: boolean },
): readonly ChunkPiece[] {
  const whole: ChunkPiece[] = [];
  /** The frame of the last rows or lines, and the one that stands for it. */
  let own: PieceFrame | undefined;
  let first: PieceFrame | undefined;
  for (const piece of pieces) {
    const { frame } = piece;
    if (frame !== undefined && frame !== own) {
      first = piece.continuesTable === true ? (first ?? frame) : frame;
      own = frame;
    }
    const last = whole.at(-1);
    if (isJoined && goesOnWith(last, piece)) whole[whole.length - 1] = withRest(last, piece);
    else whole.push(frame === undefined ? piece : { ...piece, frame: first ?? frame });
  }
  return whole;
}
