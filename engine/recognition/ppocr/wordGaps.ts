import { median } from '../../layout/content.ts';
import { STRIP_HEIGHT, type Strip } from './lineStrip.ts';
import type { ReadCharacter } from './readStrip.ts';

/** A word of a strip, between two columns of it. */
export interface StripWord {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
}

/** White between two letters that is a space in no font, in heights of the line. */
const GAP_MIN = 0.12;
/** A space is this many times as wide as the white that usually parts letters of the line, and a little more. */
const GAP_TIMES = 1.6;
const GAP_MORE = 0.08;
/** The white of so few pairs may be all spaces: letters of no usual font stand wider apart than this, in heights. */
const PAIRS_FEW = 4;
const GAP_USUAL_MAX = 0.12;

interface Gap {
  /** Columns of the strip. */
  readonly from: number;
  readonly to: number;
}

/** Words by the white between characters: the network itself often leaves spaces out. */
export function stripWords(strip: Strip, characters: readonly ReadCharacter[]): readonly StripWord[] {
  const [first] = characters;
  if (first === undefined) return [];
  const inked = inkedColumns(strip);
  const pairs = characters.slice(1).map((character, i) => {
    const before = characters[i] ?? first;
    return { gap: widestGap(inked, before.at, character.at), step: character.at - before.at };
  });
  const usualGap = usualOf(pairs.map(({ gap }) => gap.to - gap.from));
  const few = pairs.length < PAIRS_FEW;
  const usualStep = median(pairs.map(({ step }) => step));
  const space = Math.max(GAP_MIN * STRIP_HEIGHT, GAP_TIMES * usualGap + GAP_MORE * STRIP_HEIGHT);
  const breaks = pairs.map(({ gap, step }) =>
    gap.to - gap.from > space && (few || step > usualStep) ? gap : undefined,
  );
  return wordsBetween(characters, breaks, edgesOf(inked));
}

const usualOf = (gaps: readonly number[]): number =>
  gaps.length < PAIRS_FEW ? Math.min(median(gaps), GAP_USUAL_MAX * STRIP_HEIGHT) : median(gaps);

function wordsBetween(
  characters: readonly ReadCharacter[],
  breaks: readonly (Gap | undefined)[],
  edges: Gap,
): readonly StripWord[] {
  const words: StripWord[] = [];
  let [from, start] = [edges.from, 0];
  for (let end = 1; end <= characters.length; end += 1) {
    const gap = breaks[end - 1];
    if (gap === undefined && end < characters.length) continue;
    const letters = characters.slice(start, end);
    words.push({
      text: letters.map(({ text }) => text).join(''),
      from,
      to: gap?.from ?? edges.to,
      confidence: letters.reduce((sum, { confidence }) => sum + confidence, 0) / letters.length,
    });
    [from, start] = [gap?.to ?? edges.to, end];
  }
  return words;
}

/** Whether a column has something that is nearer to the line's ink than to its ground, above and below cut off. */
function inkedColumns({ grey, width }: Strip): readonly boolean[] {
  const sorted = Uint8Array.from(grey).sort();
  const share = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const border = (share(0.03) + share(0.8)) / 2;
  return Array.from({ length: width }, (_, x) => {
    for (let y = 4; y < STRIP_HEIGHT - 4; y += 1) if ((grey[y * width + x] ?? 255) < border) return true;
    return false;
  });
}

/** The longest run of columns without ink between two columns; empty in the middle when there is none. */
function widestGap(inked: readonly boolean[], from: number, to: number): Gap {
  let widest: Gap = { from: (from + to) / 2, to: (from + to) / 2 };
  let start = Math.round(from);
  for (let x = start; x <= Math.round(to); x += 1) {
    if (inked[x] !== true && x < Math.round(to)) continue;
    if (x - start > widest.to - widest.from) widest = { from: start, to: x };
    start = x + 1;
  }
  return widest;
}

function edgesOf(inked: readonly boolean[]): Gap {
  const from = inked.indexOf(true);
  return from < 0 ? { from: 0, to: inked.length } : { from, to: inked.lastIndexOf(true) + 1 };
}
