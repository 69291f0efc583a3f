import { LiteParse, type TextItem } from '@llamaindex/liteparse';
import sharp from 'sharp';
import { cleanText } from '../../../domain/document/cleanText.ts';
import type { Box } from '../../../domain/document/document.ts';
import type { PlacedWord } from '../layout/content.ts';
import { likelyLanguage } from './languages.ts';
import { available, TESSDATA } from './tessdata.ts';

/** A grey picture without transparency, upright as far as its file says. */
export interface GreyImage {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
}

export interface RecogniseOptions {
  /** Tesseract's names, the most likely first. */
  readonly languages: readonly string[];
  /** Whether to look again where the first look was poor: turned, or in another language. */
  readonly thorough: boolean;
}

/** Words with boxes in pixels of the picture as it reads. */
export interface RecognisedImage {
  readonly words: readonly PlacedWord[];
  /** By how much the picture had to be turned, clockwise, to read upright. */
  readonly turned: 0 | 90 | 180 | 270;
  readonly width: number;
  readonly height: number;
}

/** Less contrast than this all over (deviation of grey values) is a blank page. */
const BLANK_DEVIATION = 1.5;
/** Below this mean confidence the picture may lie on its side. */
const POOR = 0.72;
/** Words below this are dirt more often than text. */
const CONFIDENCE_MIN = 0.3;

/** A picture's text. Blank pictures have no words; nothing is downloaded. */
export async function recogniseImage(
  image: GreyImage,
  { languages, thorough }: RecogniseOptions,
): Promise<RecognisedImage> {
  const known = available(languages);
  const [first] = known;
  if (first === undefined) throw new Error('no recognition data for the configured languages');
  const upright = { words: [], turned: 0, width: image.width, height: image.height } as const;
  if (await isBlank(image)) return upright;
  let best: RecognisedImage = { ...upright, words: await wordsIn(image, first) };
  if (!thorough) return best;
  if (quality(best.words) < POOR || liesOnItsSide(best.words))
    best = await bestTurn(image, { best, language: first });
  const language = likelyLanguage(
    best.words.map(({ text }) => text),
    known,
  );
  if (language === undefined || language === first) return best;
  const turnedImage = await turn(image, best.turned);
  const again = await wordsIn(turnedImage, `${language}+${first}`);
  return quality(again) >= quality(best.words) - 0.02 ? { ...best, words: again } : best;
}

async function isBlank({ png }: GreyImage): Promise<boolean> {
  const { channels } = await sharp(png).stats();
  return (channels[0]?.stdev ?? 0) < BLANK_DEVIATION;
}

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
      top = { words, turned, width: turnedImage.width, height: turnedImage.height };
    if (quality(top.words) > 0.85) break;
  }
  return top;
}

async function turn(image: GreyImage, turned: 0 | 90 | 180 | 270): Promise<GreyImage> {
  if (turned === 0) return image;
  const { data, info } = await sharp(image.png)
    .rotate(turned)
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height };
}

/** One pixel is one point: the picture carries no density, and is recognised as it is. */
async function wordsIn({ png, width }: GreyImage, language: string): Promise<readonly PlacedWord[]> {
  const parser = new LiteParse({
    ocrEnabled: true,
    ocrLanguage: language,
    tessdataPath: TESSDATA,
    quiet: true,
    imageMode: 'off',
    numWorkers: 1,
    dpi: 72,
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
  return [...text.matchAll(/\S+/g)].map((match) => {
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
