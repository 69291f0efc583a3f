import type { ParsedPage } from '../../recognition/liteparse.ts';
import sharp from 'sharp';
import { isLate } from '../../recognition/allowance.ts';
import { greyImage } from '../../recognition/greyImage.ts';
import { recogniseImage, type RecogniseOptions } from '../../recognition/recogniseImage.ts';
import type { Box } from '../../document/document.ts';
import type { PlacedWord, Rule } from '../../layout/content.ts';
import type { PdfFile } from './pdfFile.ts';
import { rounded } from './pdfWords.ts';
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
    ...options
  }: RecogniseOptions & {
    readonly pages: readonly ParsedPage[];
    readonly wanted: ReadonlySet<number>;
  },
): Promise<ReadonlyMap<number, Recognised>> {
  const recognised = new Map<number, Recognised>();
  for (const page of pages.filter(({ pageNum }) => wanted.has(pageNum))) {
    const isLeft = await isLate(options.hurry);
    recognised.set(page.pageNum, isLeft ? LEFT : await recognisePage(pdf, page, options));
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

const inPoints = (word: PlacedWord, scale: number): PlacedWord => ({
  ...word,
  size: word.size / scale,
  box: boxInPoints(word.box, scale),
});

const boxInPoints = ([x0, y0, x1, y1]: Box, scale: number): Box =>
  rounded([x0 / scale, y0 / scale, x1 / scale, y1 / scale]);
