import type { Segment } from '../places/layout.ts';
import { postalLine } from './postal.ts';
import { folded } from '../../kernel/text.ts';
import { lexicon } from '../words/lexicon.ts';

const NAME_CHARACTERS_MAX = 80;
const LINE_CHARACTERS_MAX = 200;

/** The legal form of a company, as a word of its name. */
export const LEGAL_FORM = new RegExp(
  `(?:^|[\\s,])${lexicon.parties.legal_forms.pattern}(?=$|[\\s,.;)])`,
  'u',
);

/** A name where it stands. */
export interface NameInText {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const DOCUMENT_WORDS = lexicon.parties.document_words;

/** The title of a document, which names no one. */
export const isDocumentTitle = (text: string): boolean =>
  folded(text)
    .split(/[^\p{L}]+/u)
    .every((word) => word === '' || DOCUMENT_WORDS.has(word));

/** Letters, no label, no address line, not too long. */
export function isName(text: string): boolean {
  return (
    /^[\p{L}\p{N}"'“„]/u.test(text) &&
    /\p{L}{2,}/u.test(text) &&
    text.length <= NAME_CHARACTERS_MAX &&
    !isDocumentTitle(text) &&
    !/^[^:]{2,30}:/.test(text) &&
    postalLine(text) === undefined &&
    !/@|https?:|www\./.test(text) &&
    !/\d{3,}/.test(text) &&
    wordsWithDigits(text) * 3 < text.split(' ').length
  );
}

const wordsWithDigits = (text: string): number => text.split(' ').filter((word) => /\d/.test(word)).length;

/** A line of the head, or the first part of a sender's line. */
export function headName(segment: Segment): readonly NameInText[] {
  if (segment.text.length > LINE_CHARACTERS_MAX) return [];
  if (postalLine(segment.text) !== undefined && segment.text.split(/ [·•|–-] |, /).length < 3) return [];
  const [start = ''] = segment.text.split(/ [·•|–-] |, (?=.*\d)/);
  const text = start.trim();
  return isName(text) && isTitled(text) && text.split(' ').length <= 7
    ? [{ segment, from: 0, to: start.length, text }]
    : [];
}

/** Most of its longer words begin with a capital: a name, not a sentence. */
export function isTitled(text: string): boolean {
  const words = text.split(' ').filter((word) => /\p{L}{3}/u.test(word));
  const capital = words.filter((word) => /^[^\p{L}]*\p{Lu}/u.test(word));
  return (
    words.length > 0 && capital.length * 2 > words.length && !/[.!?]$/.test(text.replace(LEGAL_FORM, ''))
  );
}

/** The part of a segment up to its legal form, when it reads as a name. */
export function legalName(segment: Segment): NameInText | undefined {
  if (segment.text.length > LINE_CHARACTERS_MAX) return undefined;
  const match = LEGAL_FORM.exec(segment.text);
  if (match === null) return undefined;
  const to = match.index + match[0].length;
  const before = segment.text.slice(0, to);
  const from = Math.max(before.lastIndexOf(': ') + 2, before.lastIndexOf(' by ') + 4, 0);
  const start = from > 4 || before.includes(': ') ? from : 0;
  const text = before.slice(start).trim();
  const words = text.split(' ').length;
  return words >= 2 && words <= 7 && isName(text) ? { segment, from: start, to, text } : undefined;
}
