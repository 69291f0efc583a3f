import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { ParseEffort } from '../../ports/documentParser.ts';
import { parsePdf, type PdfFile } from './pdfFile.ts';
import type { InkedWord } from './pdfWords.ts';

/** With fewer characters a page that is mostly picture is taken for a scan. */
const SPARSE_CHARACTERS = 200;
const MOSTLY_PICTURE = 0.6;

export interface TextLayers {
  readonly pages: readonly ParsedPage[];
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
  /** Scans whose text layer does not say what they show. */
  readonly refused: ReadonlySet<number>;
  /** Pages whose letters mean nothing. */
  readonly garbled: ReadonlySet<number>;
  /** Scans with the words of another program. */
  readonly layered: ReadonlySet<number>;
  readonly effort: ParseEffort;
  /** Pages of the document before these are read apart. */
  readonly isLaterPart: boolean;
}

/**
 * The pages to be recognised: in `fast` none, in `robust` all, else those whose text layer is missing,
 * garbled, of a scan that says otherwise, or a few words beside a picture that fills the page.
 */
export async function pageNeeds(
  pdf: PdfFile,
  { pages, words, refused, garbled, effort }: TextLayers,
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

/** Shares of a page: a picture that may hold text; letters drawn as outlines; drawings on a page of little text. */
const PICTURE_MIN = 0.04;
const OUTLINES_MIN = 0.004;
const DRAWINGS_MIN = 0.4;
const LITTLE_TEXT = 0.12;

/** So many pages of a document are looked at beside their text layer, the first; of a long one, of its first part. */
const DRAWN_PAGES_MAX = 12;

/**
 * The pages with a sound text layer that may show more words than it has: beside pictures, letters drawn as outlines,
 * or drawings with little text around them. The words of a scan's layer are those of its picture. `fast` looks at
 * none, and `robust` recognises all pages whole.
 */
export function pagesWithDrawnText(
  { pages, words, layered, effort, isLaterPart }: TextLayers,
  recognised: ReadonlySet<number>,
): readonly ParsedPage[] {
  if (effort !== 'standard' || isLaterPart) return [];
  return pages
    .filter(({ pageNum }) => !recognised.has(pageNum) && !layered.has(pageNum))
    .filter(mayShowMore)
    .filter(({ pageNum }) => (words.get(pageNum) ?? []).every(({ rotation }) => rotation === 0))
    .slice(0, DRAWN_PAGES_MAX);
}

function mayShowMore({ complexity }: ParsedPage): boolean {
  if (complexity === undefined) return false;
  const { largestImageCoverage, textCoverage, layout, uncoveredVectorArea = 0, pageArea } = complexity;
  return (
    largestImageCoverage >= PICTURE_MIN ||
    uncoveredVectorArea >= OUTLINES_MIN * pageArea ||
    ((layout?.figureCoverage ?? 0) >= DRAWINGS_MIN && textCoverage < LITTLE_TEXT)
  );
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
