import { LiteParse, type TextItem } from '@llamaindex/liteparse';
import sharp from 'sharp';
import { cleanText } from '../document/cleanText.ts';
import type { Box } from '../document/document.ts';
import type { PlacedWord, Rule } from '../layout/content.ts';
import { drawnRules, isBlank, type Pixels } from './drawnRules.ts';
import { greyImage, packed, type GreyImage } from './greyImage.ts';
import { likelyLanguage } from './languages.ts';
import { available, TESSDATA } from './tessdata.ts';

export interface RecogniseOptions {
  /** Tesseract's names, the most likely first. */
  readonly languages: readonly string[];
  /** Whether to look again where the first look was poor: turned, or in another language. */
  readonly thorough: boolean;
  /** Whether to look once more at what the first look left: small words in pictures and dense tables. */
  readonly secondLook: boolean;
}

/** Words with boxes in pixels of the picture as it reads. */
export interface RecognisedImage {
  readonly words: readonly PlacedWord[];
  /** Lines that are drawn on a picture that lies upright, in pixels. */
  readonly rules: readonly Rule[];
  /** By how much the picture had to be turned, clockwise, to read upright. */
  readonly turned: 0 | 90 | 180 | 270;
  readonly width: number;
  readonly height: number;
}

/** Below this mean confidence the picture may lie on its side. */
const POOR = 0.72;
/** Words below this are dirt more often than text. */
const CONFIDENCE_MIN = 0.3;

/** A picture's text. Blank pictures have no words; nothing is downloaded. */
export async function recogniseImage(
  image: GreyImage,
  { languages, thorough, secondLook }: RecogniseOptions,
): Promise<RecognisedImage> {
  const known = available(languages);
  const [first] = known;
  if (first === undefined) throw new Error('no recognition data for the configured languages');
  const upright = { words: [], rules: [], turned: 0, width: image.width, height: image.height } as const;
  const pixels = await pixelsOf(image);
  if (isBlank(pixels)) return upright;
  let best: RecognisedImage = { ...upright, words: await wordsIn(image, first), rules: drawnRules(pixels) };
  if (!thorough) return best;
  if (quality(best.words) < POOR || liesOnItsSide(best.words))
    best = await bestTurn(image, { best, language: first });
  if (secondLook) best = { ...best, words: await withOverlooked(image, { best, language: first }) };
  const language = likelyLanguage(
    best.words.map(({ text }) => text),
    known,
  );
  if (language === undefined || language === first) return best;
  const turnedImage = await turn(image, best.turned);
  const again = await wordsIn(turnedImage, `${language}+${first}`);
  return quality(again) >= quality(best.words) - 0.02 ? { ...best, words: again } : best;
}

/** Words below this are not taken from a second look at what was left. */
const SECOND_LOOK = 0.6;
/** Dark pixels that belong to no word found, of all: with more there may be words in pictures and tables. */
const LEFT_OVER = 0.012;

/** Looks once more at a picture of which much is left when the words found are painted over. */
async function withOverlooked(
  image: GreyImage,
  { best, language }: { readonly best: RecognisedImage; readonly language: string },
): Promise<readonly PlacedWord[]> {
  const sure = best.words.filter(({ confidence }) => confidence >= SECOND_LOOK);
  const rest = await paintedOver(
    await turn(image, best.turned),
    sure.map(({ box }) => box),
  );
  if (rest === undefined) return best.words;
  const more = (await wordsIn(rest, language)).filter(
    ({ confidence, text, box }) =>
      confidence >= SECOND_LOOK &&
      /[\p{L}\p{N}]/u.test(text) &&
      !sure.some((word) => overlaps(word.box, box)),
  );
  const unsure = best.words.filter(
    ({ confidence, box }) => confidence < SECOND_LOOK && !more.some((word) => overlaps(word.box, box)),
  );
  return [...sure, ...unsure, ...more];
}

const overlaps = (a: Box, b: Box): boolean =>
  Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 1 && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > 1;

/** The picture with the boxes white; undefined when hardly anything dark is left. */
async function paintedOver(
  { png, width, height, dpi }: GreyImage,
  boxes: readonly Box[],
): Promise<GreyImage | undefined> {
  const data = Buffer.from((await pixelsOf({ png, width, height, dpi })).data);
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

const pixelsOf = async ({ png, width, height }: GreyImage): Promise<Pixels> => ({
  data: await sharp(png).extractChannel(0).raw().toBuffer(),
  width,
  height,
});

/** Mean confidence by characters, of what looks like words; few words weigh less. */
function quality(words: readonly PlacedWord[]): number {
  const letters = words.filter(({ text }) => /[\p{L}\p{N}]{2}/u.test(text));
  const characters = letters.reduce((sum, { text }) => sum + text.length, 0);
  if (characters === 0) return 0;
  const sure = letters.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / characters;
  return sure * Math.min(1, 0.6 + characters / 100);
}

/** Words that are taller than wide were read along the wrong axis. */
function liesOnItsSide(words: readonly PlacedWord[]): boolean {
  const long = words.filter(({ text }) => text.length >= 4);
  const tall = long.filter(({ box }) => box[3] - box[1] > box[2] - box[0]);
  return long.length >= 5 && tall.length > 0.5 * long.length;
}

async function bestTurn(
  image: GreyImage,
  { best, language }: { readonly best: RecognisedImage; readonly language: string },
): Promise<RecognisedImage> {
  let top = liesOnItsSide(best.words) ? { ...best, words: [] } : best;
  for (const turned of [90, 270, 180] as const) {
    const turnedImage = await turn(image, turned);
    const words = await wordsIn(turnedImage, language);
    if (!liesOnItsSide(words) && quality(words) > quality(top.words) + 0.03)
      top = { words, rules: [], turned, width: turnedImage.width, height: turnedImage.height };
    if (quality(top.words) > 0.85) break;
  }
  return top;
}

async function turn(image: GreyImage, turned: 0 | 90 | 180 | 270): Promise<GreyImage> {
  if (turned === 0) return image;
  return greyImage(sharp(image.png).rotate(turned), image.dpi);
}

/** The picture is recognised pixel by pixel as it is: drawn at the density that it is said to have. */
async function wordsIn({ png, width, dpi }: GreyImage, language: string): Promise<readonly PlacedWord[]> {
  const parser = new LiteParse({
    ocrEnabled: true,
    ocrLanguage: language,
    tessdataPath: TESSDATA,
    quiet: true,
    imageMode: 'off',
    numWorkers: 1,
    dpi,
    outputFormat: 'json',
    emitWordBoxes: true,
  });
  const { pages } = await parser.parse(png);
  const [page] = pages;
  if (page === undefined) return [];
  const scale = width / page.width;
  return page.textItems.flatMap((item) => itemWords(item, scale));
}

/** Items hold neighbouring words; their boxes are shared out by letters. */
function itemWords(item: TextItem, scale: number): readonly PlacedWord[] {
  const confidence = Math.min(0.99, item.confidence ?? 0);
  const text = cleanText(item.text);
  if (confidence < CONFIDENCE_MIN) return [];
  const step = (item.width * scale) / Math.max(1, text.length);
  const [left, top, bottom] = [item.x * scale, item.y * scale, (item.y + item.height) * scale];
  return [...text.matchAll(/[^\s|]+/g)].map((match) => {
    const x0 = left + match.index * step;
    const box: Box = [x0, top, x0 + match[0].length * step, bottom];
    return {
      text: match[0],
      box,
      size: bottom - top,
      bold: false,
      italic: false,
      mono: false,
      link: null,
      confidence,
    };
  });
}
