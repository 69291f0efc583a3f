import PostalMime from 'postal-mime';
import { containerFormat } from '../pieces/containerFormat.ts';
import { RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { plainRun } from '../pieces/runs.ts';
import { shiftedText } from '../office/symbols.ts';
import { rtfText } from '../rtf/openRtf.ts';
import { decodeText } from '../text/textDocument.ts';
import { htmlPieces } from '../text/html.ts';
import type { DocxChunk, DocxParts } from './docxPackage.ts';

/** What a document says, whole. */
export interface WholeText {
  readonly pieces: readonly Piece[];
  readonly notes: readonly (readonly Piece[])[];
  readonly hasHidden: boolean;
}

/** The documents that stand in another one, by their relationship ids. */
export type ChunkTexts = ReadonlyMap<string, WholeText>;

/**
 * Reads the documents that stand in another one as a whole (`w:altChunk`): Word documents, RTF, web pages, also
 * as archives of mail, and plain text. `readDocx` reads those that are as the outer one.
 */
export async function chunkTexts(
  { chunks }: DocxParts,
  readDocx: (bytes: Buffer) => Promise<WholeText>,
): Promise<ChunkTexts> {
  const texts = new Map<string, WholeText>();
  for (const { id, bytes } of chunks()) texts.set(id, await chunkText(bytes, readDocx));
  return texts;
}

const UNREADABLE = 'The document holds another one that is damaged or of a kind that cannot stand in it.';

async function chunkText(
  bytes: DocxChunk['bytes'],
  readDocx: (bytes: Buffer) => Promise<WholeText>,
): Promise<WholeText> {
  const container = containerFormat(bytes, 'chunk.docx');
  if (container !== undefined) {
    if (container.kind === 'known' && container.format === 'docx') return readDocx(bytes);
    throw new RefusedDocument(UNREADABLE);
  }
  if (bytes.subarray(0, 5).toString('latin1') === '{\\rtf') return rtfText(bytes);
  const text = decodeText(bytes);
  if (text === undefined) throw new RefusedDocument(UNREADABLE);
  if (/^(?:[\w-]+:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*)*?mime-version:/i.test(text.slice(0, 2000).trimStart()))
    return mailText(bytes);
  return isMarkup(text) ? htmlText(text) : plainText(text);
}

const isMarkup = (text: string): boolean => /^\s*<(?:!doctype|\?xml|!--|[a-z])/i.test(text.slice(0, 2000));

const htmlText = (html: string): WholeText => ({ ...htmlPieces(html), notes: [] });

/** Web pages are saved as mails: the page is the body, its pictures are attached. */
async function mailText(bytes: Buffer): Promise<WholeText> {
  const { html = '', text = '' } = await PostalMime.parse(bytes, { maxNestingDepth: 20 });
  return html.trim() === '' ? plainText(text) : htmlText(html);
}

const plainText = (text: string): WholeText => ({
  pieces: text
    .split(/\r\n?|\n/)
    .map((line) => ({ kind: 'text', role: { kind: 'paragraph' }, label: null, runs: [plainRun(line)] })),
  notes: [],
  hasHidden: false,
});

/** A document inside another one: its notes are counted by themselves and follow it. */
export function insideAnother({ pieces, notes }: WholeText): readonly Piece[] {
  if (notes.length === 0) return pieces;
  return [...pieces.map(withPlainMarks), ...notes.map(noteParagraph)];
}

const markOf = (note: number): string => shiftedText(String(note), 'super');

const withPlainMarks = (piece: Piece): Piece =>
  piece.kind === 'text'
    ? { ...piece, runs: piece.runs.map((run) => (run.note === null ? run : plainRun(markOf(run.note)))) }
    : piece;

const noteParagraph = (note: readonly Piece[], index: number): Piece => ({
  kind: 'text',
  role: { kind: 'paragraph' },
  label: null,
  runs: [
    plainRun(`${markOf(index + 1)} `),
    ...note.flatMap((piece) => (piece.kind === 'text' ? piece.runs : [])),
  ],
});
