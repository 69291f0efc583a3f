import type { PlacedWord } from '../layout/content.ts';

/** A letter of a line, with its share of its word's width. */
export interface Letter {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
  /** Whether it is the first of its word. */
  readonly starts: boolean;
  readonly word: PlacedWord;
  readonly readBy: PlacedWord['readBy'];
}

/** Two letters that stand at one place of two readings; undefined where one reading has nothing there. */
export interface Pair {
  readonly one: Letter | undefined;
  readonly other: Letter | undefined;
  /** Alike but for accents. */
  readonly agrees: boolean;
}

/** Longer lines than this, in letters, are not compared letter by letter: the work grows with the square. */
const LETTERS_MAX = 300;

export function lettersIn(words: readonly PlacedWord[]): readonly Letter[] {
  return words.flatMap((word) => {
    const texts = Array.from(word.text);
    const step = (word.box[2] - word.box[0]) / Math.max(1, texts.length);
    return texts.map((text, i) => ({
      text,
      from: word.box[0] + i * step,
      to: word.box[0] + (i + 1) * step,
      confidence: word.confidence,
      starts: i === 0,
      word,
      readBy: word.readBy,
    }));
  });
}

/** Without accents. */
const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '');

/** Both readings side by side with as few differences as can be; undefined where they are too long to compare. */
export function alignedLetters(
  ones: readonly Letter[],
  others: readonly Letter[],
): readonly Pair[] | undefined {
  if (ones.length > LETTERS_MAX || others.length > LETTERS_MAX) return undefined;
  const [a, b] = [ones, others].map((letters) => letters.map(({ text }) => folded(text))) as [
    string[],
    string[],
  ];
  return walkedBack(differences(a, b), { ones, others, agree: (i, j) => a[i] === b[j] });
}

interface Readings {
  readonly ones: readonly Letter[];
  readonly others: readonly Letter[];
  readonly agree: (i: number, j: number) => boolean;
}

/** The cheapest way, from both ends to both beginnings. */
function walkedBack(costs: Uint16Array, { ones, others, agree }: Readings): readonly Pair[] {
  const width = others.length + 1;
  const costAt = (i: number, j: number): number => (i < 0 || j < 0 ? Infinity : (costs[i * width + j] ?? 0));
  const pairs: Pair[] = [];
  let [i, j] = [ones.length, others.length];
  while (i > 0 || j > 0) {
    const agrees = i > 0 && j > 0 && agree(i - 1, j - 1);
    const step = stepTo(costAt(i, j) - costAt(i - 1, j - 1), costAt(i, j) - costAt(i - 1, j), agrees);
    const one = step === 'other' ? undefined : ones[i - 1];
    const other = step === 'one' ? undefined : others[j - 1];
    pairs.push({ one, other, agrees: step === 'both' && agrees });
    i -= one === undefined ? 0 : 1;
    j -= other === undefined ? 0 : 1;
  }
  return pairs.reverse();
}

/** Which of the readings have a letter here, by what the ways to this place cost more than those before it. */
function stepTo(byBoth: number, byOne: number, agrees: boolean): 'both' | 'one' | 'other' {
  if (byBoth === (agrees ? 0 : 1)) return 'both';
  return byOne === 1 ? 'one' : 'other';
}

/** For each two beginnings how many letters differ, row by row. */
function differences(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1;
  const costs = new Uint16Array((a.length + 1) * width);
  for (let j = 0; j < width; j += 1) costs[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    costs[i * width] = i;
    for (let j = 1; j < width; j += 1) {
      const change = (costs[(i - 1) * width + j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const gap = Math.min(costs[(i - 1) * width + j] ?? 0, costs[i * width + j - 1] ?? 0) + 1;
      costs[i * width + j] = Math.min(change, gap);
    }
  }
  return costs;
}

/** Share of pairs that agree. */
export const likeness = (pairs: readonly Pair[]): number =>
  pairs.filter(({ agrees }) => agrees).length / Math.max(1, pairs.length);
