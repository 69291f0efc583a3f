import type { Field } from '../fields/fields.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';

/** Identifiers that show what they are by their form alone, by the word of a field's name that asks for them. */
const FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['doi', /(?<![\p{L}\p{N}.])10\.\d{4,9}\/[^\s"<>]{1,80}[\p{L}\p{N})]/u],
  ['orcid', /(?<!\d)\d{4}-\d{4}-\d{4}-\d{3}[\dX](?!\d)/u],
  ['issn', /(?<![\d-])\d{4}-\d{3}[\dX](?![\d-])/u],
  ['arxiv', /(?<![\d.])\d{4}\.\d{4,5}(?:v\d{1,2})?(?![\d.])/u],
]);

const SCORE = 0.97;
const TEXTS_MAX = 4000;

/** The first of such an identifier that the document has: it is its own, those of references come later. */
export function identifierOffers({ type, terms: { name } }: Field, { layout }: Source): readonly Draft[] {
  const form = name.map((word) => FORMS.get(word)).find((one) => one !== undefined);
  if (type !== 'string' || form === undefined) return [];
  for (const segment of paragraphsOf(layout).all.slice(0, TEXTS_MAX)) {
    const match = form.exec(segment.text);
    if (match === null) continue;
    const [text] = match;
    const at = { segment, from: match.index, to: match.index + text.length };
    return [{ ...at, text, value: text, strictness: 1, kind: 'form', score: SCORE }];
  }
  return [];
}
