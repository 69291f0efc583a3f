import { canonicalJson, sha256 } from '../kernel/canonicalJson.ts';
import { wholePieces, type ChunkPiece, type PiecePlace } from './chunkPieces.ts';
import type { Box } from './document.ts';
import { boundaryIn } from './textCuts.ts';

/** How a document is divided. */
export interface ChunkWish {
  /** At each heading, at each page, or where a chunk is full. */
  readonly by: 'heading' | 'page' | 'size';
  /** Of a chunk's text, in UTF-16 units. Left out: 2,000; pages are divided only where it is given. */
  readonly maxCharacters?: number | undefined;
  /** Characters of a chunk that was full with which the next one begins again; left out: none. */
  readonly overlap?: number | undefined;
}

export const CHUNK_CHARACTERS = 2_000;

/** A part of a document for retrieval. */
export interface Chunk {
  /** Follows from its text and headings: the same document has the same IDs, and a change elsewhere keeps them. */
  readonly id: string;
  /** Markdown; rows have the header of their table, lines of code their fences. */
  readonly text: string;
  /** The headings above its text, the outermost first. */
  readonly headingPath: readonly string[];
  readonly pages: readonly number[];
  /** Where it stands, in reading order; empty for formats without geometry. */
  readonly boxes: readonly { readonly page: number; readonly box: Box }[];
}

/** What stands between a piece and the one before it. */
function glueOf(piece: ChunkPiece, before: ChunkPiece | undefined): string {
  if (before === undefined || piece.isPart === true) return '';
  const isNextLine =
    piece.frame === undefined ? piece.isListed && before.isListed : piece.frame === before.frame;
  return isNextLine && before.frame === piece.frame ? '\n' : '\n\n';
}

const footOf = (piece: ChunkPiece | undefined): string => piece?.frame?.foot ?? '';

const joined = (pieces: readonly ChunkPiece[]): string => {
  let text = '';
  for (const [at, piece] of pieces.entries()) {
    const before = pieces[at - 1];
    const glue = glueOf(piece, before);
    text += piece.frame === before?.frame ? glue : footOf(before) + glue + (piece.frame?.head ?? '');
    text += piece.text;
  }
  return text + footOf(pieces.at(-1));
};

const framed = ({ frame }: ChunkPiece): number =>
  frame === undefined ? 0 : frame.head.length + frame.foot.length;

/** How much longer a chunk is with one more piece. */
const growth = (piece: ChunkPiece, before: ChunkPiece | undefined): number =>
  piece.text.length + glueOf(piece, before).length + (piece.frame === before?.frame ? 0 : framed(piece));

/** Of a part of a text: it is cut so far before it is full at most. */
const REACH = 0.5;

function* partsOf(text: string, max: number): Generator<string> {
  let from = 0;
  while (text.length - from > max) {
    const end = from + max;
    const least = from + Math.ceil(max * REACH);
    const line = text.lastIndexOf('\n', end - 1) + 1;
    const at = line > least ? line : boundaryIn(text, { from, least, end });
    yield text.slice(from, at);
    from = at;
  }
  yield text.slice(from);
}

/** Pieces of which only rows are longer than a chunk may be. */
const divided = (pieces: readonly ChunkPiece[], max: number): readonly ChunkPiece[] =>
  pieces.flatMap((piece) => {
    const room = Math.max(1, max - framed(piece));
    if (piece.text.length <= room || piece.cells !== undefined) return [piece];
    const { heading: _, ...rest } = piece;
    return [...partsOf(piece.text, room)].map((text, at): ChunkPiece => {
      return at === 0 ? { ...piece, text } : { ...rest, text, isPart: true };
    });
  });

