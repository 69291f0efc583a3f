import sharp from 'sharp';
import { type PlacedWord, type Rule, recognisedWord } from '../layout/content.ts';
import type { RecognitionEngine, Box } from '../document/document.ts';
import { isLate, type Allowance, type Hurry, paidForLine, paidForMap } from './allowance.ts';
import { drawnRules, isBlank } from './drawnRules.ts';
import { pixelsOf, type GreyImage, greyImage } from './greyImage.ts';
import { meanConfidence } from './bestReading.ts';
import { withLoneMarks } from './loneMarks.ts';
import { isMuchLeft, withOverlooked } from './overlooked.ts';
import { NetworkFailed, networks, type Networks } from './ppocr/runtime.ts';
import { SURE, withDoubtfulLines, withSecondEngine, type SecondReading } from './secondEngine.ts';
import { available, TESSDATA } from './tessdata.ts';
import { detectLines, mapPixels } from './ppocr/detect.ts';
import { bothWays, readingWidth } from './ppocr/readLines.ts';
import type { TextLine } from './ppocr/textLines.ts';
import { cleanText } from '../document/plainText.ts';
import { parseFile, type TextItem } from './liteparse.ts';

/** Words below this are dirt more often than text. */
const CONFIDENCE_MIN = 0.3;

/** The picture is recognised pixel by pixel as it is: drawn at the density that it is said to have. */
async function tesseractWords(
  { png, width, dpi }: GreyImage,
  language: string,
): Promise<readonly PlacedWord[]> {
  const { pages } = await parseFile(png, {
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
    return recognisedWord({ text: match[0], box, size: bottom - top, confidence, readBy: 'tesseract' });
  });
}

/** By how much a picture is turned, clockwise. */
type Turned = 0 | 90 | 180 | 270;

async function turn(image: GreyImage, turned: Turned): Promise<GreyImage> {
  if (turned === 0) return image;
  return greyImage(sharp(image.png).rotate(turned), image.dpi);
}

/** So many lines, the longest, are read both ways. */
const TRIED = 5;

/**
 * How a picture has to be turned to read upright: lines that run down tell that it lies on its side, and of a
 * line and the same line upside down the right one is read with more confidence. undefined: nothing tells.
 */
async function turnByLines(
  image: GreyImage,
  { networks, allowance }: Pick<SecondReading, 'networks' | 'allowance'>,
): Promise<Turned | undefined> {
  const pixels = await pixelsOf(image);
  if (!paidForMap(allowance, mapPixels(pixels, undefined))) return undefined;
  const found = await detectLines(networks.detect, pixels, undefined);
  const onItsSide = lengthOf(found.upright) > lengthOf(found.level);
  const lines = onItsSide ? found.upright.map(levelled) : found.level;
  const longest = [...lines].sort((a, b) => b.width - a.width).slice(0, TRIED);
  let [upright, upsideDown] = [0, 0];
  for (const line of longest) {
    if (!paidForLine(allowance, 2 * readingWidth(line))) break;
    const [one, other] = await bothWays(networks, pixels, line);
    upright += one;
    upsideDown += other;
  }
  if (upright === upsideDown) return undefined;
  if (!onItsSide) return upright > upsideDown ? 0 : 180;
  return upright > upsideDown ? 270 : 90;
}

const lengthOf = (lines: readonly TextLine[]): number => lines.reduce((sum, { width }) => sum + width, 0);

/** A line that runs down, as one that is read from top to bottom. */
const levelled = (line: TextLine): TextLine => ({
  ...line,
  angle: line.angle < 0 ? line.angle + Math.PI : line.angle,
});

/** Common short words of each language, by Tesseract's names. One that is not here is only used when it comes first. */
const COMMON: Readonly<Record<string, string>> = {
  eng: 'the of and to in is for that with on as are this by be from at or an it not have you your',
  deu:
    'der die das und ist in den von zu mit für auf ein eine nicht dem des im sie werden bei ' +
    'auch als wird zum zur einer oder sich wir ihre bitte',
  fra:
    'le la les de des du et est en un une pour que qui dans par sur au avec pas plus vous ' +
    'nous votre ce cette sont aux ou',
  spa: 'el la los las de del y en que un una por para con no se es su al lo más como pero sus este esta',
  ita: 'il la i le di del della e in che un una per con non si è al dei delle sono nel alla come più da',
  nld: 'de het een en van in is dat op te voor met niet zijn aan er ook als bij door naar wij',
  por: 'o a os as de do da dos das e em que um uma por para com não se no na ao mais como',
};

