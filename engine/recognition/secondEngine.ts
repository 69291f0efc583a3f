import { median, type PlacedWord } from '../layout/content.ts';
import { paidForLine, paidForMap, type Allowance } from './allowance.ts';
import type { Pixels } from './drawnRules.ts';
import { ALONE, bestReading, meanConfidence } from './bestReading.ts';
import { sharedLines, type SharedLine } from './sharedLines.ts';
import { detectLines, mapPixels } from './ppocr/detect.ts';
import { readingWidth, readLine } from './ppocr/readLines.ts';
import type { Networks } from './ppocr/runtime.ts';

/** A page or a line that the first engine read with this confidence is left to it. */
export const SURE = 0.9;
/** Fewer words tell nothing of the usual height of letters. */
const WORDS_MIN = 5;

export interface SecondReading {
  readonly networks: Networks;
  readonly allowance: Allowance;
  /** Whether lines are read that the first engine is sure of. */
  readonly all: boolean;
}

/** The words of a picture, where the second engine reads better than the first; lines most in doubt come first. */
export async function withSecondEngine(
  pixels: Pixels,
  words: readonly PlacedWord[],
  { networks, allowance, all }: SecondReading,
): Promise<readonly PlacedWord[]> {
  const height = letterHeight(words);
  if (!paidForMap(allowance, mapPixels(pixels, height))) return words;
  const { level } = await detectLines(networks.detect, pixels, height);
  const { lines, apart } = sharedLines(level, words);
  const doubtful = lines
    .map((shared) => ({ shared, sure: meanConfidence(shared.words) }))
    .filter(({ sure }) => all || sure < SURE)
    .sort((a, b) => a.sure - b.sure);
  const isSpelled = spelledWith(networks);
  const read = new Map<SharedLine, readonly PlacedWord[]>();
  for (const { shared } of doubtful) {
    if (!paidForLine(allowance, readingWidth(shared.line))) break;
    const line = await readLine(networks, pixels, shared.line);
    read.set(shared, bestReading(shared.words, line, isSpelled));
  }
  return [
    ...lines.flatMap((shared) => read.get(shared) ?? shared.words),
    ...apart.filter(({ confidence }) => confidence >= ALONE),
  ];
}

/** Usual height of words on a picture; undefined when too few are there. */
export function letterHeight(words: readonly PlacedWord[]): number | undefined {
  const sure = words.filter(({ confidence, text }) => confidence >= 0.6 && text.length > 1);
  return sure.length < WORDS_MIN ? undefined : median(sure.map(({ box }) => box[3] - box[1]));
}

const spelled = new WeakMap<readonly string[], ReadonlySet<string>>();

function spelledWith({ characters }: Networks): (letter: string) => boolean {
  const known = spelled.get(characters) ?? new Set(characters);
  spelled.set(characters, known);
  return (letter) => known.has(letter);
}
