import type { Field } from '../fields/fields.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';
import { aloneOffers } from './alone.ts';
import { appositions } from './appositions.ts';
import { birthOffers } from './births.ts';
import { citationOffers } from './citationLine.ts';
import { datelineOffers } from './datelines.ts';
import { headOffers } from './headOffers.ts';
import { identifierOffers } from './identifiers.ts';
import { letterOffers } from './letters.ts';
import { rangeOffers } from './ranges.ts';
import { runInOffers } from './runIns.ts';

/**
 * What a document says by its parts rather than by labels: its head, its dateline, the address and the
 * signature of a letter, persons beside what they are, the ends of a range.
 */
export const partOffers = (field: Field, source: Source): readonly Draft[] => [
  ...headOffers(field, source),
  ...letterOffers(field, source),
  ...datelineOffers(field, source),
  ...rangeOffers(field, source),
  ...identifierOffers(field, source),
  ...citationOffers(field, source),
  ...runInOffers(field, source),
  ...birthOffers(field, source),
  ...aloneOffers(field, source),
  ...appositions(field, source),
];
