import type { Opener } from '../pieces/opened.ts';
import {
  blocksOf,
  HIDDEN_TEXT,
  noteBlocks,
  noteRuns,
  RefusedDocument,
  type Piece,
} from '../pieces/blocks.ts';
import { withLetterheads } from '../pieces/letterheads.ts';
import { piecesIn } from './docxBody.ts';
import { chunkTexts, insideAnother, type ChunkTexts, type WholeText } from './docxChunks.ts';
import { docxNumbering } from './docxNumbering.ts';
import { docxParts, unpackBudget, type DocxParts, type UnpackBudget } from './docxPackage.ts';
import type { DocxReader } from './docxReader.ts';
import { docxSections } from './docxSections.ts';
import { docxStyles } from './docxStyles.ts';
import { openOffice } from '../office/openOffice.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/**
 * Opens a Word document: its body in reading order, each section between its headers and footers, and its notes.
 */
export const openDocx: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, async () => {
    const { pieces, notes, hasHidden } = await docxText(bytes, { depth: 0, budget: unpackBudget() });
    return {
      blocks: [...blocksOf(pieces), ...noteBlocks(notes.map(noteRuns))],
      warnings: hasHidden ? [HIDDEN_TEXT] : [],
    };
  });

interface Nesting {
  /** How many documents are around. */
  readonly depth: number;
  readonly budget: UnpackBudget;
}

const DEPTH_MAX = 3;

async function docxText(bytes: Buffer, { depth, budget }: Nesting): Promise<WholeText> {
  if (depth > DEPTH_MAX) throw new RefusedDocument('The document holds others that are nested too deeply.');
  const parts = docxParts(bytes, budget);
  const chunks = await chunkTexts(parts, (inner) => docxText(inner, { depth: depth + 1, budget }));
  const reader = readerOf(parts, chunks);
  const pieces = withLetterheads(docxSections(parts, reader));
  return { pieces, notes: notesOf(parts, reader), hasHidden: reader.hasHidden };
}

function readerOf(parts: DocxParts, chunks: ChunkTexts): DocxReader {
  const { document, styles, numbering, links, drawn } = parts;
  const said = new Set<string>();
  const reader: DocxReader = {
    ...docxStyles(styles),
    numbering: docxNumbering(numbering),
    links: links.document,
    fields: [],
    notes: [],
    noteNumbers: new Map(),
    carried: [],
    aside: [],
    boxes: 0,
    isLetterhead: false,
    drawn,
    isColoured: childAt(document, 'w:background') !== undefined,
    hasHidden: false,
    readPieces: (parent) => piecesIn(parent, reader),
    readChunk: (id) => {
      const chunk = chunks.get(id);
      if (chunk === undefined || said.has(id)) return [];
      said.add(id);
      reader.hasHidden ||= chunk.hasHidden;
      return insideAnother(chunk);
    },
  };
  return reader;
}

/** The notes in the order of their marks; a note may bring in others, once each. */
function notesOf(parts: DocxParts, reader: DocxReader): readonly (readonly Piece[])[] {
  const bodies = {
    footnotes: new Map(
      elementsOf(parts.footnotes, 'w:footnote').map((note) => [note.attributes['w:id'], note]),
    ),
    endnotes: new Map(elementsOf(parts.endnotes, 'w:endnote').map((note) => [note.attributes['w:id'], note])),
  };
  const texts: (readonly Piece[])[] = [];
  for (const { kind, id } of reader.notes) {
    reader.links = parts.links[kind];
    const body = bodies[kind].get(id);
    texts.push(body === undefined ? [] : piecesIn(body, reader));
  }
  return texts;
}
