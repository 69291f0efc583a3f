import type { Field } from '../fields/fields.ts';
import { likeness } from '../matching/likeness.ts';
import { termsIn } from '../matching/terms.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import type { Draft } from '../singles/offer.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Source } from '../source.ts';

/** One to four words before a full stop or a dash, at the start of a paragraph. */
const HEADING = /^(?:\d{1,2}\.?\s)?((?:\p{L}{2,24}\s){0,3}\p{L}{2,24})(?:\.\s|\s?[—–]\s?)/u;
const NAMED = 0.9;
/** A text is longer than what a label names. */
const TEXT_MIN = 60;

/** The paragraph that a heading on its own first line opens: "Abstract. Peatlands are …", "Summary — We show …". */
export function runInOffers(field: Field, source: Source): readonly Draft[] {
  if (shapeOf(field) !== 'text') return [];
  return labelIndexOf(source)
    .speaking(field.terms)
    .flatMap((segment): readonly Draft[] => {
      const match = HEADING.exec(segment.text);
      const text = segment.text.slice(match?.[0].length ?? 0);
      if (match === null || text.length < TEXT_MIN) return [];
      const said = { label: termsIn(match[1] ?? ''), context: [], implied: new Set<string>() };
      const score = likeness(field.terms, said);
      if (score < NAMED) return [];
      const at = { segment, from: match[0].length, to: segment.text.length };
      return [{ ...at, text, value: text, strictness: 0.6, kind: 'below', score }];
    });
}
