import type { LiteParseConfig, ParsedPage } from '@llamaindex/liteparse';
import type { Document, DocumentPage, DocumentWarning } from '../../document/document.ts';
import { pagesOf } from '../../document/pages.ts';
import type { ParseFailure, ParseResult } from '../../ports/documentParser.ts';
import { layoutPages, layoutTraits, type LayoutTraits } from '../../layout/layoutPages.ts';
import { recognitionOf, type RecognitionWish } from '../../recognition/engines.ts';
import type { OpenedDocument, SourceFile } from '../opened.ts';
import { pageNeeds } from './pageNeeds.ts';
import { only, parsePdf, type PdfFile } from './pdfFile.ts';
import { pdfLines } from './pdfLines.ts';
import { pdfRules } from './pdfRules.ts';
import { fieldWords } from './fieldWords.ts';
import { pdfWords, type InkedWord } from './pdfWords.ts';
import { picturesOf } from './pictures.ts';
import { asideOf, recognisedContent, type SourcedContent } from './pageContent.ts';
import { hasInk, sightOf } from './hiddenText.ts';
import { recognisePages, type Recognised } from './recognise.ts';
import {
  blocksAsShown,
  levelContent,
  levelSize,
  linesAsShown,
  turnOfPage,
  turnOfWord,
  type Turn,
} from './turnedPages.ts';

/** Nothing is converted or fetched; OCR is a step of its own. */
const CONFIG: Partial<LiteParseConfig> = {
  ocrEnabled: false,
  quiet: true,
  imageMode: 'off',
  numWorkers: 1,
  continueOnPageError: true,
};

/** Counts the pages; the pages themselves are read when asked for. */
export async function openPdf(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const pdf = { bytes: fromHeader(file.bytes), password: file.password };
  const inspected = await inspectPdf(pdf);
  if (inspected.kind !== 'ok') return inspected;
  const pages = pagesOf({ by: 'pages', pages: inspected.pages });
  return {
    kind: 'open',
    mimeType: 'application/pdf',
    pages,
    read: (numbers = Array.from({ length: pages }, (_, i) => i + 1)) => readPdf(pdf, { numbers, wish: file }),
    survey: (numbers) => surveyPdf(pdf, numbers),
  };
}

/** Places in a file are counted from its header, also where something else stands before it. */
const fromHeader = (bytes: Buffer): Buffer => bytes.subarray(Math.max(0, bytes.indexOf('%PDF-')));

/** The page count, from the page tree: only the first page is read. */
async function inspectPdf(
  pdf: PdfFile,
): Promise<{ readonly kind: 'ok'; readonly pages: number } | ParseFailure> {
  try {
    const { totalPages } = await parsePdf(pdf, { ...CONFIG, outputFormat: 'json', maxPages: 1 });
    return totalPages > 0
      ? { kind: 'ok', pages: totalPages }
      : { kind: 'unreadable', detail: 'The PDF has no pages.' };
  } catch (error) {
    return unreadable(error, pdf);
  }
}

interface Reading {
  /** Of the pages to read. */
  readonly numbers: readonly number[];
  readonly wish: RecognitionWish & Pick<SourceFile, 'traits'>;
}

/** Words with their boxes, and blocks, of every page; pages without a usable text layer are recognised. */
async function readPdf(pdf: PdfFile, { numbers, wish }: Reading): Promise<ParseResult> {
  try {
    const parsed = await parsePdf(pdf, wordsOn(numbers));
    const read = new Map(parsed.pages.map((page) => [page.pageNum, page]));
    const seen = await visibleWords(pdf, parsed.pages);
    const wanted = await pageNeeds(pdf, { pages: parsed.pages, words: seen.words, effort: wish.effort });
    const recognised = await recognisePages(pdf, {
      pages: parsed.pages,
      wanted,
      ...recognitionOf(wish, wanted.size),
      secondLook: wish.effort === 'robust',
    });
    return { kind: 'ok', document: documentOf({ numbers, read, ...seen, recognised, traits: wish.traits }) };
  } catch (error) {
    return unreadable(error, pdf);
  }
}

/** All that is looked for on pages with text. */
const wordsOn = (numbers: readonly number[]): Partial<LiteParseConfig> => ({
  ...CONFIG,
  outputFormat: 'json',
  ...only(numbers),
  emitWordBoxes: true,
  extractTextMetadata: true,
  extractVectorGraphics: true,
  extractAnnotations: true,
  extractFormFields: true,
  preserveVerySmallText: true,
});

/** Pages without text say nothing of the look of those with it, and most of those that are looked at must have some. */
async function surveyPdf(pdf: PdfFile, numbers: readonly number[]): Promise<LayoutTraits | undefined> {
  const { pages } = await parsePdf(pdf, wordsOn(numbers));
  const { words } = await visibleWords(pdf, pages);
  const contents = pages.map((page) => textContent(page, words.get(page.pageNum) ?? []));
  const withText = contents.filter((content) => content.words.length > 0);
  return 2 * withText.length > numbers.length ? layoutTraits(withText) : undefined;
}

interface Seen {
  readonly words: ReadonlyMap<number, readonly InkedWord[]>;
  /** Pages that hold text which nobody can see. */
  readonly hiddenOn: readonly number[];
}