const SETS = new Map(
  Object.entries(COMMON).map(([language, words]) => [language, new Set(words.split(' '))]),
);

/** The language of most common words in a text, of those asked for; undefined when there are too few to say. */
function likelyLanguage(words: readonly string[], languages: readonly string[]): string | undefined {
  const plain = words
    .map((word) => word.toLowerCase().replace(/[^\p{L}]/gu, ''))
    .filter((word) => word !== '');
  let best: { readonly language: string; readonly hits: number } | undefined;
  for (const language of languages) {
    const set = SETS.get(language);
    if (set === undefined) continue;
    const hits = plain.filter((word) => set.has(word)).length;
    if (hits > (best?.hits ?? 0)) best = { language, hits };
  }
  return best !== undefined && best.hits >= 3 && best.hits >= 0.04 * plain.length ? best.language : undefined;
}

export interface RecogniseOptions {
  /** Tesseract's names, the most likely first. */
  readonly languages: readonly string[];
  /** Whether to look again where the first look was poor: turned, or in another language. */
  readonly thorough: boolean;
  /** Whether to look once more at what the first look left: small words in pictures and dense tables. */
  readonly secondLook: boolean;
  readonly engines: readonly RecognitionEngine[];
  /** Whether PP-OCR reads also what Tesseract is sure of. */
  readonly both: boolean;
  readonly allowance: Allowance;
  readonly hurry?: Hurry | undefined;
}

/** Words with boxes in pixels of the picture as it reads. */
export interface RecognisedImage {
  readonly words: readonly PlacedWord[];
  /** Lines that are drawn on a picture that lies upright, in pixels. */
  readonly rules: readonly Rule[];
  /** By how much the picture had to be turned, clockwise, to read upright. */
  readonly turned: Turned;
  readonly width: number;
  readonly height: number;
  /** The time was nearly used up: it was looked at once, and not closely. */
  readonly isHurried: boolean;
}

/** Below this mean confidence the picture may lie on its side. */
const POOR = 0.72;

/** A picture's text. Blank pictures have no words; nothing is downloaded. */
export async function recogniseImage(image: GreyImage, options: RecogniseOptions): Promise<RecognisedImage> {
  const reader = await readerOf(options);
  const size = { width: image.width, height: image.height };
  const none = { words: [], rules: [], turned: 0, isHurried: false, ...size } as const;
  const pixels = await pixelsOf(image);
  if (isBlank(pixels)) return none;
  const words = await reader.first(image, reader.known[0] ?? '');
  const best: RecognisedImage = { ...none, words, rules: drawnRules(pixels) };
  if (options.thorough && (await isLate(options.hurry))) return { ...best, isHurried: true };
  return options.thorough ? lookedAtAgain(image, { best, reader, options }) : best;
}

/** What reads the pictures of a document. */
interface Reader {
  /** Tesseract, or nothing where it is not wanted. */
  readonly first: (image: GreyImage, language: string) => Promise<readonly PlacedWord[]>;
  readonly second: Networks | undefined;
  /** Languages whose data are there, the most likely first. */
  readonly known: readonly string[];
}

/** Throws where nothing is left to read with. */
async function readerOf({ engines, languages }: RecogniseOptions): Promise<Reader> {
  const second = engines.includes('ppocr') ? await networks() : undefined;
  const known = available(languages);
  if (engines.includes('tesseract') && known.length > 0) return { first: tesseractWords, second, known };
  if (second === undefined) throw new Error('no recognition data for the configured engines and languages');
  return { first: () => Promise.resolve([]), second, known };
}

interface Looked {
  readonly best: RecognisedImage;
  readonly reader: Reader;
  readonly options: RecogniseOptions;
}

