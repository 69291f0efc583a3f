import {
  tableGrid,
  type Block,
  type DocumentWarning,
  type TableCell,
  type TableBlock,
} from '../../document/document.ts';
import type { ArchiveLimits } from './archive.ts';
import {
  inlineOfParagraph,
  inlineOfRuns,
  inlineOfTitle,
  plainRun,
  textOfRuns,
  type Run,
  type Inline,
} from './runs.ts';

/** What a paragraph of an office document is, before its text is rendered. */
export type Role =
  | { readonly kind: 'heading'; readonly level: number }
  | { readonly kind: 'title' }
  | { readonly kind: 'subtitle' }
  | { readonly kind: 'code' }
  | { readonly kind: 'list_item'; readonly level: number }
  | { readonly kind: 'paragraph' };

/** The visible number or bullet of a list item or heading. */
export interface Label {
  /** Where markdown can say it: a plain number with a point or parenthesis. */
  readonly number: number | null;
  /** As it is seen; '' of bullets. */
  readonly text: string;
}

/** A paragraph, or any other block, in reading order. */
export type Piece = TextPiece | { readonly kind: 'block'; readonly block: Block };

export interface TextPiece {
  readonly kind: 'text';
  readonly role: Role;
  readonly label: Label | null;
  readonly runs: readonly Run[];
}

/** Of the parts that hold text: pictures cost nothing, for they are not unpacked. */
export const OFFICE_LIMITS: ArchiveLimits = { bytesMax: 64 * 1024 * 1024, membersMax: 10_000 };

/** What no document of people has, found while reading: the whole file is refused. */
export class RefusedDocument extends Error {}

/** Longer ones are paragraphs that only look like headings. */
const HEADING_CHARACTERS_MAX = 400;

type Level = 1 | 2 | 3 | 4 | 5 | 6;

/**
 * Pieces as blocks. Beside a title, headings stand one level below it; a subtitle is a heading after its
 * title and a line before it. List items are as deep as the items above them in the same list.
 */
export function blocksOf(pieces: readonly Piece[]): readonly Block[] {
  const titleAt = pieces.findIndex((piece) => piece.kind === 'text' && piece.role.kind === 'title');
  const shift = titleAt >= 0 ? 1 : 0;
  const blocks: Block[] = [];
  let levels: number[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'text' && textOfRuns(piece.runs).trim() === '') continue;
    if (piece.kind === 'text' && piece.role.kind === 'list_item') {
      levels = [...levels.filter((level) => level < levelOf(piece.role)), levelOf(piece.role)];
      blocks.push(listItem(piece.label, piece.runs, levels.length - 1));
      continue;
    }
    levels = [];
    if (piece.kind === 'block') blocks.push(piece.block);
    else blocks.push(textBlock(piece, shift, titleAt >= 0 && index > titleAt));
  }
  return joinCode(blocks);
}

const levelOf = (role: Role): number => (role.kind === 'list_item' ? role.level : 0);

function textBlock({ role, label, runs }: TextPiece, shift: number, afterTitle: boolean): Block {
  const level = headingLevel(role, shift, afterTitle);
  const labelled = withLabel(label, runs);
  const text = textOfRuns(labelled);
  if (role.kind === 'code') return { kind: 'code', language: null, text, box: null };
  if (level === null || text.length > HEADING_CHARACTERS_MAX)
    return { kind: 'paragraph', ...inlineOfParagraph(labelled), box: null };
  return { kind: 'heading', level, ...inlineOfTitle(labelled), box: null };
}

function headingLevel(role: Role, shift: number, afterTitle: boolean): Level | null {
  switch (role.kind) {
    case 'title':
      return 1;
    case 'subtitle':
      return afterTitle ? 2 : null;
    case 'heading':
      return Math.min(6, Math.max(1, role.level + shift)) as Level;
    default:
      return null;
  }
}

