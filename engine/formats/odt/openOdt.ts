import { openOffice } from '../office/openOffice.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';
import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, noteBlocks, noteRuns } from '../pieces/blocks.ts';
import { withLetterheads } from '../pieces/letterheads.ts';
import type { Run } from '../pieces/runs.ts';
import { odfContent } from './odfContent.ts';
import type { OdtReader } from './odtRuns.ts';
import { odtSections } from './odtSections.ts';

const MIME_TYPE = 'application/vnd.oasis.opendocument.text';

/**
 * Opens an OpenDocument text: its body in reading order, the pages of each style between their headers and
 * footers, and its notes.
 */
export const openOdt: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const odf = odfContent(bytes);
    const { content, reader, named, hasWhitePages } = odf;
    reader.onPaper = hasWhitePages;
    const text = childAt(content, 'office:body', 'office:text');
    const blocks = text === undefined ? [] : blocksOf(withLetterheads(odtSections(text, odf)));
    const notes = noteBlocks(notesOf(reader));
    return {
      blocks: [...blocks, ...notes],
      warnings: reader.hasHidden || named.reader.hasHidden ? [HIDDEN_TEXT] : [],
    };
  });

/** A note may hold marks of others: those follow. */
function notesOf(reader: OdtReader): readonly (readonly Run[])[] {
  const texts: (readonly Run[])[] = [];
  for (const note of reader.notes) {
    const body = elementsOf(note, 'text:note-body').flatMap((part) => reader.readPieces(part));
    texts.push(noteRuns(body));
  }
  return texts;
}
