import { CONCEPTS, type Concept } from './lexicon.ts';
import { wordSimilarity } from './words.ts';

interface Phrase {
  readonly concept: Concept;
  readonly words: readonly string[];
}

const PHRASES: readonly Phrase[] = CONCEPTS.flatMap((concept) =>
  concept.phrases.map((words) => ({ concept, words })),
);

/** Where each word of the lexicon stands: phrase and place in it. */
const PLACES = new Map<string, [phrase: number, place: number][]>();
for (const [phrase, { words }] of PHRASES.entries()) {
  for (const [place, word] of words.entries()) {
    const known = PLACES.get(word);
    if (known === undefined) PLACES.set(word, [[phrase, place]]);
    else known.push([phrase, place]);
  }
}
const LONG_WORDS = [...PLACES.keys()].filter((word) => word.length >= 5);

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
  const likeWords = (word: string): readonly (readonly [string, number])[] => {
    const earlier = likes.get(word);
    if (earlier !== undefined) return earlier;
    const found = similarWords(word);
    likes.set(word, found);
    return found;
  };
  return { phrasesFor: (label) => scored(label, likeWords) };
}

function similarWords(word: string): readonly (readonly [string, number])[] {
  const exact = PLACES.has(word) ? [[word, 1] as const] : [];
  if (word.length < 5) return exact;
  const others = LONG_WORDS.flatMap((known) => {
    const similarity = known === word ? 0 : wordSimilarity(known, word);
    return similarity > 0 ? [[known, similarity] as const] : [];
  });
  return [...exact, ...others];
}

function scored(
  label: readonly string[],
  likeWords: (word: string) => readonly (readonly [string, number])[],
): readonly PhraseScore[] {
  const matches = new Map<number, number[]>();
  for (const word of new Set(label)) {
    for (const [known, similarity] of likeWords(word)) {
      for (const [phrase, place] of PLACES.get(known) ?? []) {
        const best = matches.get(phrase) ?? [];
        best[place] = Math.max(best[place] ?? 0, similarity);
        matches.set(phrase, best);
      }
    }
  }
  return [...matches].flatMap(([index, best]) => {
    const phrase = PHRASES[index];
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