function listItem(label: Label | null, runs: readonly Run[], depth: number): Block {
  const number = label?.number ?? null;
  const ordered = number !== null;
  return {
    kind: 'list_item',
    ordered,
    number,
    depth,
    ...inlineOfRuns(ordered ? runs : withLabel(label, runs)),
    box: null,
  };
}

/** Runs after their visible number, which looks like what it stands before. */
function withLabel(label: Label | null, runs: readonly Run[]): readonly Run[] {
  const text = label?.text ?? '';
  const first = runs.find((run) => run.text.trim() !== '') ?? runs[0];
  if (text === '' || first === undefined) return runs;
  return [{ ...first, link: null, note: null, text: `${text} ` }, ...runs];
}

/** Lines of code below each other are one block. */
function joinCode(blocks: readonly Block[]): readonly Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined[joined.length - 1];
    if (block.kind === 'code' && last?.kind === 'code')
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${block.text}` };
    else joined.push(block);
  }
  return joined;
}

/** The pieces of a note as one text. */
export const noteRuns = (pieces: readonly Piece[]): readonly Run[] =>
  pieces.flatMap((piece) => [
    ...(piece.kind === 'text' ? piece.runs : [plainRun(textOfNoted(piece.block))]),
    plainRun(' '),
  ]);

/** A note is one line: of a table the texts of its cells. */
const textOfNoted = (block: Block): string =>
  block.kind === 'table' ? block.cells.map(({ text }) => text).join(' ') : block.text;

/** The texts of notes, as markdown writes footnotes. */
export const noteBlocks = (notes: readonly (readonly Run[])[]): readonly Block[] =>
  notes.map((runs, index) => {
    const { text, markdown } = inlineOfRuns(runs);
    return {
      kind: 'paragraph',
      text: `[${index + 1}] ${text}`,
      markdown: `[^${index + 1}]: ${markdown.replace(/\s+/g, ' ')}`,
      box: null,
    };
  });

/** Said once where text that nobody sees was left out. */
export const HIDDEN_TEXT: DocumentWarning = {
  code: 'hidden_text',
  message: 'Text that cannot be seen in the document was left out.',
};

/** Descriptions that an office suite made up by itself, in the languages we ship. */
const MADE_UP = new RegExp(
  String.raw`(?:description automatically generated|AI-generated content may be incorrect` +
    String.raw`|automatisch generierte beschreibung|KI-generierte Inhalte können fehlerhaft sein` +
    String.raw`|description générée automatiquement|descripción generada automáticamente` +
    String.raw`|descrizione generata automaticamente)`,
  'i',
);
const FILE_NAME = /^\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)$/i;

/** An image by the description that its author gave it; none where there is none. */
export function imagePieces(description: string | undefined): readonly Piece[] {
  const text = (description ?? '').replace(/\s+/g, ' ').trim();
  if (text === '' || MADE_UP.test(text) || FILE_NAME.test(text)) return [];
  return [
    {
      kind: 'block',
      block: { kind: 'image', text: inlineOfParagraph([plainRun(text)]).markdown, box: null },
    },
  ];
}

/** A cell as a file gives it, before the rows are laid on a grid. */
export interface SourceCell {
  readonly pieces: readonly Piece[];
  readonly columnSpan: number;
  readonly rowSpan: number;
}

/** A cell or, where a row starts late or is covered from above, so many columns without one. */
export type Slot =
  | { readonly kind: 'cell'; readonly cell: SourceCell }
  | { readonly kind: 'gap'; readonly columns: number };

/** Word allows 63 columns, Writer 1,024. */
export const COLUMNS_MAX = 1024;
export const PLACES_MAX = 1_000_000;
/** With the text of each cell in every place that it covers. */
const CHARACTERS_MAX = 20_000_000;

/** Columns that a file may claim for one cell. */
export const spanOf = (span: number): number =>
  Number.isSafeInteger(span) && span > 1 ? Math.min(span, COLUMNS_MAX) : 1;

/**
 * Rows of slots as a table. A table of one cell is only a frame: it is what stands in it. Where the
 * rows do not say how many are headers, the first is.
 */
export function tablePieces(rows: readonly (readonly Slot[])[], headerRows: number | null): readonly Piece[] {
  const frame = frameOf(rows);
  if (frame !== undefined) return frame.pieces;
  const columns = rows.reduce((widest, row) => Math.max(widest, columnsIn(row)), 0);
  if (columns > COLUMNS_MAX || columns * rows.length > PLACES_MAX)
    throw new RefusedDocument('The document has a table that is too large.');
  const headers = Math.min(rows.length, headerRows ?? 1);
  const cells = rows.flatMap((slots, row) => cellsOf(slots, row, row < headers));
  const characters = cells.reduce((sum, cell) => sum + cell.text.length * cell.rowSpan * cell.columnSpan, 0);
  if (characters > CHARACTERS_MAX) throw new RefusedDocument('The document has a table that is too large.');
  if (cells.every(({ text }) => text === '')) return [];
  const block: TableBlock = {
    kind: 'table',
    rows: rows.length,
    columns,
    headerRows: headers,
    cells: cells.map((cell) => ({ ...cell, rowSpan: Math.min(cell.rowSpan, rows.length - cell.row) })),
    box: null,
  };
  return [{ kind: 'block', block }];
}

function frameOf(rows: readonly (readonly Slot[])[]): SourceCell | undefined {
  const slots = rows.flat();
  const [only] = slots;
  return rows.length === 1 && slots.length === 1 && only?.kind === 'cell' ? only.cell : undefined;
}

const widthOf = (slot: Slot): number => (slot.kind === 'cell' ? slot.cell.columnSpan : slot.columns);
const columnsIn = (slots: readonly Slot[]): number => slots.reduce((sum, slot) => sum + widthOf(slot), 0);

function cellsOf(slots: readonly Slot[], row: number, isHeader: boolean): readonly TableCell[] {
  let column = 0;
  return slots.flatMap((slot) => {
    const at = column;
    column += widthOf(slot);
    return slot.kind === 'cell' ? [cellAt(slot.cell, { row, column: at, isHeader })] : [];
  });
}

interface CellPosition {
  readonly row: number;
  readonly column: number;
  readonly isHeader: boolean;
}

function cellAt(
  { pieces, rowSpan, columnSpan }: SourceCell,
  { row, column, isHeader }: CellPosition,
): TableCell {
  const parts = pieces
    .map((piece) => inlineOfPiece(piece, isHeader))
    .filter(({ text }) => text.trim() !== '');
  const text = parts.map((part) => part.text).join('\n');
  const markdown = parts.map((part) => part.markdown).join('\n');
  return { text, markdown, box: null, row, column, rowSpan, columnSpan };
}

function inlineOfPiece(piece: Piece, isHeader: boolean): Inline {
  if (piece.kind === 'block') return inlineOfBlock(piece.block);
  const runs = withLabel(cellLabel(piece), piece.runs);
  return isHeader ? inlineOfTitle(runs) : inlineOfRuns(runs);
}

/** A cell is one line, so its items keep a bullet to be told apart. */
const cellLabel = ({ role, label }: TextPiece): TextPiece['label'] =>
  role.kind === 'list_item' && (label === null || label.text === '') ? { number: null, text: '•' } : label;

/** A table in a cell is its texts, row by row. */
function inlineOfBlock(block: Block): Inline {
  if (block.kind !== 'table') return inlineOfRuns([plainRun(block.text)]);
  const rows = tableGrid({
    ...block,
    cells: block.cells.map((cell) => ({ ...cell, rowSpan: 1, columnSpan: 1 })),
  });
  const text = rows.map((row) => row.filter((cell) => cell !== '').join(' ')).join('\n');
  return inlineOfRuns([plainRun(text)]);
}
