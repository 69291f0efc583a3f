import { imagePieces, type Piece } from '../pieces/blocks.ts';
import { PAGE_MARK } from '../pieces/letterheads.ts';
import { said, type OdtStyles } from './odtStyles.ts';
import { coloursOf, isWhiteOnWhite, ON_WHITE, type Colours } from './odtColours.ts';
import { linkOf, noteRun, PLAIN, plainRun, type Look, type Run } from '../pieces/runs.ts';
import { shiftedText } from '../office/symbols.ts';
import { childAt, elementsOf, findAll, textIn, type XmlElement } from '../office/xmlTree.ts';

/** What reading a document remembers. */
export interface OdtReader {
  readonly styles: OdtStyles;
  /** It reads headers and footers: they stand on many pages. */
  readonly isLetterhead: boolean;
  /** The bodies of the notes, in the order of their marks. */
  readonly notes: XmlElement[];
  /** Frames and images of the paragraph that is being read: they follow it. */
  aside: Piece[];
  hasHidden: boolean;
  /** What is being read stands on white: pages, cells and frames may have another colour. */
  onPaper: boolean;
  readonly readPieces: (parent: XmlElement) => readonly Piece[];
  /** The text of an equation that is a part of the file. */
  readonly equationAt: (path: string) => string | undefined;
  /** What a chart that is a part of the file says: its titles, and its values as a table. */
  readonly chartAt: (path: string) => readonly Piece[];
  /** What the fields and boxes of forms show, by their ids. */
  readonly controls: ReadonlyMap<string, string>;
}

/** How the text around looks; null where nobody sees it. */
interface TextLook {
  readonly look: Look | null;
  readonly colours: Colours;
  readonly shift: 'super' | 'sub' | null;
}

const SPACES_MAX = 1000;
const UNSEEN = new Set([
  // A prompt to write something here.
  'text:placeholder',
  'office:annotation',
  'office:annotation-end',
  'text:tracked-changes',
  'text:ruby-text',
  'text:note-citation',
  'svg:title',
  'svg:desc',
]);
const HIDDEN = new Set(['text:hidden-text', 'text:hidden-paragraph']);

const COUNTS = new Set(['text:page-number', 'text:page-count', 'text:page-continuation']);

/** The visible runs of a paragraph. White space collapses, as OpenDocument says. */
export function odtRuns(
  paragraph: XmlElement,
  chain: readonly XmlElement[],
  reader: OdtReader,
): readonly Run[] {
  const look = isHidden(chain) ? null : PLAIN;
  return runsIn(paragraph, { look, colours: coloursOf(chain, ON_WHITE), shift: null }, reader);
}

function runsIn(element: XmlElement, place: TextLook, reader: OdtReader): readonly Run[] {
  return element.children.flatMap((child) =>
    typeof child === 'string'
      ? textRuns(child.replace(/[ \t\r\n]+/g, ' '), place, reader)
      : runsOf(child, place, reader),
  );
}

function textRuns(text: string, { look, colours, shift }: TextLook, reader: OdtReader): readonly Run[] {
  if (look === null || (reader.onPaper && isWhiteOnWhite(colours))) {
    if (text.trim() !== '') reader.hasHidden = true;
    return [];
  }
  return [{ ...look, note: null, text: shift === null ? text : shiftedText(text, shift) }];
}

function runsOf(element: XmlElement, place: TextLook, reader: OdtReader): readonly Run[] {
  if (UNSEEN.has(element.name) || element.attributes['style:showing-place-holder'] === 'true') return [];
  if (HIDDEN.has(element.name)) return textRuns(textIn(element), { ...place, look: null }, reader);
  const sign = reader.isLetterhead && COUNTS.has(element.name) ? PAGE_MARK : signOf(element);
  return sign === undefined ? runsOfInset(element, place, reader) : textRuns(sign, place, reader);
}

function signOf(element: XmlElement): string | undefined {
  if (element.name === 'text:s') return ' '.repeat(spacesOf(element));
  if (element.name === 'text:tab') return '\t';
  return element.name === 'text:line-break' ? '\n' : undefined;
}

