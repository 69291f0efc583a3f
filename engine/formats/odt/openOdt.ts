import { openOffice } from '../office/openOffice.ts';
import { childAt, elementsOf } from '../office/xmlTree.ts';
import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, noteBlocks, noteRuns } from '../pieces/blocks.ts';
import type { Run } from '../pieces/runs.ts';
import { odfContent } from './odfContent.ts';
import type { OdtReader } from './odtRuns.ts';

const MIME_TYPE = 'application/vnd.oasis.opendocument.text';

/** Opens an OpenDocument text: its body in reading order and its notes, without headers and footers. */
export const openOdt: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const { content, reader, hasWhitePages } = odfContent(bytes);
    reader.onPaper = hasWhitePages;
    const text = childAt(content, 'office:body', 'office:text');
    const blocks = text === undefined ? [] : blocksOf(reader.readPieces(text));
    const notes = noteBlocks(notesOf(reader));
    return { blocks: [...blocks, ...notes], warnings: reader.hasHidden ? [HIDDEN_TEXT] : [] };
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
