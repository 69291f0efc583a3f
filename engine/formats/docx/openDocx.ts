import type { Block } from '../../document/document.ts';
import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, noteBlocks, noteRuns } from '../pieces/blocks.ts';
import { piecesIn } from './docxBody.ts';
import { docxNumbering } from './docxNumbering.ts';
import { docxParts, type DocxParts } from './docxPackage.ts';
import type { DocxReader } from './docxReader.ts';
import { docxStyles } from './docxStyles.ts';
import { openOffice } from '../office/openOffice.ts';
import type { Run } from '../pieces/runs.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';

const MIME_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Opens a Word document: its body in reading order and its notes, without headers and footers. */
export const openDocx: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const parts = docxParts(bytes);
    const reader = readerOf(parts);
    const body = childAt(parts.document, 'w:body') ?? parts.document;
    const blocks: readonly Block[] = blocksOf(piecesIn(body, reader));
    const notes = noteBlocks(notesOf(parts, reader));
    return { blocks: [...blocks, ...notes], warnings: reader.hasHidden ? [HIDDEN_TEXT] : [] };
  });

function readerOf({ document, styles, numbering, links }: DocxParts): DocxReader {
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
    isColoured: childAt(document, 'w:background') !== undefined,
    hasHidden: false,
    readPieces: (parent) => piecesIn(parent, reader),
  };
  return reader;
}

/** The notes in the order of their marks; a note may bring in others, once each. */
function notesOf(parts: DocxParts, reader: DocxReader): readonly (readonly Run[])[] {
  const bodies = {
    footnotes: new Map(
      elementsOf(parts.footnotes, 'w:footnote').map((note) => [note.attributes['w:id'], note]),
    ),
    endnotes: new Map(elementsOf(parts.endnotes, 'w:endnote').map((note) => [note.attributes['w:id'], note])),
  };
  const texts: (readonly Run[])[] = [];
  for (const { kind, id } of reader.notes) {
    reader.links = parts.links[kind];
    const body = bodies[kind].get(id);
    const pieces = body === undefined ? [] : piecesIn(body, reader);
    texts.push(noteRuns(pieces));
  }
  return texts;
}