/** The words that a reader sees. Where colours leave a doubt, a picture of the page decides. */
async function visibleWords(pdf: PdfFile, pages: readonly ParsedPage[]): Promise<Seen> {
  const sights = pages.map((page) => ({ page, sight: sightOf(pdfWords(page), page) }));
  const unsure = sights.filter(({ sight }) => sight.doubtful.length > 0).map(({ page }) => page);
  const pictures = await picturesOf(pdf, unsure);
  const hiddenOn: number[] = [];
  const words = new Map<number, readonly InkedWord[]>();
  for (const { page, sight } of sights) {
    const picture = pictures.get(page.pageNum);
    const inked = new Set(
      picture === undefined ? sight.doubtful : sight.doubtful.filter(({ box }) => hasInk(picture, box)),
    );
    if (sight.hidden.length + sight.doubtful.length > inked.size) hiddenOn.push(page.pageNum);
    const seen = [...sight.visible, ...inked];
    words.set(page.pageNum, [...seen, ...fieldWords(page, seen)]);
  }
  return { words, hiddenOn };
}

/** A page's content, turned so that most of its text is level. */
interface TurnedContent extends SourcedContent {
  readonly turn: Turn;
}

interface Read extends Seen {
  readonly numbers: readonly number[];
  readonly read: ReadonlyMap<number, ParsedPage>;
  readonly recognised: ReadonlyMap<number, Recognised>;
  readonly traits: LayoutTraits | undefined;
}

/** What the text layer of a page has. */
function textContent(page: ParsedPage | undefined, own: readonly InkedWord[]): TurnedContent {
  const turn = turnOfPage(own);
  const content = {
    width: page?.width ?? 0,
    height: page?.height ?? 0,
    words: own.filter((word) => turnOfWord(word) === turn),
    rules: page === undefined ? [] : pdfRules(page),
    aside: asideOf(own, turn),
    source: 'text_layer' as const,
  };
  return { ...levelContent(content, turn), turn };
}

/** Every page of the file appears: those that failed too, so that nothing is lost in silence. */
function documentOf({ numbers, read, words, hiddenOn, recognised, traits }: Read): Document {
  const contents = numbers.map((number): TurnedContent => {
    const page = read.get(number);
    const ocr = recognised.get(number);
    const own = words.get(number) ?? [];
    if (ocr?.kind === 'words') return { ...recognisedContent({ page, own, ocr }), turn: 0 };
    return textContent(page, own);
  });
  const blocks = layoutPages(contents, traits);
  const all = contents.map((content, i) => {
    const page = numbers[i] ?? 0;
    const [isRead, ocr] = [read.has(page), recognised.get(page)];
    return pageOf({ page, content, isRead, ocr, blocks: blocks[i] ?? [] });
  });
  return { mimeType: 'application/pdf', pages: all, warnings: warningsOf(all, hiddenOn) };
}

function warningsOf(pages: readonly DocumentPage[], hiddenOn: readonly number[]): readonly DocumentWarning[] {
  const warnings: DocumentWarning[] = pages
    .filter(({ status }) => status === 'failed')
    .map(({ page, detail }) => ({
      code: 'page_failed',
      message: `Page ${page}: ${detail ?? 'it could not be read.'}`,
    }));
  if (hiddenOn.length > 0)
    warnings.push({
      code: 'hidden_text',
      message: `Text that a reader cannot see was left out, on page ${hiddenOn.join(', ')}.`,
    });
  if (pages.every(({ lines }) => lines.length === 0))
    warnings.push({ code: 'no_text_found', message: 'No text was found in the document.' });
  return warnings;
}

interface PageParts {
  readonly page: number;
  readonly content: TurnedContent;
  readonly isRead: boolean;
  readonly ocr: Recognised | undefined;
  readonly blocks: DocumentPage['blocks'];
}

function pageOf({ page, content, isRead, ocr, blocks }: PageParts): DocumentPage {
  const { turn, source } = content;
  const size = isRead ? levelSize(content, turn) : { width: null, height: null };
  const base = { page, source, ...size, rotation: rotationOf(ocr) } as const;
  if (!isRead)
    return { ...base, status: 'failed', detail: 'The page could not be read.', lines: [], blocks: [] };
  if (ocr?.kind === 'failed' && content.words.length === 0)
    return { ...base, source: 'ocr', status: 'failed', detail: ocr.detail, lines: [], blocks: [] };
  if (content.words.length === 0) return { ...base, ...emptiness(ocr), lines: [], blocks: [] };
  const lines = linesAsShown(pdfLines(content.words), turn, content);
  return { ...base, ...fullness(ocr), lines, blocks: blocksAsShown(blocks, turn, content) };
}

const rotationOf = (ocr: Recognised | undefined) => (ocr?.kind === 'words' ? ocr.turned : 0);

/** Where recognition failed, the text layer stands, but what is drawn was not read. */
const fullness = (ocr: Recognised | undefined) =>
  ocr?.kind === 'failed'
    ? ({ status: 'partial', detail: ocr.detail } as const)
    : ({ status: 'ok', detail: null } as const);

/** A page that was not looked at may have text that is drawn. */
const emptiness = (ocr: Recognised | undefined) =>
  ocr === undefined
    ? ({ status: 'skipped', detail: 'The page has no text layer.' } as const)
    : ({ status: 'empty', source: 'ocr', detail: 'The page is blank.' } as const);

function unreadable(error: unknown, { password }: PdfFile): ParseFailure {
  const message = error instanceof Error ? error.message : '';
  // eslint-disable-next-line no-restricted-syntax -- the library throws plain errors; this becomes a ParseFailure
  if (!/password|encrypt|security/i.test(message))
    return { kind: 'unreadable', detail: 'The PDF is damaged and cannot be read.' };
  return password === undefined
    ? {
        kind: 'unreadable',
        detail: 'The PDF is encrypted: send its password with it, or send it without one.',
      }
    : { kind: 'wrong_password', detail: 'The password does not open the PDF.' };
}