/** Looks again where the first look was poor; without the second engine where that fails. */
async function lookedAtAgain(image: GreyImage, looked: Looked): Promise<RecognisedImage> {
  try {
    return await lookedThrough(image, looked);
  } catch (error) {
    const { reader, options } = looked;
    if (!(error instanceof NetworkFailed) || !options.engines.includes('tesseract')) throw error;
    return lookedThrough(image, { ...looked, reader: { ...reader, second: undefined } });
  }
}

/** Turned, in another language, with the second engine. */
async function lookedThrough(
  image: GreyImage,
  { best, reader, options: { both, allowance, secondLook, hurry } }: Looked,
): Promise<RecognisedImage> {
  const turned = await asItReads(image, { best, reader, allowance });
  if (await isLate(hurry)) return { ...turned, isHurried: true };
  const standing = await turn(image, turned.turned);
  const words = await inItsLanguage(standing, turned.words, reader);
  const { second, known } = reader;
  if (second === undefined) {
    const look = (rest: GreyImage) => reader.first(rest, known[0] ?? '');
    return { ...turned, words: secondLook ? await withOverlooked(standing, words, look) : words };
  }
  const wish = { networks: second, allowance, both, secondLook };
  return { ...turned, words: await readTwice(standing, words, wish) };
}

interface Twice extends Omit<SecondReading, 'all'>, Pick<RecogniseOptions, 'both' | 'secondLook'> {}

/** All that is in doubt is read by the second engine, be it the whole picture or single lines. */
async function readTwice(
  standing: GreyImage,
  words: readonly PlacedWord[],
  { networks, allowance, both, secondLook }: Twice,
): Promise<readonly PlacedWord[]> {
  const pixels = await pixelsOf(standing);
  const isPoor = meanConfidence(words) < SURE;
  const reading = { networks, allowance, all: both || isPoor };
  const isSearched = reading.all || (secondLook && (await isMuchLeft(standing, words)));
  const read = isSearched
    ? await withSecondEngine(pixels, words, reading)
    : await withDoubtfulLines(pixels, words, reading);
  return secondLook ? withLoneMarks(pixels, read, reading) : read;
}

interface Turning {
  readonly best: RecognisedImage;
  readonly reader: Reader;
  readonly allowance: Allowance;
}

/** The picture turned where it does not read as it lies: by its lines where they tell, else by trying. */
async function asItReads(image: GreyImage, { best, reader, allowance }: Turning): Promise<RecognisedImage> {
  if (quality(best.words) >= POOR && !liesOnItsSide(best.words)) return best;
  const { second, first, known } = reader;
  const turned = second && (await turnByLines(image, { networks: second, allowance }));
  if (turned === undefined) return bestTurn(image, best, reader);
  if (turned === 0) return best;
  const standing = await turn(image, turned);
  const words = await first(standing, known[0] ?? '');
  return { ...best, words, rules: [], turned, width: standing.width, height: standing.height };
}

/** Recognised again where the words are in another of the languages. */
async function inItsLanguage(
  standing: GreyImage,
  words: readonly PlacedWord[],
  { first, known }: Reader,
): Promise<readonly PlacedWord[]> {
  const language = likelyLanguage(
    words.map(({ text }) => text),
    known,
  );
  if (language === undefined || language === known[0]) return words;
  const again = await first(standing, `${language}+${known[0] ?? ''}`);
  return quality(again) >= quality(words) - 0.02 ? again : words;
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

/** Tries what is left of the four ways to lie, one after the other. */
async function bestTurn(
  image: GreyImage,
  best: RecognisedImage,
  { first, known }: Reader,
): Promise<RecognisedImage> {
  let top = liesOnItsSide(best.words) ? { ...best, words: [] } : best;
  for (const turned of [90, 270, 180] as const) {
    const turnedImage = await turn(image, turned);
    const words = await first(turnedImage, known[0] ?? '');
    if (!liesOnItsSide(words) && quality(words) > quality(top.words) + 0.03)
      top = { ...best, words, rules: [], turned, width: turnedImage.width, height: turnedImage.height };
    if (quality(top.words) > 0.85) break;
  }
  return top;
}
