import type { Block, DocumentWarning } from '../../document/document.ts';
import { isOverfull, PAGE_CHARACTERS_MAX, pagesOf } from '../../document/pages.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { linesOfBlock } from '../../document/markupLines.ts';
import { markupPage } from '../pieces/flow.ts';
import type { OpenedDocument, Opener } from '../pieces/opened.ts';
import { blocksOf, RefusedDocument, type Piece } from '../pieces/blocks.ts';
import { odfContent } from '../odt/odfContent.ts';
import type { OdtReader } from '../odt/odtRuns.ts';
import { said } from '../odt/odtStyles.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';

/** What reading a presentation gives: the pieces of each slide that is shown. */
interface Slides {
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

const MIME_TYPE = 'application/vnd.oasis.opendocument.presentation';
/** Frames that each slide repeats. */
const REPEATED = new Set(['header', 'footer', 'date-time', 'page-number', 'page']);

/** Opens an OpenDocument presentation: a page for each slide that is shown, with its speaker's notes at its end. */
export const openOdp: Opener = ({ bytes }) =>
  Promise.resolve(
    openSlides(MIME_TYPE, () => {
      const { content, reader } = odfContent(bytes);
      const slides = elementsOf(childAt(content, 'office:body', 'office:presentation'), 'draw:page');
      const shown = slides.filter((slide) => !isHidden(slide, reader));
      return {
        slides: shown.map((slide) => slidePieces(slide, reader)),
        hasHidden: shown.length < slides.length,
      };
    }),
  );

const isHidden = ({ attributes }: XmlElement, { styles }: OdtReader): boolean =>
  said(
    styles.chainOf('drawing-page', attributes['draw:style-name']),
    'style:drawing-page-properties',
    'presentation:visibility',
  ) === 'hidden';

function slidePieces(slide: XmlElement, reader: OdtReader): readonly Piece[] {
  const frames = elementsOf(slide).filter(
    ({ name, attributes }) =>
      name.startsWith('draw:') && !REPEATED.has(attributes['presentation:class'] ?? ''),
  );
  const titles = frames.filter(isTitle);
  const others = frames.filter((frame) => !isTitle(frame));
  return [
    ...titles.flatMap((frame) => reader.readPieces(frame).map(asTitle)),
    ...others.flatMap((frame) => reader.readPieces(frame)),
    ...notesOf(slide, reader),
  ];
}

const isTitle = ({ attributes }: XmlElement): boolean => attributes['presentation:class'] === 'title';

const asTitle = (piece: Piece): Piece =>
  piece.kind === 'text' ? { ...piece, role: { kind: 'heading', level: 1 }, label: null } : piece;

function notesOf(slide: XmlElement, reader: OdtReader): readonly Piece[] {
  const frames = elementsOf(childAt(slide, 'presentation:notes')).filter(
    ({ attributes }) => attributes['presentation:class'] === 'notes',
  );
  return spokenNotes(frames.flatMap((frame) => reader.readPieces(frame)));
}
