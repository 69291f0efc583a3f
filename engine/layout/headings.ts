import type { Passage } from './paragraphs.ts';

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

/** Whether a passage is a heading: larger than the text, or set apart by its look and by itself. */
export function isHeading(passage: Passage, next: Passage | undefined, look: DocumentLook): boolean {
  const text = passage.lines.map((line) => line.text).join(' ');
  if (!hasFormOfHeading(passage) || !readsLikeHeading(text)) return false;
  const ratio = passage.size / look.bodySize;
  if (ratio >= look.larger) return true;
  const isShort = passage.lines.length <= 2 && text.length <= SAME_SIZE_MAX && !text.endsWith(':');
  return ratio >= 0.95 && isShort && isSetApart(passage, next, look);
}

/** In bold or italics, where the text is not. */
function isSetApart(passage: Passage, next: Passage | undefined, look: DocumentLook): boolean {
  if (passage.bold && !look.bodyBold)
    return next?.bold !== true || SECTION_NUMBER.test(passage.lines[0]?.text ?? '');
  return passage.italic && !look.bodyItalic && isFollowedByText(passage, next);
}

/** Italics set a heading apart only from a paragraph that follows. */
const isFollowedByText = ({ lines }: Passage, next: Passage | undefined): boolean =>
  lines.length === 1 && next !== undefined && !next.italic && next.lines.length > 1;

const hasFormOfHeading = ({ lines, mono, marker }: Passage): boolean =>
  lines.length <= LINES_MAX && !mono && marker?.ordered !== false;

function readsLikeHeading(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (text.length > CHARACTERS_MAX || letters < Math.max(2, 0.4 * text.replace(/\s/g, '').length))
    return false;
  return !/[,;]$/.test(text) && !(text.endsWith('.') && text.split(' ').length > 6);
}

/** Levels by look: the largest is 1; bold of the text's own size comes last. */
export function headingLevels(headings: readonly Passage[]): ReadonlyMap<Passage, 1 | 2 | 3 | 4 | 5 | 6> {
  const rank = ({ size, bold }: Passage): number => Math.round(size * 2) * 2 + (bold ? 1 : 0);
  const ranks = [...new Set(headings.map(rank))].sort((a, b) => b - a);
  const levels = new Map<Passage, 1 | 2 | 3 | 4 | 5 | 6>();
  for (const heading of headings) {
    const level = Math.min(6, ranks.indexOf(rank(heading)) + 1) as 1 | 2 | 3 | 4 | 5 | 6;
    levels.set(heading, level);
  }
  return levels;
}
