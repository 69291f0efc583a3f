import type { Label, Piece, Role } from '../pieces/blocks.ts';
import { tableOfEdges, type EdgeRow } from '../office/edgeTables.ts';
import type { Run } from '../pieces/runs.ts';
import type { RtfParagraph } from './rtfState.ts';

/** A row's cells as they are declared, before they are filled. */
interface Declared {
  at: number[];
  merges: EdgeRow['merges'][number][];
  merge: EdgeRow['merges'][number];
  isHeader: boolean;
  /** Some cell has a colour behind its text. */
  isFilled: boolean;
}

/** A body, note or frame that is being read. */
export interface RtfStory {
  /** A note or frame. */
  readonly isInset: boolean;
  /** A header or footer. */
  isLetterhead: boolean;
  readonly pieces: Piece[];
  runs: Run[];
  label: string;
  /** Frames of the paragraph that is being read: they follow it. */
  aside: Piece[];
  rows: EdgeRow[];
  cells: Piece[][];
  cell: Piece[];
  declared: Declared;
}

const nothingDeclared = (): Declared => ({
  at: [0],
  merges: [],
  merge: 'none',
  isHeader: false,
  isFilled: false,
});

export const rtfStory = ({ isInset }: Pick<RtfStory, 'isInset'>): RtfStory => ({
  isInset,
  isLetterhead: false,
  pieces: [],
  runs: [],
  label: '',
  aside: [],
  rows: [],
  cells: [],
  cell: [],
  declared: nothingDeclared(),
});

/** Ends the paragraph that is being read, in its cell or outside of any table. */
export function endParagraph(story: RtfStory, paragraph: RtfParagraph, styled: Role): void {
  const { runs, aside } = story;
  const label = labelOf(story.label.trim(), paragraph.list > 0);
  const outlined: Role =
    paragraph.outline !== null && paragraph.outline < 9 && styled.kind !== 'title'
      ? { kind: 'heading', level: paragraph.outline + 1 }
      : styled;
  const role: Role =
    label !== null && outlined.kind === 'paragraph'
      ? { kind: 'list_item', level: paragraph.level }
      : outlined;
  const pieces: readonly Piece[] = [{ kind: 'text', role, label, runs }, ...aside];
  [story.runs, story.label, story.aside] = [[], '', []];
  if (paragraph.inTable) story.cell.push(...pieces);
  else {
    endTable(story);
    story.pieces.push(...pieces);
  }
}

/** A list item's visible label says what list it is of; without one it has a bullet. */
function labelOf(text: string, isListed: boolean): Label | null {
  if (text === '') return isListed ? { number: null, text: '' } : null;
  if (text === 'o' || !/[\p{L}\p{N}]/u.test(text)) return { number: null, text: '' };
  const number = /^(\d{1,6})[.)]?$/.exec(text)?.[1];
  return { number: number === undefined ? null : Number(number), text };
}

export function endCell(story: RtfStory): void {
  story.cells.push(story.cell);
  story.cell = [];
}

export function endRow(story: RtfStory): void {
  const { cells, declared } = story;
  if (cells.length > 0)
    story.rows.push({ cells, at: declared.at, merges: declared.merges, isHeader: declared.isHeader });
  story.cells = [];
}

/** What is left of a row that does not end stays as text. */
export function endTable(story: RtfStory): void {
  if (story.rows.length > 0) story.pieces.push(...tableOfEdges(story.rows));
  story.pieces.push(...story.cells.flat(), ...story.cell);
  [story.rows, story.cells, story.cell] = [[], [], []];
}

const FILLS = new Set(['clcbpat', 'clshdng', 'trcbpat']);

/** Takes in a word that declares a row; false where it is none. */
export function declareRow(story: RtfStory, word: string, value: number | null): boolean {
  story.declared.isFilled ||= FILLS.has(word);
  return FILLS.has(word) || declareCell(story, word, value);
}

function declareCell(story: RtfStory, word: string, value: number | null): boolean {
  const { declared } = story;
  switch (word) {
    case 'trowd':
      story.declared = nothingDeclared();
      return true;
    case 'trleft':
      declared.at[0] = value ?? 0;
      return true;
    case 'trhdr':
      declared.isHeader = true;
      return true;
    case 'clvmrg':
      declared.merge = 'above';
      return true;
    case 'clmrg':
      declared.merge = 'left';
      return true;
    case 'cellx':
      declared.at.push(value ?? 0);
      declared.merges.push(declared.merge);
      declared.merge = 'none';
      return true;
    default:
      return false;
  }
}
