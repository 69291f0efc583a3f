import type { ParsedPage } from '../../recognition/liteparse.ts';
import sharp from 'sharp';
import { isLate } from '../../recognition/allowance.ts';
import { greyImage } from '../../recognition/greyImage.ts';
import { recogniseImage, type RecogniseOptions } from '../../recognition/recogniseImage.ts';
import type { Box } from '../../document/document.ts';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import type { PdfFile } from './pdfFile.ts';
import { rounded, type InkedWord } from './pdfWords.ts';
import { renderPages } from './pictures.ts';

/** What became of a page that was to be recognised. No words: the page is blank. */
export type Recognised =
  | {
      readonly kind: 'words';
      readonly words: readonly PlacedWord[];
      readonly rules: readonly Rule[];
      /** Points, of the page as it reads. */
      readonly width: number;
      readonly height: number;
      readonly turned: 0 | 90 | 180 | 270;
      readonly isHurried: boolean;
    }
  | { readonly kind: 'blank' }
  | { readonly kind: 'failed'; readonly detail: string }
  /** The time was nearly used up. */
  | { readonly kind: 'left'; readonly detail: string };

/** Enough for letters of usual size, and a quarter faster than 200. */
const OCR_DPI = 150;

const LEFT: Recognised = { kind: 'left', detail: 'The time was used up before the page was recognised.' };

/** Recognises the wanted pages one by one; one that fails costs itself only, those not begun in time are left. */
export async function recognisePages(
  pdf: PdfFile,
  {
    pages,
    wanted,
    onRecognised,
    ...options
  }: RecogniseOptions & {
    readonly pages: readonly ParsedPage[];
    readonly wanted: ReadonlySet<number>;
    /** Told how many of them are done. */
    readonly onRecognised: (count: number) => void;
  },
): Promise<ReadonlyMap<number, Recognised>> {
  const recognised = new Map<number, Recognised>();
  for (const page of pages.filter(({ pageNum }) => wanted.has(pageNum))) {
    const isLeft = await isLate(options.hurry);
    recognised.set(page.pageNum, isLeft ? LEFT : await recognisePage(pdf, page, options));
    onRecognised(recognised.size);
  }
  return recognised;
}

async function recognisePage(pdf: PdfFile, page: ParsedPage, options: RecogniseOptions): Promise<Recognised> {
  try {
    const png = (await renderPages(pdf, [page], OCR_DPI)).get(page.pageNum);
    if (png === undefined) return { kind: 'failed', detail: 'The page could not be drawn for recognition.' };
    const image = await greyImage(sharp(png), OCR_DPI);
    const { words, rules, width, height, turned, isHurried } = await recogniseImage(image, options);
    const scale = image.width / page.width;
    const points = words.map((word) => inPoints(word, scale));
    return words.length === 0
      ? { kind: 'blank' }
      : {
          kind: 'words',
          words: points,
          rules: rules.map((rule) => boxInPoints(rule, scale)),
          width: width / scale,
          height: height / scale,
          turned,
          isHurried,
        };
  } catch {
    return { kind: 'failed', detail: 'The text of the page could not be recognised.' };
  }
}

/** A recognised word beside a text layer is surer than this, or it is part of a drawing. */
const BESIDE_MIN = 0.6;
/** Points by which the words of the layer are painted over, so that nothing of them is seen twice. */
const MARGIN = 1;

interface Layers extends RecogniseOptions {
  readonly pages: readonly ParsedPage[];
  /** Of the text layers, by page. */
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
}

/** What pages show beside their text layers. */
interface Drawn {
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
  /** Pages that were not begun in time, or read in haste. */
  readonly late: readonly number[];
}

/** The words that pages show and their text layers do not have; pages that fail have none. */
export async function drawnWords(pdf: PdfFile, { pages, words, ...options }: Layers): Promise<Drawn> {
  const found = new Map<number, readonly InkedWord[]>();
  const late: number[] = [];
  for (const page of pages) {
    const { pageNum } = page;
    if (await isLate(options.hurry)) {
      late.push(pageNum);
      continue;
    }
    const layer = { page, words: words.get(pageNum) ?? [] };
    const beside = await wordsBeside(pdf, layer, options).catch(() => undefined);
    if (beside === undefined) continue;
    found.set(pageNum, beside.words);
    if (beside.isHurried) late.push(pageNum);
  }
  return { words: found, late };
}

interface Layer {
  readonly page: ParsedPage;
  readonly words: readonly InkedWord[];
}

/** Throws where the page cannot be drawn or read. */
async function wordsBeside(
  pdf: PdfFile,
  { page, words }: Layer,
  options: RecogniseOptions,
): Promise<{ readonly words: readonly InkedWord[]; readonly isHurried: boolean }> {
  const png = (await renderPages(pdf, [page], OCR_DPI)).get(page.pageNum);
  if (png === undefined) throw new Error('the page could not be drawn');
  const { width, height } = await sharp(png).metadata();
  const scale = width / page.width;
  const covers = words.map(({ box }) => rectangle(box, scale)).join('');
  const size = `width="${String(width)}" height="${String(height)}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${covers}</svg>`;
  const rest = sharp(
    await sharp(png)
      .composite([{ input: Buffer.from(svg) }])
      .png({ compressionLevel: 1 })
      .toBuffer(),
  );
  const { words: seen, turned, isHurried } = await recogniseImage(await greyImage(rest, OCR_DPI), options);
  const sure = turned === 0 ? seen.filter(({ confidence }) => confidence >= BESIDE_MIN) : [];
  return {
    words: sure.map((word) => ({ ...inPoints(word, scale), color: null, rotation: 0, isInvisible: false })),
    isHurried,
  };
}

function rectangle([x0, y0, x1, y1]: Box, scale: number): string {
  const [x, y] = [x0 - MARGIN, y0 - MARGIN].map((at) => (at * scale).toFixed(1));
  const [width, height] = [x1 - x0, y1 - y0].map((size) => ((size + 2 * MARGIN) * scale).toFixed(1));
  return `<rect x="${x ?? ''}" y="${y ?? ''}" width="${width ?? ''}" height="${height ?? ''}" fill="#fff"/>`;
}

const inPoints = (word: PlacedWord, scale: number): PlacedWord => ({
  ...word,
  size: word.size / scale,
  box: boxInPoints(word.box, scale),
});

const boxInPoints = ([x0, y0, x1, y1]: Box, scale: number): Box =>
  rounded([x0 / scale, y0 / scale, x1 / scale, y1 / scale]);
