import { memoryOf } from '../../kernel/once.ts';
import { folded } from '../../kernel/text.ts';
import { lexicon, values } from './lexicon.ts';

/** Spellings of one short word that labels use for another. */
const SAME: Readonly<Record<string, string>> = values.spellings;

const ARTICLES = lexicon.labels.articles;

/** Second halves of German and Dutch compounds that labels are made of. */
const HEADS: readonly string[] = lexicon.labels.compound_heads.words;

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

/** A header without its marks of footnotes: "(a)", "1)". */
export const withoutMarks = (header: string): string => header.replace(/\(\p{L}?\d{0,2}\)|[*†‡¹²³]/gu, ' ');

/** The words of a header without its marks of footnotes. */
export const headerWords = (header: string): readonly string[] =>
  labelWords(withoutMarks(header)).filter((word, _, all) => word.length > 1 || all.length === 1);

const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/^(.{2,})ies$/, '$1y'],
  [/^(.{2,}[^su])s$/, '$1'],
  [/^(.{4,})ing$/, '$1'],
  [/^(.{4,})ed$/, '$1'],
];

/** A word without the endings of English plurals and participles. */
export function stemOf(word: string): string {
  if (word.length < 4) return word;
  const ending = ENDINGS.find(([shape]) => shape.test(word));
  return ending === undefined ? word : word.replace(ending[0], ending[1]);
}
