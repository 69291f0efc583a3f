import { AMOUNTS } from '../lexicon/amounts.ts';
import type { ConceptRow, ValueKind } from '../lexicon/concept.ts';
import { DATES } from '../lexicon/dates.ts';
import { IDENTIFIERS } from '../lexicon/identifiers.ts';
import { PARTIES } from '../lexicon/parties.ts';
import { ROWS } from '../lexicon/rows.ts';
import { TERMS } from '../lexicon/terms.ts';
import { labelWords } from './words.ts';

export type { ValueKind } from '../lexicon/concept.ts';

/** An idea that documents and schemas name in many ways. */
export interface Concept {
  readonly id: string;
  readonly kind: ValueKind;
  readonly phrases: readonly (readonly string[])[];
}

/** German and Dutch write two words as one as often as apart. */
const COMPOUNDING = new Set([1, 5]);

/** A phrase that ends in an article or preposition says another thing without it: "facture du". */
function conceptOf([id, kind, ...languages]: ConceptRow): Concept {
  const phrases = new Map<string, readonly string[]>();
  const add = (phrase: string): void => {
    const words = labelWords(phrase);
    const says = words.join(' ');
    const start = phrase.split(' ').slice(0, -1).join(' ');
    const isCut =
      kind !== 'party' &&
      start !== '' &&
      labelWords(start).join(' ') === says &&
      !/(?:nr|no|id)$/.test(phrase);
    if (says !== '' && !isCut && (says !== 'nr' || id === 'line_number')) phrases.set(says, words);
  };
  for (const [language, texts] of languages.entries()) {
    for (const phrase of texts.split('|')) {
      add(phrase);
      const pair = phrase.split(' ');
      if (COMPOUNDING.has(language) && pair.length === 2) add(pair.join(''));
    }
  }
  return { id, kind, phrases: [...phrases.values()] };
}

/**
 * The shipped vocabulary: English, German, French, Spanish, Italian, Dutch, Portuguese. Competing concepts
 * are there so that their labels are not taken for ours ("due date" for the invoice date).
 */
export const CONCEPTS: readonly Concept[] = [
  ...AMOUNTS,
  ...DATES,
  ...IDENTIFIERS,
  ...PARTIES,
  ...ROWS,
  ...TERMS,
].map(conceptOf);
