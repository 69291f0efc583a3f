import { concepts, type Concept } from './lexicon.ts';
import { wordSimilarity } from './words.ts';
import { addTo } from '../../kernel/lists.ts';
import { remembered } from '../../kernel/once.ts';

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

let known: Index | undefined;

/** Made once, at first use. */
const index = (): Index => (known ??= indexOf(concepts()));

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
    const similarity = other === word ? 0 : wordSimilarity(other, word);
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
