import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, noteBlocks, noteRuns, RefusedDocument } from '../pieces/blocks.ts';
import { openOffice } from '../office/openOffice.ts';
import { readRtf } from './rtfReader.ts';
import { rtfTokens } from './rtfTokens.ts';

const MIME_TYPE = 'application/rtf';

/** Opens an RTF text: its body in reading order and its notes, without headers and footers. */
export const openRtf: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const source = bytes.toString('latin1');
    const start = source.indexOf('{\\rtf');
    if (start < 0) throw new RefusedDocument('The document is damaged.');
    const { pieces, notes, hasHidden } = readRtf(rtfTokens(source.slice(start)));
    return {
      blocks: [...blocksOf(pieces), ...noteBlocks(notes.map(noteRuns))],
      warnings: hasHidden ? [HIDDEN_TEXT] : [],
    };
  });
