import type { Called } from '../fields/fields.ts';
import { folded, labelWords } from '../fields/words.ts';
import lists from '../lexicon/lists.json' with { type: 'json' };
import { sameStem } from './likeness.ts';

const TOTALS = new Set(lists.totals);
const WITHOUT = new Set(lists.without);

/** Which rows a list leaves out, as its description says. */
export interface RowChoice {
  readonly asksTotals: boolean;
  /** By what the row is called: a sum of others, or what the description excludes. */
  readonly leavesOut: (label: string) => boolean;
}

export function rowChoice({ description, phrases }: Called): RowChoice {
  const { asked, excluded } = parted(description);
  const asksTotals = [...asked, ...phrases.flat()].some((word) => TOTALS.has(word));
  return {
    asksTotals,
    leavesOut: (label) => {
      const words = wordsOf(label);
      if (words.length === 0) return false;
      if (!asksTotals && TOTALS.has(words[0] ?? '')) return true;
      return words.every((word) => excluded.some((other) => sameStem(word, other) >= 0.9));
    },
  };
}

/** The words before "without", and those after it up to the end of its clause. */
function parted(description: string): {
  readonly asked: readonly string[];
  readonly excluded: readonly string[];
} {
  const asked: string[] = [];
  const excluded: string[] = [];
  for (const clause of folded(description).split(/[.;:()]/)) {
    const words = clause.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
    const at = words.findIndex((word) => WITHOUT.has(word));
    asked.push(...(at < 0 ? words : words.slice(0, at)));
    if (at >= 0) excluded.push(...words.slice(at + 1));
  }
  return { asked, excluded };
}

const wordsOf = (label: string): readonly string[] =>
  labelWords(label.replace(/\(\p{L}?\d{0,2}\)|[*†‡]/gu, ' ')).filter((word) => word.length > 1);
