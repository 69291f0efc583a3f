import type { Block, DocumentWarning } from '../../document/document.ts';
import { isOverfull, PAGE_CHARACTERS_MAX, pagesOf } from '../../document/pages.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { linesOfBlock, markupPage } from '../flow.ts';
import type { OpenedDocument } from '../opened.ts';
import { blocksOf, RefusedDocument, type Piece } from '../pieces/blocks.ts';

/** What reading a presentation gives: the pieces of each slide that is shown. */
export interface Slides {
  readonly slides: readonly (readonly Piece[])[];
  /** Whether slides are left out, for nobody who is shown the presentation sees them. */
  readonly hasHidden: boolean;
}

/** Opens what `read` gives with a page for each slide; what stops it is a failure, for the file is to blame. */
export function openSlides(mimeType: string, read: () => Slides): OpenedDocument | ParseFailure {
  try {
    const { slides, hasHidden } = read();
    const pages = pagesOf({ by: 'pages', pages: slides.length });
    const blocks = Array.from({ length: pages }, (_, index) => blocksOf(slides[index] ?? []));
    if (blocks.some((all) => isOverfull(all)))
      throw new RefusedDocument(`A slide has more than ${PAGE_CHARACTERS_MAX} characters.`);
    const document = {
      mimeType,
      pages: blocks.map((all, index) =>
        markupPage({ page: index + 1, blocks: all, lines: all.flatMap(linesOfBlock) }),
      ),
      warnings: warningsOf(blocks, hasHidden),
    };
    return { kind: 'open', mimeType, pages, read: () => Promise.resolve({ kind: 'ok', document }) };
  } catch (error) {
    const detail = error instanceof RefusedDocument ? error.message : 'The presentation is damaged.';
    return { kind: 'unreadable', detail };
  }
}

/** What the speaker noted, under its own word. */
export function spokenNotes(pieces: readonly Piece[]): readonly Piece[] {
  const [first, ...others] = pieces.filter(
    (piece) => piece.kind === 'block' || piece.runs.some(({ text }) => text.trim() !== ''),
  );
  if (first?.kind !== 'text') return [];
  return [{ ...first, role: { kind: 'paragraph' }, label: { number: null, text: 'Notes:' } }, ...others];
}

const warningsOf = (
  blocks: readonly (readonly Block[])[],
  hasHidden: boolean,
): readonly DocumentWarning[] => [
  ...(hasHidden ? [HIDDEN_SLIDES] : []),
  ...(blocks.every((all) => all.length === 0) ? [NO_TEXT] : []),
];

const HIDDEN_SLIDES: DocumentWarning = {
  code: 'hidden_text',
  message: 'Slides that are hidden in the presentation were left out.',
};
const NO_TEXT: DocumentWarning = { code: 'no_text_found', message: 'The presentation has no text.' };
