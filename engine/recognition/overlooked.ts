import type { Box } from '../document/document.ts';
import type { PlacedWord } from '../layout/content.ts';
import { packed, pixelsOf, type GreyImage } from './greyImage.ts';

/** Words below this are not taken from a second look at what was left. */
const SECOND_LOOK = 0.6;
/** Dark pixels that belong to no word found, of all: with more there may be words in pictures and tables. */
const LEFT_OVER = 0.012;

/** Looks once more at a picture of which much is left when the words found are painted over. */
export async function withOverlooked(
  upright: GreyImage,
  words: readonly PlacedWord[],
  look: (rest: GreyImage) => Promise<readonly PlacedWord[]>,
): Promise<readonly PlacedWord[]> {
  const sure = words.filter(({ confidence }) => confidence >= SECOND_LOOK);
  const rest = await paintedOver(
    upright,
    sure.map(({ box }) => box),
  );
  if (rest === undefined) return words;
  const more = (await look(rest)).filter(
    ({ confidence, text, box }) =>
      confidence >= SECOND_LOOK &&
      /[\p{L}\p{N}]/u.test(text) &&
      !sure.some((word) => overlaps(word.box, box)),
  );
  const unsure = words.filter(
    ({ confidence, box }) => confidence < SECOND_LOOK && !more.some((word) => overlaps(word.box, box)),
  );
  return [...sure, ...unsure, ...more];
}

const overlaps = (a: Box, b: Box): boolean =>
  Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 1 && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > 1;

/** Whether there is much on a picture that belongs to none of its words. */
export const isMuchLeft = async (image: GreyImage, words: readonly PlacedWord[]): Promise<boolean> =>
  undefined !==
  (await paintedOver(
    image,
    words.map(({ box }) => box),
  ));

/** The picture with the boxes white; undefined when hardly anything dark is left. */
async function paintedOver(
  { png, width, height, dpi }: GreyImage,
  boxes: readonly Box[],
): Promise<GreyImage | undefined> {
  const data = Buffer.from((await pixelsOf({ png, width, height })).data);
  for (const [x0, y0, x1, y1] of boxes) {
    const [from, to] = [Math.max(0, Math.floor(x0) - 2), Math.min(width, Math.ceil(x1) + 2)];
    for (let y = Math.max(0, Math.floor(y0) - 2); y < Math.min(height, Math.ceil(y1) + 2); y += 1)
      data.fill(255, y * width + from, y * width + to);
  }
  let dark = 0;
  for (const value of data) if (value < 110) dark += 1;
  if (dark < LEFT_OVER * data.length) return undefined;
  return packed(data, { width, height, dpi });
}
