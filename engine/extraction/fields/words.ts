import { memoryOf } from '../../kernel/once.ts';
import labels from '../lexicon/labels.json' with { type: 'json' };

/** Spellings of one short word that labels use for another. */
const SAME: Readonly<Record<string, string>> = labels.same;

const ARTICLES = new Set(labels.articles);

/** Second halves of German and Dutch compounds that labels are made of. */
const HEADS: readonly string[] = labels.compound_heads;

/** Text for comparing: without case and diacritics. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'ae')
    .replace(/œ/g, 'oe');

/** Labels and names come again and again, within a page and from schema to schema: short ones are split once. */
const split = memoryOf<readonly string[]>(2_000);
const SPLIT_CHARACTERS_MAX = 40;

/** The words of a label, folded: compounds split, spellings unified, articles dropped. */
export const labelWords = (text: string): readonly string[] =>
  text.length > SPLIT_CHARACTERS_MAX ? wordsOfLabel(text) : split(text, () => wordsOfLabel(text));

function wordsOfLabel(text: string): readonly string[] {
  const words = folded(text)
    .replace(/\b(sub|sous|zwischen)[\s-]+(?=tota|summe)/g, '$1')
    .replace(/\b(paid|money|check) (?=in\b)/g, '$1')
    .replace(/n[°º]\s*/g, ' nr ')
    .replace(/(\p{L}{5})s-(?=\p{L})/gu, '$1 ')
    .replace(/\b(?:st|u|e)\.-?/g, (short) => short.replace('.', ''))
    .replace(/[’']/g, ' ')
    .split(/[^\p{L}\p{N}#%]+/u)
    .filter((word) => word !== '');
  return words
    .flatMap(splitCompound)
    .map(unified)
    .filter((word, i, all) => !ARTICLES.has(word) && !(word === 'nr' && all[i - 1] === 'nr'));
}

/** A total of a part is another thing than a total. */
const PART_TOTAL = /^(?:sub|sous|zwischen)(?:tota|summe)/;

const unified = (word: string): string => (Object.hasOwn(SAME, word) ? (SAME[word] ?? word) : word);

function splitCompound(word: string): readonly string[] {
  if (PART_TOTAL.test(word)) return [word];
  const head = HEADS.find((end) => word.endsWith(end) && word.length >= end.length + 3);
  if (head === undefined) return [word];
  const stem = word.slice(0, -head.length);
  return [stem.endsWith('s') && stem.length > 4 ? stem.slice(0, -1) : stem, head];
}

/** Tokens of a property name: `invoiceNumber`, `invoice_number`, `invoice-number`. */
export const nameWords = (name: string): readonly string[] =>
  labelWords(name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/_/g, ' '));

/**
 * How far a label's word says a phrase's, 0..1: equal, one letter off, or one the end or start of the other.
 * A compound says its head ("Nettobetrag": Betrag); a head alone hardly says a compound.
 */
export function wordSimilarity(phraseWord: string, labelWord: string): number {
  if (phraseWord === labelWord) return 1;
  return labelWord.length > phraseWord.length
    ? partLikeness(phraseWord, labelWord, true)
    : partLikeness(labelWord, phraseWord, false);
}

function partLikeness(short: string, long: string, isCompound: boolean): number {
  if (short.length < 5) return 0;
  if (!long.endsWith(short) && !long.startsWith(short)) return oneLetterOff(short, long) ? ALIKE : 0;
  const isNear = isCompound || long.length - short.length <= 3;
  return isNear && isHeadOf(short, long) ? ALIKE : PART;
}

const isHeadOf = (short: string, long: string): boolean =>
  long.endsWith(short) || short.length * 2 >= long.length;

const ALIKE = 0.85;
const PART = 0.3;

/** Two words of six letters and more that differ in one, or of which one has one more. */
export function oneLetterOff(short: string, long: string): boolean {
  if (short.length < 6 || long.length - short.length > 1) return false;
  let i = 0;
  while (i < short.length && short[i] === long[i]) i += 1;
  const sameLength = short.length === long.length;
  return short.slice(sameLength ? i + 1 : i) === long.slice(i + 1);
}

/**
 * How well a label says a phrase, 0..1 = matched words / (words of the phrase + a part of the label's
 * others). Order does not count: "total net" is "net total".
 */
export function phraseSimilarity(phrase: readonly string[], label: readonly string[]): number {
  if (phrase.length === 0 || label.length === 0) return 0;
  let matched = 0;
  for (const word of phrase) {
    const best = label.reduce((most, other) => Math.max(most, wordSimilarity(word, other)), 0);
    if (best === 0 && phrase.length <= 2) return 0;
    matched += best;
  }
  const extra = Math.max(0, label.length - phrase.length);
  return matched / (phrase.length + 0.4 * extra);
}
