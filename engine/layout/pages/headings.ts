import { isCaption, isNote } from '../captions.ts';
import type { Passage } from '../paragraphs.ts';

/** What the text of the whole document looks like. */
export interface DocumentLook {
  /** The size of most characters, in points. */
  readonly bodySize: number;
  /** Whether most of the text is bold, so that bold says nothing. */
  readonly bodyBold: boolean;
  readonly bodyItalic: boolean;
  /** Whether most of the text is typewritten, so that it is no code. */
  readonly bodyMono: boolean;
  /** A heading is larger than the text by at least this factor. Recognised sizes vary more. */
  readonly larger: number;
  /** Words that the document writes with a hyphen within a line. */
  readonly compounds: ReadonlySet<string>;
}

const CHARACTERS_MAX = 160;
const LINES_MAX = 3;
/** A heading of the text's own size is shorter. */
const SAME_SIZE_MAX = 110;
const SECTION_NUMBER = /^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+(?=\p{Lu})/u;

const placesOn = (pages: readonly (readonly Passage[])[]): readonly FollowedPassage[] =>
  pages.flatMap((page) => page.map((passage, index) => ({ passage, next: page[index + 1] })));

/** The styles of headings in a document, by which those on other pages of it are known. */
export const stylesOfHeadings = (
  pages: readonly (readonly Passage[])[],
  look: DocumentLook,
): ReadonlySet<string> => headingStyles(placesOn(pages), look);

interface HeadingsKnown {
  /** Those that the outline names. */
  readonly outlined: ReadonlyMap<Passage, number>;
  /** The styles of headings elsewhere in the document. */
  readonly known?: ReadonlySet<string> | undefined;
}

/**
 * The passages of a document that are headings: larger than the text, or set apart by their look and by themselves,
 * or named in its outline.
 */
export function headingsOf(
  pages: readonly (readonly Passage[])[],
  look: DocumentLook,
  { outlined, known = new Set() }: HeadingsKnown,
): readonly Passage[] {
  const places = placesOn(pages);
  const styles = new Set([...headingStyles(places, look), ...known]);
  return places
    .filter((place) => outlined.has(place.passage) || isHeading(place, look, styles))
    .map(({ passage }) => passage);
}

/** A passage with what follows it on the page. */
interface FollowedPassage {
  readonly passage: Passage;
  readonly next: Passage | undefined;
}

function isHeading(
  { passage, next }: FollowedPassage,
  look: DocumentLook,
  styles: ReadonlySet<string>,
): boolean {
  if (!hasFormOfHeading(passage, next, look) || !readsLikeHeading(textOf(passage))) return false;
  if (passage.size >= look.larger * look.bodySize) return true;
  if (!isShort(passage) || passage.size < 0.95 * look.bodySize) return false;
  return styles.has(styleOf(passage)) || isSetApart(passage, next, look);
}

const textOf = ({ lines }: Passage): string => lines.map((line) => line.text).join(' ');

function isShort(passage: Passage): boolean {
  const text = textOf(passage);
  return passage.lines.length <= 2 && text.length <= SAME_SIZE_MAX && !text.endsWith(':');
}

/** In bold or italics, where the text is not. */
function isSetApart(passage: Passage, next: Passage | undefined, look: DocumentLook): boolean {
  if (passage.bold && !look.bodyBold) {
    const isAlone = next?.bold !== true || styleOf(next) !== styleOf(passage);
    return isAlone || SECTION_NUMBER.test(passage.lines[0]?.text ?? '');
  }
  return passage.italic && !look.bodyItalic && isFollowedByText(passage, next);
}

/** Italics set a heading apart only from a paragraph that follows. */
const isFollowedByText = ({ lines }: Passage, next: Passage | undefined): boolean =>
  lines.length === 1 && next !== undefined && !next.italic && next.lines.length > 1;

/** A list has more than one item: a large text alone behind a bullet heads what follows. */
const hasFormOfHeading = (passage: Passage, next: Passage | undefined, look: DocumentLook): boolean => {
  const { lines, mono, marker, note, size } = passage;
  if (lines.length > LINES_MAX || mono || note !== undefined) return false;
  return marker?.ordered !== false || (size >= look.larger * look.bodySize && next?.marker === undefined);
};

function readsLikeHeading(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (text.length > CHARACTERS_MAX || letters < Math.max(2, 0.4 * text.replace(/\s/g, '').length))
    return false;
  if (isCaption(text) || isNote(text)) return false;
  return !/[,;]$/.test(text) && !(text.endsWith('.') && text.split(' ').length > 6);
}

/** Capitals alone, of a text of some length. */
const isInCapitals = (text: string): boolean => !/\p{Ll}/u.test(text) && /\p{Lu}{4}/u.test(text);

/** Half points tell sizes apart. */
const styleOf = (passage: Passage): string => {
  const { size, bold, italic, lines } = passage;
  return [Math.round(size * 2), bold, italic, lines[0]?.face, isInCapitals(textOf(passage))].join(' ');
};

/** A style is that of headings when this share of its passages looks so, and is followed by text. */
const SHORT_SHARE = 0.8;
const FOLLOWED_SHARE = 0.5;
/** Shorter passages are no text that something heads. */
const TEXT_MIN = 60;

/**
 * The styles other than the text's in which a document writes nothing but short passages that head text: a
 * little larger, in another font or in capitals. One passage shows no style, and recognised sizes and fonts none.
 */
function headingStyles(places: readonly FollowedPassage[], look: DocumentLook): ReadonlySet<string> {
  const byStyle = new Map<string, FollowedPassage[]>();
  const characters = new Map<string, number>();
  for (const place of places) {
    const style = styleOf(place.passage);
    characters.set(style, (characters.get(style) ?? 0) + textOf(place.passage).length);
    const known = byStyle.get(style);
    if (known === undefined) byStyle.set(style, [place]);
    else known.push(place);
  }
  const [body] = [...characters].sort((a, b) => b[1] - a[1]).map(([style]) => style);
  const found = [...byStyle].filter(([style, own]) => style !== body && areHeadings(own, look));
  return new Set(found.map(([style]) => style));
}

function areHeadings(places: readonly FollowedPassage[], look: DocumentLook): boolean {
  const known = places.filter(({ passage }) => passage.lines.every(({ face }) => face !== ''));
  if (known.length < 2) return false;
  const short = known.filter(
    ({ passage, next }) =>
      hasFormOfHeading(passage, next, look) && isShort(passage) && readsLikeHeading(textOf(passage)),
  );
  const followed = short.filter(({ next }) => next !== undefined && textOf(next).length >= TEXT_MIN);
  return short.length >= SHORT_SHARE * known.length && followed.length >= FOLLOWED_SHARE * known.length;
}
