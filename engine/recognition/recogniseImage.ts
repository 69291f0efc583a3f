import type { PlacedWord, Rule } from '../layout/content.ts';
import type { RecognitionEngine } from '../document/document.ts';
import { isLate, type Allowance, type Hurry } from './allowance.ts';
import { drawnRules, isBlank } from './drawnRules.ts';
import { pixelsOf, type GreyImage } from './greyImage.ts';
import { likelyLanguage } from './languages.ts';
import { meanConfidence } from './bestReading.ts';
import { withLoneMarks } from './loneMarks.ts';
import { isMuchLeft, withOverlooked } from './overlooked.ts';
import { NetworkFailed, networks, type Networks } from './ppocr/runtime.ts';
import { SURE, withDoubtfulLines, withSecondEngine, type SecondReading } from './secondEngine.ts';
import { tesseractWords } from './tesseract.ts';
import { available } from './tessdata.ts';
import { turn, turnByLines, type Turned } from './turning.ts';

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