/** Where a text may begin again: behind a sentence or a word. */
function tailOf(piece: ChunkPiece, overlap: number): ChunkPiece | undefined {
  const rest = piece.text.slice(piece.text.length - overlap);
  const start = /[.!?…]["'”’»)\]]{0,3}(?=\s+\S)/u.exec(rest) ?? /(?=\s)/u.exec(rest);
  const text = start === null ? '' : rest.slice(start.index + start[0].length).trimStart();
  return text === '' ? undefined : { ...piece, text };
}

/** A part of it may stand alone: rows, lines of code and headings are whole. */
const isDivisible = ({ cells, frame, heading }: ChunkPiece): boolean =>
  cells === undefined && frame === undefined && heading === undefined;

/** The end of a chunk with which the next one begins: whole pieces, or a part of the last one. */
function overlapOf(pieces: readonly ChunkPiece[], overlap: number): readonly ChunkPiece[] {
  const kept: ChunkPiece[] = [];
  let left = overlap;
  for (const piece of pieces.toReversed()) {
    const size = growth(piece, undefined);
    if (size > left || piece.heading !== undefined) break;
    kept.unshift(piece);
    left -= size + 2;
  }
  const last = pieces.at(-1);
  if (kept.length > 0 || overlap === 0 || last === undefined || !isDivisible(last)) return kept;
  const tail = tailOf(last, overlap);
  return tail === undefined ? [] : [tail];
}

const sizeOf = (pieces: readonly ChunkPiece[]): number =>
  pieces.reduce((sum, piece, at) => sum + growth(piece, pieces[at - 1]), 0);

interface Draft {
  readonly pieces: readonly ChunkPiece[];
  readonly path: readonly string[];
}

/** Fills chunks one after the other. */
class Filling {
  readonly drafts: Draft[] = [];
  /** Of all chunks that are full. */
  characters = 0;
  private pieces: ChunkPiece[] = [];
  private size = 0;
  /** Pieces that the chunk before has too. */
  private repeated = 0;
  private readonly headings: { readonly level: number; readonly title: string }[] = [];
  private path: readonly string[] = [];
  private readonly max: number;
  private readonly overlap: number;

  constructor({ max, overlap }: { readonly max: number; readonly overlap: number }) {
    this.max = max;
    this.overlap = overlap;
  }

  get hasText(): boolean {
    return this.pieces.length > this.repeated && this.pieces.some(({ heading }) => heading === undefined);
  }

  get last(): ChunkPiece | undefined {
    return this.pieces.at(-1);
  }

  add(piece: ChunkPiece): void {
    if (this.size + growth(piece, this.last) > this.max) this.turn(piece);
    if (piece.heading !== undefined) this.under(piece.heading);
    // The path of a chunk is that of its first text.
    if (!this.hasText) this.path = this.headings.map(({ title }) => title);
    this.size += growth(piece, this.last);
    this.pieces.push(piece);
  }

  /** Ends the chunk; what follows begins anew. */
  end(): void {
    if (this.pieces.length > this.repeated) this.drafts.push({ pieces: this.pieces, path: this.path });
    this.characters += this.size;
    this.begin([]);
  }

  private begin(pieces: readonly ChunkPiece[]): void {
    this.pieces = [...pieces];
    this.repeated = pieces.length;
    this.size = sizeOf(pieces);
  }

  private under(heading: NonNullable<ChunkPiece['heading']>): void {
    while ((this.headings.at(-1)?.level ?? 0) >= heading.level) this.headings.pop();
    this.headings.push(heading);
  }

  /** The chunk is full: headings at its end go with what they stand above. */
  private turn(next: ChunkPiece): void {
    if (this.pieces.length === this.repeated) {
      this.begin([]);
      return;
    }
    const text = this.pieces.findLastIndex(({ heading }) => heading === undefined) + 1;
    const heads = this.pieces.slice(text);
    const isMoved = text > this.repeated && sizeOf(heads) + growth(next, heads.at(-1)) <= this.max;
    const moved = isMoved ? this.pieces.splice(text) : [];
    const before = this.pieces;
    this.drafts.push({ pieces: before, path: this.path });
    this.characters += sizeOf(before);
    const starts = moved.length > 0 ? moved : overlapOf(before, this.overlap);
    const fits = sizeOf(starts) + growth(next, starts.at(-1)) <= this.max;
    this.begin(moved.length > 0 || fits ? starts : []);
    if (moved.length > 0) this.repeated = 0;
  }
}

const pageOf = (piece: ChunkPiece | undefined): number | undefined => piece?.places[0]?.page;

function boxesOf(pieces: readonly ChunkPiece[]): Chunk['boxes'] {
  const boxes: { page: number; box: Box; frame: ChunkPiece['frame'] }[] = [];
  const put = ({ page, box }: PiecePlace, frame: ChunkPiece['frame']): void => {
    if (box === null) return;
    const last = boxes.at(-1);
    const isSame = last?.page === page && last.box.every((side, at) => side === box[at]);
    if (isSame) return;
    if (last === undefined || last.page !== page || frame === undefined || last.frame !== frame) {
      boxes.push({ page, box, frame });
      return;
    }
    const [x0, y0, x1, y1] = last.box;
    last.box = [Math.min(x0, box[0]), Math.min(y0, box[1]), Math.max(x1, box[2]), Math.max(y1, box[3])];
  };
  for (const { places, frame } of pieces) for (const place of places) put(place, frame);
  return boxes.map(({ page, box }) => ({ page, box }));
}

const ID_LETTERS = 24;

function chunkOf({ pieces, path }: Draft, seen: Map<string, number>): Chunk {
  const text = joined(pieces).trimEnd();
  const content = canonicalJson([path, text]);
  const count = seen.get(content) ?? 0;
  seen.set(content, count + 1);
  return {
    id: `chk_${sha256(`${String(count)}:${content}`).slice(0, ID_LETTERS)}`,
    text,
    headingPath: path,
    pages: [...new Set(pieces.flatMap(({ places }) => places.map(({ page }) => page)))],
    boxes: boxesOf(pieces),
  };
}

/**
 * Chunks of a document in reading order: all of its text, each as long as wished at most, except where one row of a
 * table with its header is longer. The same pieces make the same chunks, to the byte. undefined: together they would
 * have more than `charactersMax`.
 */
export function chunksOf(
  pieces: readonly ChunkPiece[],
  { by, maxCharacters, overlap = 0 }: ChunkWish,
  charactersMax = Infinity,
): readonly Chunk[] | undefined {
  const max = maxCharacters ?? (by === 'page' ? Infinity : CHUNK_CHARACTERS);
  const filling = new Filling({ max, overlap });
  let before: ChunkPiece | undefined;
  /** Whether a chunk ends before a piece, however short it is. */
  const isStart: Record<ChunkWish['by'], (piece: ChunkPiece) => boolean> = {
    heading: ({ heading }) => heading !== undefined && filling.hasText,
    page: (piece) => before !== undefined && pageOf(piece) !== pageOf(before),
    size: () => false,
  };
  for (const piece of divided(wholePieces(pieces, { isJoined: by !== 'page' }), max)) {
    if (isStart[by](piece)) filling.end();
    filling.add(piece);
    before = piece;
    if (filling.characters > charactersMax) return undefined;
  }
  filling.end();
  const seen = new Map<string, number>();
  return filling.drafts.map((draft) => chunkOf(draft, seen));
}
