import type { ParsedPage } from '../../recognition/liteparse.ts';
import sharp from 'sharp';
import type { Picture } from './hiddenText.ts';
import { only, parsePdf, type PdfFile } from './pdfFile.ts';

/** Pixels that one page may have, whatever size it claims. */
export const PIXELS_MAX = 40_000_000;
const SEEN_DPI = 72;

const QUIET = {
  ocrEnabled: false,
  quiet: true,
  imageMode: 'off',
  numWorkers: 1,
  continueOnPageError: true,
} as const;

/** The resolution at which a page has no more pixels than allowed, at most the wished one. */
export const dpiFor = (
  { width, height }: { readonly width: number; readonly height: number },
  wished: number,
): number =>
  Math.min(wished, Math.max(18, Math.floor(72 * Math.sqrt(PIXELS_MAX / Math.max(1, width * height)))));

/** PNG pictures of some pages of a PDF, by page number. */
export async function renderPages(
  pdf: PdfFile,
  pages: readonly ParsedPage[],
  dpi: number,
): Promise<ReadonlyMap<number, Buffer>> {
  if (pages.length === 0) return new Map();
  const largest = Math.min(...pages.map((page) => dpiFor(page, dpi)));
  const { screenshots } = await parsePdf(pdf, {
    ...QUIET,
    outputFormat: 'json',
    extractScreenshots: true,
    targetPages: pages.map(({ pageNum }) => pageNum).join(','),
    dpi: largest,
  });
  return new Map(screenshots.map(({ pageNum, imageBuffer }) => [pageNum, imageBuffer]));
}

/** Grey pictures of pages at one pixel a point, for telling whether a text can be seen. */
export async function picturesOf(
  pdf: PdfFile,
  pages: readonly ParsedPage[],
): Promise<ReadonlyMap<number, Picture>> {
  const rendered = await renderPages(pdf, pages, SEEN_DPI);
  const pictures = new Map<number, Picture>();
  for (const page of pages) {
    const png = rendered.get(page.pageNum);
    if (png === undefined) continue;
    const { data, info } = await sharp(png)
      .flatten({ background: '#ffffff' })
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    pictures.set(page.pageNum, {
      width: info.width,
      height: info.height,
      grey: data,
      scale: info.width / page.width,
    });
  }
  return pictures;
}

/** Pages that are drawn at once, so that their pictures never fill the memory. */
const BATCH = 16;

/** PNG pictures of pages of a PDF, each about `longSide` pixels on its longer side, by page number. */
export async function screenshotsOf(
  pdf: PdfFile,
  { numbers, longSide }: { readonly numbers: readonly number[]; readonly longSide: number },
): Promise<ReadonlyMap<number, Buffer>> {
  const { pages: parsed } = await parsePdf(pdf, {
    ...QUIET,
    outputFormat: 'json',
    ...only(numbers),
  });
  const byDpi = new Map<number, ParsedPage[]>();
  for (const page of parsed) {
    const dpi = Math.max(1, Math.round((72 * longSide) / Math.max(1, page.width, page.height)));
    byDpi.set(dpi, [...(byDpi.get(dpi) ?? []), page]);
  }
  const shots = new Map<number, Buffer>();
  for (const [dpi, same] of byDpi) {
    for (let at = 0; at < same.length; at += BATCH)
      for (const [page, png] of await renderPages(pdf, same.slice(at, at + BATCH), dpi)) shots.set(page, png);
  }
  return shots;
}
