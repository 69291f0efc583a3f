import { sha256 } from '../../kernel/canonicalJson.ts';
import { addTo } from '../../kernel/lists.ts';
import { remembered } from '../../kernel/once.ts';
import { formAlike } from './alike.ts';
import { labelWords } from './labelWords.ts';
import {
  conceptEntries,
  LANGUAGES,
  type ConceptEntry,
  type ConceptPlace,
  type Language,
  type ValueKind,
} from './lexicon.ts';

export type { ValueKind } from './lexicon.ts';

/** An idea that documents and schemas name in many ways. */
export interface Concept {
  readonly id: string;
  readonly kind: ValueKind;
  readonly in: ConceptPlace | undefined;
  readonly standIn: string | undefined;
  readonly phrases: readonly (readonly string[])[];
}

/** German and Dutch write two words as one as often as apart. */
const COMPOUNDING: ReadonlySet<Language> = new Set(['de', 'nl']);

/** A phrase that ends in an article or preposition says another thing without it: "facture du". */
function conceptOf(id: string, entry: ConceptEntry): Concept {
  const { kind, in: place, stand_in: standIn } = entry;
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
  for (const language of LANGUAGES) {
    for (const phrase of entry[language] ?? []) {
      add(phrase);
      const pair = phrase.split(' ');
      if (COMPOUNDING.has(language) && pair.length === 2) add(pair.join(''));
    }
  }
  return { id, kind, in: place, standIn, phrases: [...phrases.values()] };
}

let known: readonly Concept[] | undefined;

/**
 * The shipped vocabulary. Competing concepts are there so that their labels are not taken for ours ("due date" for the
 * invoice date). Read at first use, for not every process extracts.
 */
export const concepts = (): readonly Concept[] =>
  (known ??= conceptEntries().map(([id, entry]) => conceptOf(id, entry)));

/** The concept with an id; undefined where there is none. */
export const conceptNamed = (id: string | undefined): Concept | undefined =>
  concepts().find((one) => one.id === id);

/** Concepts that rows of tables may ask for. */
export const isRowConcept = (concept: Concept): boolean => concept.in !== undefined;
/** Concepts that only rows have. */
export const isOnlyRowConcept = (concept: Concept): boolean => concept.in === 'rows';

/** A name for the concepts of this release, which artifacts keep. */
export const lexiconVersion = (): string =>
  sha256(
    concepts()
      .map(({ id, phrases }) => `${id}:${phrases.map((words) => words.join(' ')).join('|')}`)
      .join('\n'),
  ).slice(0, 16);

interface Phrase {
  readonly concept: Concept;
  readonly words: readonly string[];
}

/** The lexicon by its words. */
interface Index {
  readonly phrases: readonly Phrase[];
  /** Where each word stands: phrase and place in it. */
  readonly places: ReadonlyMap<string, readonly (readonly [phrase: number, place: number])[]>;
  readonly longWords: readonly string[];
}

let indexed: Index | undefined;

/** Made once, at first use. */
const index = (): Index => (indexed ??= indexOf(concepts()));

function indexOf(all: readonly Concept[]): Index {
  const phrases = all.flatMap((concept) => concept.phrases.map((words) => ({ concept, words })));
  const places = new Map<string, [phrase: number, place: number][]>();
  for (const [phrase, { words }] of phrases.entries()) {
    for (const [place, word] of words.entries()) {
      addTo(places, word, [phrase, place]);
    }
  }
  return { phrases, places, longWords: [...places.keys()].filter((word) => word.length >= 5) };
}

export interface PhraseScore extends Phrase {
  /** 0..1 as `phraseSimilarity` tells it. */
  readonly score: number;
}

/** Finds the phrases of the lexicon that a label says. It remembers words, so make one for each document. */
export interface Vocabulary {
  phrasesFor(label: readonly string[]): readonly PhraseScore[];
}

export function vocabulary(): Vocabulary {
  const likes = new Map<string, readonly (readonly [string, number])[]>();
  const likeWords = (word: string): readonly (readonly [string, number])[] =>
    remembered(likes, word, () => similarWords(word));
  return { phrasesFor: (label) => scored(label, likeWords) };
}

function similarWords(word: string): readonly (readonly [string, number])[] {
  const { places, longWords } = index();
  const exact = places.has(word) ? [[word, 1] as const] : [];
  if (word.length < 5) return exact;
  const others = longWords.flatMap((other) => {
    const similarity = other === word ? 0 : formAlike(other, word);
    return similarity > 0 ? [[other, similarity] as const] : [];
  });
  return [...exact, ...others];
}

function scored(
  label: readonly string[],
  likeWords: (word: string) => readonly (readonly [string, number])[],
): readonly PhraseScore[] {
  const { phrases, places } = index();
  const matches = new Map<number, number[]>();
  for (const word of new Set(label)) {
    for (const [other, similarity] of likeWords(word)) {
      for (const [phrase, place] of places.get(other) ?? []) {
        const best = matches.get(phrase) ?? [];
        best[place] = Math.max(best[place] ?? 0, similarity);
        matches.set(phrase, best);
      }
    }
  }
  return [...matches].flatMap(([at, best]) => {
    const phrase = phrases[at];
    return phrase === undefined ? [] : scoreOf(phrase, best, label.length);
  });
}

function scoreOf(phrase: Phrase, best: readonly number[], labelWords: number): readonly PhraseScore[] {
  const { length } = phrase.words;
  const hits = best.filter((similarity) => similarity > 0);
  if (length <= 2 && hits.length < length) return [];
  const matched = hits.reduce((sum, similarity) => sum + similarity, 0);
  return [{ ...phrase, score: matched / (length + 0.4 * Math.max(0, labelWords - length)) }];
}
