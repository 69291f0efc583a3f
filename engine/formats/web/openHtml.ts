import type { DocumentWarning } from '../../document/document.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { openFlow } from '../flow.ts';
import { blocksOf, HIDDEN_TEXT, RefusedDocument } from '../pieces/blocks.ts';
import type { OpenedDocument, SourceFile } from '../opened.ts';
import { htmlPieces } from './htmlPieces.ts';

/** Opens a page of HTML: what a reader sees of it, without its styles and scripts. */
export function openHtml({ text = '' }: SourceFile): Promise<OpenedDocument | ParseFailure> {
  try {
    const { pieces, hasHidden } = htmlPieces(text);
    const warnings: readonly DocumentWarning[] = hasHidden ? [HIDDEN_TEXT] : [];
    return Promise.resolve(openFlow({ mimeType: 'text/html', blocks: blocksOf(pieces), warnings }));
  } catch (error) {
    if (!(error instanceof RefusedDocument)) throw error;
    return Promise.resolve({ kind: 'unreadable', detail: error.message });
  }
}
