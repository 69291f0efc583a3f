import { odfContent } from '../odt/odfContent.ts';
import type { OdtReader } from '../odt/odtRuns.ts';
import { said } from '../odt/odtStyles.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';
import type { Opener } from '../opened.ts';
import type { Piece } from '../pieces/blocks.ts';
import { openSlides, spokenNotes } from './openSlides.ts';

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
