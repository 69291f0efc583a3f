import type { Field } from '../fields/fields.ts';
import { nextOf } from '../form/neighbours.ts';
import { says } from '../words/says.ts';
import { spelledAlike } from '../words/alike.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import type { Segment } from '../places/layout.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import type { Draft, Offering } from '../singles/values.ts';
import { impliedBy, shapeOf, type Shape } from '../singles/shapes.ts';
import { bicsIn, emailsIn, ibansIn, isFax, phonesIn, urlsIn, type Found } from '../values/identifiers.ts';
import type { Source } from '../source.ts';
import { datesIn } from '../values/dates.ts';
import { aboutOffers, contactOffers } from './contacts.ts';
import { headOffers } from './headOffers.ts';
import { letterOffers } from './letters.ts';
import { rangeOffers } from './ranges.ts';

/**
 * What a document says by its parts rather than by labels: its head, the address and the signature of a letter,
 * the ends of a range, identifiers that show what they are, paragraphs that a heading opens.
 */
export const PART_OFFERINGS: readonly Offering[] = [
  { by: 'head', offers: headOffers },
  { by: 'letter', offers: letterOffers },
  { by: 'ranges', offers: rangeOffers },
  { by: 'form', offers: identifierOffers },
  { by: 'contacts', offers: contactOffers },
  { by: 'contacts', offers: aboutOffers },
  { by: 'form', offers: onlyOfKind },
  { by: 'passages', offers: runInOffers },
  { by: 'stamps', offers: stampOffers },
];

/** Identifiers that show what they are by their form alone, by the word of a field's name that asks for them. */
const FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['doi', /(?<![\p{L}\p{N}.])10\.\d{4,9}\/[^\s"<>]{1,80}[\p{L}\p{N})]/u],
  ['orcid', /(?<!\d)\d{4}-\d{4}-\d{4}-\d{3}[\dX](?!\d)/u],
  ['issn', /(?<![\d-])\d{4}-\d{3}[\dX](?![\d-])/u],
  ['arxiv', /(?<![\d.])\d{4}\.\d{4,5}(?:v\d{1,2})?(?![\d.])/u],
]);

/** Kinds that show what they are, where a document has but one. */
const KINDS: Readonly<Partial<Record<Shape, (text: string) => readonly Found[]>>> = {
  iban: ibansIn, email: emailsIn, phone: phonesIn, url: urlsIn, bic: bicsIn,
}; // prettier-ignore

/** The only one of its kind in the document, for a field that asks for nothing else: `phone`, `iban`. */
function onlyOfKind(field: Field, { layout }: Source): readonly Draft[] {
  const shape = shapeOf(field);
  const among = KINDS[shape];
  if (among === undefined || !field.terms.name.every((word) => impliedBy(shape).has(word) || word === shape))
    return [];
  const all = paragraphsOf(layout)
    .all.slice(0, TEXTS_MAX)
    .flatMap((segment) => among(segment.text).map((one) => ({ ...one, segment })))
    .filter((one) => !isFax(one.segment.text, one));
  const [one] = all;
  const isOnly = new Set(all.map(({ value }) => value)).size === 1;
  return one !== undefined && isOnly ? [{ ...one, strictness: 1, kind: 'form', score: SHOWN }] : [];
}

const SHOWN = 0.97;
const TEXTS_MAX = 4000;

/** The first of such an identifier that the document has: it is its own, those of references come later. */
function identifierOffers({ type, terms: { name } }: Field, { layout }: Source): readonly Draft[] {
  const form = name.map((word) => FORMS.get(word)).find((one) => one !== undefined);
  if (type !== 'string' || form === undefined) return [];
  for (const segment of paragraphsOf(layout).all.slice(0, TEXTS_MAX)) {
    const match = form.exec(segment.text);
    if (match === null) continue;
    const [text] = match;
    const at = { segment, from: match.index, to: match.index + text.length };
    return [{ ...at, text, value: text, strictness: 1, kind: 'form', score: SHOWN }];
  }
  return [];
}

/** One to four words before a full stop or a dash, at the start of a paragraph. */
const HEADING = /^(?:\d{1,2}\.?\s)?((?:\p{L}{2,24}\s){0,3}\p{L}{2,24})(?:\.\s|\s?[—–]\s?)/u;
const NAMED = 0.9;
/** A text is longer than what a label names. */
const TEXT_MIN = 60;

/** The paragraph that a heading on its own first line opens: "Abstract. Peatlands are …", "Summary — We show …". */
function runInOffers(field: Field, source: Source): readonly Draft[] {
  if (shapeOf(field) !== 'text') return [];
  return labelIndexOf(source)
    .speaking(field.terms)
    .flatMap((segment): readonly Draft[] => {
      const match = HEADING.exec(segment.text);
      const text = segment.text.slice(match?.[0].length ?? 0);
      if (match === null || text.length < TEXT_MIN) return [];
      const said = { label: termsIn(match[1] ?? ''), context: [], implied: new Set<string>() };
      const score = says(said, field.terms);
      if (score < NAMED) return [];
      const at = { segment, from: match[0].length, to: segment.text.length };
      return [{ ...at, text, value: text, strictness: 0.6, kind: 'below', score }];
    });
}

const STAMP = /^(\p{L}{4,20}),? (?:by|at|on|in|von|durch|am|par|le|por|el|da|il|door|op)(?:\s|$)/u;
/** What was done with a document, and by whom, before its date: "Received by the Registry". */
export const isStamp = (text: string): boolean => STAMP.test(text);
const STAMP_CHARACTERS = 80;
const STAMPED = 0.9;
const SPELLED = 0.8;

/** The date of a stamp, whose first word the schema says of the field: "Received by the Registry 3/14/2031". */
function stampOffers(field: Field, source: Source): readonly Draft[] {
  if (shapeOf(field) !== 'date') return [];
  const words = [...field.terms.all];
  const isSaid = (word = ''): boolean =>
    word !== '' && weightOf(word) === 1 && words.some((other) => spelledAlike(other, word) >= SPELLED);
  return labelIndexOf(source)
    .speaking(field.terms)
    .filter(({ text }) => isSaid(STAMP.exec(text)?.[1]?.toLowerCase()))
    .flatMap((stamp) => {
      const next = nextOf(stamp, source.layout);
      const own = firstDate(stamp, source);
      return own.length > 0 || next === undefined ? own : firstDate(next, source);
    });
}

function firstDate(segment: Segment, { conventions }: Source): readonly Draft[] {
  const [date] = datesIn(segment.text, conventions.dayFirst);
  if (date === undefined || date.from > STAMP_CHARACTERS) return [];
  const { from, to, text, iso } = date;
  return [{ segment, from, to, text, value: iso, kind: 'inline', strictness: 1, score: STAMPED }];
}