function runsOfInset(element: XmlElement, place: TextLook, reader: OdtReader): readonly Run[] {
  switch (element.name) {
    case 'text:span':
      return runsIn(element, spanned(element, place, reader), reader);
    case 'text:a':
      return runsIn(element, linked(element, place), reader);
    case 'draw:control':
      return textRuns(reader.controls.get(element.attributes['draw:control'] ?? '') ?? '', place, reader);
    case 'text:note':
      return place.look === null ? [] : [noteRun(reader.notes.push(element))];
    default:
      return element.name.startsWith('draw:')
        ? drawn(element, place, reader)
        : runsIn(element, place, reader);
  }
}

const spacesOf = ({ attributes }: XmlElement): number =>
  Math.min(SPACES_MAX, Math.max(1, Number(attributes['text:c'] ?? '1') || 1));

const linked = ({ attributes }: XmlElement, place: TextLook): TextLook =>
  place.look === null
    ? place
    : { ...place, look: { ...place.look, link: linkOf(attributes['xlink:href'] ?? '') } };

function spanned({ attributes }: XmlElement, place: TextLook, { styles }: OdtReader): TextLook {
  const chain = styles.chainOf('text', attributes['text:style-name']);
  const look = place.look === null || isHidden(chain) ? null : lookOf(chain, place.look);
  const position = said(chain, 'style:text-properties', 'style:text-position');
  const colours = coloursOf(chain, place.colours);
  return { look, colours, shift: position === undefined ? place.shift : shiftOf(position) };
}

/** `super 58%` or `33% 58%`; below the line the share is negative. */
function shiftOf(position: string): TextLook['shift'] {
  const [where = ''] = position.split(' ');
  if (where === 'super' || where === 'sub') return where;
  const share = Number.parseFloat(where);
  if (!(share !== 0)) return null;
  return share > 0 ? 'super' : 'sub';
}

/** Whether a style hides its text, or makes it smaller than can be read. */
export function isHidden(chain: readonly XmlElement[]): boolean {
  const size = /^([\d.]+)pt$/.exec(said(chain, 'style:text-properties', 'fo:font-size') ?? '')?.[1];
  return (
    said(chain, 'style:text-properties', 'text:display') === 'none' ||
    (size !== undefined && Number(size) < 2)
  );
}

function lookOf(chain: readonly XmlElement[], around: Look): Look {
  const says = (attribute: string): string | undefined => said(chain, 'style:text-properties', attribute);
  const weight = says('fo:font-weight');
  const slant = says('fo:font-style');
  const struck = says('style:text-line-through-style') ?? says('style:text-line-through-type');
  return {
    ...around,
    bold: weight === undefined ? around.bold : weight === 'bold' || Number(weight) >= 600,
    italic: slant === undefined ? around.italic : slant === 'italic' || slant === 'oblique',
    strike: struck === undefined ? around.strike : struck !== 'none',
  };
}

/** Equations stay in the line; the text of frames and the descriptions of images follow the paragraph. */
function drawn(drawing: XmlElement, { look }: TextLook, reader: OdtReader): readonly Run[] {
  if (look === null) return [];
  const object = findAll(drawing, 'draw:object')[0];
  const path = object?.attributes['xlink:href']?.replace(/^\.\//, '');
  const equation = path === undefined ? undefined : reader.equationAt(path);
  if (equation !== undefined) return [plainRun(equation)];
  const { aside } = reader;
  const inside = path === undefined ? [] : reader.chartAt(path);
  reader.aside = [...aside, ...inside, ...piecesOfFrames(drawing, reader)];
  return [];
}

/** The texts of frames and shapes, or the description of an image. */
function piecesOfFrames(drawing: XmlElement, reader: OdtReader): readonly Piece[] {
  const frames = findAll(drawing, 'draw:text-box');
  const texts = frames.length > 0 ? frames : elementsOf(drawing).some(isText) ? [drawing] : [];
  const { onPaper } = reader;
  reader.onPaper = false;
  const pieces = texts.flatMap((frame) => {
    reader.aside = [];
    return reader.readPieces(frame);
  });
  reader.onPaper = onPaper;
  const described = childAt(drawing, 'svg:desc') ?? childAt(drawing, 'svg:title');
  return texts.length > 0 ? pieces : imagePieces(textIn(described));
}

const isText = ({ name }: XmlElement): boolean => name === 'text:p' || name === 'text:list';
