import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { ParseEffort } from '../../ports/documentParser.ts';
import { parsePdf, type PdfFile } from './pdfFile.ts';
import type { InkedWord } from './pdfWords.ts';

/** With fewer characters a page that is mostly picture is taken for a scan. */
const SPARSE_CHARACTERS = 200;
const MOSTLY_PICTURE = 0.6;

export interface Reading {
  readonly pages: readonly ParsedPage[];
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
  /** Scans whose text layer does not say what they show. */
  readonly refused: ReadonlySet<number>;
  /** Pages whose letters mean nothing. */
  readonly garbled: ReadonlySet<number>;
  readonly effort: ParseEffort;
}

/**
 * The pages to be recognised: in `fast` none, in `robust` all, else those whose text layer is missing,
 * garbled, of a scan that says otherwise, or a few words beside a picture that fills the page.
 */
export async function pageNeeds(
  pdf: PdfFile,
  { pages, words, refused, garbled, effort }: Reading,
): Promise<ReadonlySet<number>> {
  if (effort === 'fast') return new Set();
  if (effort === 'robust') return new Set(pages.map(({ pageNum }) => pageNum));
  const wordsOf = ({ pageNum }: ParsedPage): readonly InkedWord[] => words.get(pageNum) ?? [];
  const textOf = (page: ParsedPage): string =>
    wordsOf(page)
      .map(({ text }) => text)
      .join('');
  const empty = pages.filter(
    (page) => textOf(page) === '' || refused.has(page.pageNum) || garbled.has(page.pageNum),
  );
  const sparse = pages.filter((page) => !empty.includes(page) && textOf(page).length < SPARSE_CHARACTERS);
  const scans = await mostlyPictures(pdf, sparse);
  return new Set([...empty.map(({ pageNum }) => pageNum), ...scans]);
}

/** Those of the pages that are mostly a picture. */
export async function mostlyPictures(pdf: PdfFile, pages: readonly ParsedPage[]): Promise<readonly number[]> {
  if (pages.length === 0) return [];
  const { pages: measured } = await parsePdf(pdf, {
    ocrEnabled: false,
    quiet: true,
    imageMode: 'off',
    numWorkers: 1,
    outputFormat: 'json',
    continueOnPageError: true,
    includeComplexity: true,
    targetPages: pages.map(({ pageNum }) => pageNum).join(','),
  });
  return measured
    .filter(
      ({ complexity }) =>
        complexity?.fullPageImage === true || (complexity?.largestImageCoverage ?? 0) >= MOSTLY_PICTURE,
    )
    .map(({ pageNum }) => pageNum);
}
