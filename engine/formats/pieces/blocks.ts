import type { Block, DocumentWarning } from '../../document/document.ts';
import type { ArchiveLimits } from '../archive.ts';
import { inlineOfParagraph, inlineOfRuns, inlineOfTitle, plainRun, textOfRuns, type Run } from './runs.ts';

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
export function withLabel(label: Label | null, runs: readonly Run[]): readonly Run[] {
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
