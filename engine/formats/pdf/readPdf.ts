import type { ParseConfig, ParsedPage } from '../../recognition/liteparse.ts';
import type { Document } from '../../document/document.ts';
import { pagesOf } from '../../document/pages.ts';
import type { ParseFailure, ParseResult } from '../../ports/documentParser.ts';
import type { LayoutTraits } from '../../layout/pages/layoutPages.ts';
import { recognitionOf, type RecognitionWish } from '../../recognition/engines.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { insideOf, type InsideOfPdf } from './inside/insideOf.ts';
import { pageNeeds, pagesWithDrawnText } from './pageNeeds.ts';
import { documentOf, traitsOf } from './pdfDocument.ts';
import { only, parsePdf, pdfFileOf, type PdfFile } from './pdfFile.ts';
import { drawnWords, recognisePages } from './recognise.ts';
import { layerAgrees } from './searchableScans.ts';
import { seenWords, type Seen } from './seenWords.ts';
import { overlap } from './pageContent.ts';
import { sightOf } from './hiddenText.ts';
import { pdfWords, type InkedWord } from './pdfWords.ts';

/**
 * The words of stamps by their page: viewers draw them over pages, and the parser does not
 * read them. `config` is what words are read with.
 */
async function wordsDrawnOver(
  inside: InsideOfPdf | undefined,
  numbers: readonly number[],
  config: ParseConfig,
): Promise<ReadonlyMap<number, readonly InkedWord[]>> {
  const over = inside?.appearances(numbers);
  if (over === undefined) return new Map();
  const own = insideOf(over.bytes);
  try {
    const { pages } = await parsePdf({ bytes: over.bytes, sent: over.bytes }, config);
    return new Map(
      pages.map((page) => {
        const words = pdfWords(page, own?.runsOf(page.pageNum, true));
        return [over.numbers[page.pageNum - 1] ?? 0, sightOf(words, page).visible];
      }),
    );
  } catch {
    return new Map();
  }
}

/** The words that pages have, and those drawn over them where the pages themselves have none. */
const withDrawnOver = (
  words: ReadonlyMap<number, readonly InkedWord[]>,
  over: ReadonlyMap<number, readonly InkedWord[]>,
): ReadonlyMap<number, readonly InkedWord[]> =>
  new Map(
    [...words].map(([number, own]) => {
      const more = (over.get(number) ?? []).filter(({ box }) => !own.some((word) => overlap(word.box, box)));
      return [number, [...own, ...more]];
    }),
  );

/** The pages that have more words than before. */
const pagesWithMore = (
  words: ReadonlyMap<number, readonly InkedWord[]>,
  before: ReadonlyMap<number, readonly InkedWord[]>,
): ReadonlySet<number> =>
  new Set(
    [...words]
      .filter(([number, own]) => own.length > (before.get(number)?.length ?? 0))
      .map(([number]) => number),
  );

/** Nothing is converted or fetched; OCR is a step of its own. */
const CONFIG: ParseConfig = {
  ocrEnabled: false,
  quiet: true,
  imageMode: 'off',
  numWorkers: 1,
  continueOnPageError: true,
};

/** Counts the pages; the pages themselves are read when asked for. */
export async function openPdf(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const pdf = pdfFileOf(file.bytes, file.password);
  const inspected = await inspectPdf(pdf);
  if (inspected.kind !== 'ok') return inspected;
  const pages = pagesOf({ by: 'pages', pages: inspected.pages });
  return {
    kind: 'open',
    mimeType: 'application/pdf',
    pages,
    read: (numbers = Array.from({ length: pages }, (_, i) => i + 1)) =>
      readPdf(pdf, {
        numbers,
        wish: file.depth === 0 ? file : { ...file, onReading: undefined, onPagesRead: undefined },
      }),
    survey: (numbers) => surveyPdf(pdf, numbers),
  };
}

/** The page count, from the page tree: no page is read, for one may be made to take as long as it likes. */
async function inspectPdf(
  pdf: PdfFile,
): Promise<{ readonly kind: 'ok'; readonly pages: number } | ParseFailure> {
  try {
    const { totalPages } = await parsePdf(pdf, { ...CONFIG, outputFormat: 'json', maxPages: 0 });
    return totalPages > 0
      ? { kind: 'ok', pages: totalPages }
      : { kind: 'unreadable', detail: 'The PDF has no pages.' };
  } catch (error) {
    return unreadable(error, pdf);
  }
}

