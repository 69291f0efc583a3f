import type { Networks } from './runtime.ts';
import { STRIP_HEIGHT, type Strip } from './lineStrip.ts';

/** A character that was read, with the column of the strip where it stands. */
export interface ReadCharacter {
  readonly text: string;
  readonly at: number;
  readonly confidence: number;
}

/** Shorter lines are laid on an empty strip of this width: the network was trained on none shorter. */
const WIDTH_MIN = 160;
/** What stands for no picture: the middle between black and white. */
const NOTHING = 0;

/**
 * The characters of a line, from left to right, or only those allowed. Spaces are left out: the white of the
 * picture tells them better.
 */
export async function readStrip(
  { read, characters }: Pick<Networks, 'read' | 'characters'>,
  strip: Strip,
  allowed?: (character: string) => boolean,
): Promise<readonly ReadCharacter[]> {
  const width = Math.max(WIDTH_MIN, strip.width);
  const { data, shape } = await read({ data: normalised(strip, width), shape: [1, 3, STRIP_HEIGHT, width] });
  const [, steps = 0, classes = 1] = shape;
  const known = allowed && classesOf(characters, allowed);
  const found: ReadCharacter[] = [];
  let before = 0;
  for (let step = 0; step < steps; step += 1) {
    const { best, likely } =
      known === undefined ? bestOf(data, step * classes, classes) : bestAmong(data, step * classes, known);
    const text = characters[best] ?? '';
    if (best !== 0 && best !== before && text.trim() !== '')
      found.push({ text, at: ((step + 0.5) * width) / steps, confidence: likely });
    before = best;
  }
  return found;
}

function bestOf(
  data: Float32Array,
  from: number,
  count: number,
): { readonly best: number; readonly likely: number } {
  let best = 0;
  let likely = -Infinity;
  for (let at = 0; at < count; at += 1) {
    const value = data[from + at] ?? 0;
    if (value > likely) {
      best = at;
      likely = value;
    }
  }
  return { best, likely };
}

/** The class that says "no character", and those of the characters allowed. */
const classesOf = (
  characters: readonly string[],
  allowed: (character: string) => boolean,
): readonly number[] => [
  0,
  ...characters.flatMap((character, i) => (character !== '' && allowed(character) ? [i] : [])),
];

/** How likely the best of some classes is, when it must be one of them. */
function bestAmong(
  data: Float32Array,
  from: number,
  classes: readonly number[],
): { readonly best: number; readonly likely: number } {
  let [best, likely, sum] = [0, -Infinity, 0];
  for (const at of classes) {
    const value = data[from + at] ?? 0;
    sum += value;
    if (value > likely) [best, likely] = [at, value];
  }
  return { best, likely: sum > 0 ? likely / sum : 0 };
}

/** From -1, black, to 1, white, three times. */
function normalised({ grey, width: filled }: Strip, width: number): Float32Array {
  const plane = STRIP_HEIGHT * width;
  const numbers = new Float32Array(3 * plane).fill(NOTHING);
  for (let y = 0; y < STRIP_HEIGHT; y += 1)
    for (let x = 0; x < filled; x += 1) numbers[y * width + x] = (grey[y * filled + x] ?? 0) / 127.5 - 1;
  numbers.copyWithin(plane, 0, plane);
  numbers.copyWithin(2 * plane, 0, plane);
  return numbers;
}
