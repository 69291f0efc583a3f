import type { Opener } from '../pieces/opened.ts';
import { blocksOf, HIDDEN_TEXT, noteBlocks, noteRuns, RefusedDocument } from '../pieces/blocks.ts';
import { openOffice } from '../office/openOffice.ts';
import { readRtf, type RtfText } from './rtfReader.ts';
import { rtfTokens } from './rtfTokens.ts';

const MIME_TYPE = 'application/rtf';

/** Opens an RTF text: its body in reading order, each section between its headers and footers, and its notes. */
export const openRtf: Opener = ({ bytes }) =>
  openOffice(MIME_TYPE, () => {
    const { pieces, notes, hasHidden } = rtfText(bytes);
    return {
      blocks: [...blocksOf(pieces), ...noteBlocks(notes.map(noteRuns))],
      warnings: hasHidden ? [HIDDEN_TEXT] : [],
    };
  });

/** What an RTF file says; throws `RefusedDocument` where it is none or damaged. */
export function rtfText(bytes: Buffer): RtfText {
  const source = bytes.toString('latin1');
  const start = source.indexOf('{\\rtf');
  if (start < 0) throw new RefusedDocument('The document is damaged.');
  return readRtf(rtfTokens(source.slice(start)));
}