/** The scans whose text layer does not say what they show; `fast` recognises nothing, `robust` all. */
async function refusedLayers(
  pdf: PdfFile,
  {
    pages,
    seen: { words, layered },
    wish,
  }: { readonly pages: readonly ParsedPage[]; readonly seen: Seen; readonly wish: RecognitionWish },
): Promise<ReadonlySet<number>> {
  const refused = new Set<number>();
  if (wish.effort !== 'standard') return refused;
  for (const page of pages.filter(({ pageNum }) => layered.has(pageNum))) {
    const layer = { page, words: words.get(page.pageNum) ?? [] };
    if (!(await layerAgrees(pdf, layer, recognitionOf(wish, layered.size)))) refused.add(page.pageNum);
  }
  return refused;
}

interface PagesToRead {
  /** Of the pages to read. */
  readonly numbers: readonly number[];
  readonly wish: RecognitionWish & Pick<SourceFile, 'traits' | 'isLaterPart' | 'onReading' | 'onPagesRead'>;
}

/** All that is looked for on pages with text. */
const WORDS: ParseConfig = {
  ...CONFIG,
  outputFormat: 'json',
  emitWordBoxes: true,
  extractTextMetadata: true,
  extractVectorGraphics: true,
  extractAnnotations: true,
  extractFormFields: true,
  preserveVerySmallText: true,
  includeComplexity: true,
};
const wordsOn = (numbers: readonly number[]): ParseConfig => ({ ...WORDS, ...only(numbers) });

/** What some pages show of the look of the whole. */
async function surveyPdf(pdf: PdfFile, numbers: readonly number[]): Promise<LayoutTraits | undefined> {
  const { pages } = await parsePdf(pdf, wordsOn(numbers));
  const inside = insideOf(pdf.sent);
  const { words } = await seenWords(pdf, pages, inside);
  return traitsOf(pages, words, inside?.outline.bookmarks ?? []);
}

/** The invoice is that of the whole document: it goes with the first page. */
function withInvoice(document: Document, inside: InsideOfPdf | undefined): Document {
  const invoice = document.pages.some(({ page }) => page === 1) ? inside?.invoice() : undefined;
  return invoice === undefined ? document : { ...document, invoice };
}

/** Words with their boxes, and blocks, of every page; pages without a usable text layer are recognised. */
async function readPdf(pdf: PdfFile, { numbers, wish }: PagesToRead): Promise<ParseResult> {
  try {
    wish.onReading?.(numbers, false);
    const parsed = await parsePdf(pdf, wordsOn(numbers));
    const read = new Map(parsed.pages.map((page) => [page.pageNum, page]));
    const inside = insideOf(pdf.sent);
    const onPages = await seenWords(pdf, parsed.pages, inside);
    const over = await wordsDrawnOver(inside, numbers, WORDS);
    const seen = { ...onPages, words: withDrawnOver(onPages.words, over) };
    wish.onReading?.(numbers, true);
    const refused = await refusedLayers(pdf, { pages: parsed.pages, seen, wish });
    const { isLaterPart = false } = wish;
    const needed = { pages: parsed.pages, ...seen, refused, effort: wish.effort, isLaterPart };
    const wanted = await pageNeeds(pdf, needed);
    const beside = pagesWithDrawnText(needed, wanted);
    const options = recognitionOf(wish, wanted.size + beside.length);
    const recognised = await recognisePages(pdf, {
      pages: parsed.pages,
      wanted,
      ...options,
      secondLook: wish.effort === 'robust',
      onRecognised: (count) => wish.onPagesRead?.(numbers.length - wanted.size + count),
    });
    const drawn = await drawnWords(pdf, { pages: beside, words: seen.words, ...options });
    const outline = inside?.outline.bookmarks ?? [];
    const { effort, traits } = wish;
    const words = withDrawnOver(seen.words, drawn.words);
    const found = { numbers, read, ...seen, words, recognised };
    const drawnOn = pagesWithMore(words, seen.words);
    const document = documentOf({ ...found, drawnOn, drawnLate: drawn.late, outline, effort, traits });
    return { kind: 'ok', document: withInvoice(document, inside) };
  } catch (error) {
    return unreadable(error, pdf);
  }
}

function unreadable(error: unknown, { password }: PdfFile): ParseFailure {
  const message = error instanceof Error ? error.message : '';
  // eslint-disable-next-line house/no-telling-errors-by-text -- the library throws plain errors
  if (!/password|encrypt|security/i.test(message))
    return { kind: 'unreadable', detail: 'The PDF is damaged and cannot be read.' };
  return password === undefined
    ? {
        kind: 'unreadable',
        detail: 'The PDF is encrypted: send its password with it, or send it without one.',
      }
    : { kind: 'wrong_password', detail: 'The password does not open the PDF.' };
}
