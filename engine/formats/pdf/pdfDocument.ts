import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Document, DocumentPage, DocumentWarning } from '../../document/document.ts';
import { deadlineWarnings } from '../../document/pages.ts';
import { withNotes } from '../../layout/footnotes.ts';
import { layoutPages, layoutTraits, type LayoutTraits } from '../../layout/pages/layoutPages.ts';
import { withContinuedTables } from '../../layout/tables/continuedTables.ts';
import { verticalText } from '../../layout/verticalText.ts';
import type { OutlineTitle } from '../../layout/outlined.ts';
import type { ParseEffort } from '../../ports/documentParser.ts';
import type { Bookmark } from './inside/outline.ts';
import { asideOf, recognisedContent, type SourcedContent } from './pageContent.ts';
import { pdfLines } from './pdfLines.ts';
import { pdfRules } from './pdfRules.ts';
import type { InkedWord } from './pdfWords.ts';
import type { Recognised } from './recognise.ts';
import { LAYER_AGREES, LAYER_REFUSED, LAYER_UNTRIED } from './searchableScans.ts';
import type { Seen } from './seenWords.ts';
import {
  blocksAsShown,
  levelContent,
  levelSize,
  linesAsShown,
  turnOfPage,
  turnOfWord,
  type Turn,
} from './turnedPages.ts';

const GARBLED_MENDED = 'The letters of the text layer mean nothing: the page was recognised.';
const GARBLED_LEFT = 'The letters of the text layer seem to mean nothing, and this mode recognises no pages.';

/** A column is read as a line from left to right is, when it is turned so. */
const COLUMNS_TURN: Turn = 90;

/** A page's content, turned so that most of its text is level. */
interface TurnedContent extends SourcedContent {
  readonly turn: Turn;
}

interface Read extends Seen {
  /** Of the file. */
  readonly outline: readonly Bookmark[];
  readonly effort: ParseEffort;
  readonly numbers: readonly number[];
  readonly read: ReadonlyMap<number, ParsedPage>;
  readonly recognised: ReadonlyMap<number, Recognised>;
  /** Pages with words that were recognised beside their text layer. */
  readonly drawnOn: ReadonlySet<number>;
  /** Pages that may show more words than they have: there was no time to look, or to look closely. */
  readonly drawnLate: readonly number[];
  /** Of the whole document, where only a part of it is read. */
  readonly traits?: LayoutTraits | undefined;
}

/** What the text layer of a page has. */
function textContent(page: ParsedPage | undefined, own: readonly InkedWord[]): TurnedContent {
  const { turn, words, others } = asRead(own);
  const content = {
    width: page?.width ?? 0,
    height: page?.height ?? 0,
    words,
    rules: page === undefined ? [] : pdfRules(page),
    aside: asideOf(others, turn),
    source: 'text_layer' as const,
  };
  return { ...levelContent(content, turn), turn };
}

/**
 * The turn at which a page's words read as lines from left to right. Columns from right to left become such lines
 * when the page is turned by a quarter; words that are turned so in them belong to them.
 */
function asRead(own: readonly InkedWord[]) {
  const turn = turnOfPage(own);
  const words = own.filter((word) => turnOfWord(word) === turn);
  const columns = turn === 0 ? verticalText(words) : undefined;
  if (columns === undefined) return { turn, words, others: own.filter((word) => turnOfWord(word) !== turn) };
  const along = own.filter((word) => turnOfWord(word) === COLUMNS_TURN);
  const others = own.filter((word) => turnOfWord(word) !== 0 && turnOfWord(word) !== COLUMNS_TURN);
  return { turn: COLUMNS_TURN, words: [...columns, ...along], others };
}

/**
 * What pages show of the whole document's look; undefined where less than half of them have text, for those
 * without say nothing of it.
 */
export function traitsOf(
  pages: readonly ParsedPage[],
  words: Seen['words'],
  outline: readonly Bookmark[],
): LayoutTraits | undefined {
  const withText = pages.filter(({ pageNum }) => (words.get(pageNum) ?? []).length > 0);
  if (2 * withText.length <= pages.length) return undefined;
  const numbers = withText.map(({ pageNum }) => pageNum);
  const contents = withText.map((page) => textContent(page, words.get(page.pageNum) ?? []));
  return layoutTraits(contents, titlesOn(numbers, outline));
}

/** Every page of the file appears: those that failed too, so that nothing is lost in silence. */
export function documentOf({
  numbers,
  read,
  words,
  hiddenOn,
  layered,
  garbled,
  effort,
  outline,
  recognised,
  drawnOn,
  drawnLate,
  traits,
}: Read): Document {
  const plain = numbers.map((number): TurnedContent => {
    const page = read.get(number);
    const ocr = recognised.get(number);
    const own = words.get(number) ?? [];
    if (ocr?.kind === 'words')
      return {
        ...recognisedContent({
          page,
          own,
          isLayered: layered.has(number),
          isGarbled: garbled.has(number),
          ocr,
        }),
        turn: 0,
      };
    return { ...textContent(page, own), source: drawnOn.has(number) ? 'both' : 'text_layer' };
  });
  const contents = withNotes(plain);
  const blocks = layoutPages(contents, titlesOn(numbers, outline), traits);
  const all = contents.map((content, i) => {
    const page = numbers[i] ?? 0;
    const [isRead, ocr] = [read.has(page), recognised.get(page)];
    const letters = garbled.has(page) ? garbledDetail(content) : null;
    const layer = layered.has(page) ? layerDetail(content, ocr, effort) : letters;
    return pageOf({ page, layer, content, isRead, ocr, blocks: blocks[i] ?? [] });
  });
  return {
    mimeType: 'application/pdf',
    pages: withContinuedTables(all),
    warnings: [
      ...deadlineWarnings(
        numbers.filter((number) => isHurried(recognised.get(number)) || drawnLate.includes(number)),
      ),
      ...warningsOf(all, hiddenOn, garbled),
    ],
  };
}

/** Bookmarks by the places of their pages among those that are read; without those that lead to others. */
function titlesOn(numbers: readonly number[], outline: readonly Bookmark[]): readonly OutlineTitle[] {
  const places = new Map(numbers.map((number, place) => [number, place]));
  return outline.flatMap(({ title, depth, page }) => {
    const place = page === undefined ? undefined : places.get(page);
    return page !== undefined && place === undefined ? [] : [{ title, depth, page: place }];
  });
}

function warningsOf(
  pages: readonly DocumentPage[],
  hiddenOn: readonly number[],
  garbled: ReadonlySet<number>,
): readonly DocumentWarning[] {
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
  warnings.push(...garbledWarnings(pages.filter(({ page }) => garbled.has(page))));
  if (pages.every(({ lines }) => lines.length === 0))
    warnings.push({ code: 'no_text_found', message: 'No text was found in the document.' });
  return warnings;
}

function garbledWarnings(pages: readonly DocumentPage[]): readonly DocumentWarning[] {
  const mended = pages.filter(({ source }) => source === 'ocr');
  const left = pages.filter(({ source }) => source !== 'ocr');
  const warningOf = (of: readonly DocumentPage[], end: string): readonly DocumentWarning[] => {
    const on = of.map(({ page }) => page).join(', ');
    const message = `The fonts do not say which letters they draw, on page ${on}: ${end}`;
    return of.length === 0 ? [] : [{ code: 'garbled_text', message }];
  };
  return [
    ...warningOf(mended, 'what the page shows was recognised instead of its text layer.'),
    ...warningOf(left, 'its text is as the text layer has it.'),
  ];
}

interface PageParts {
  readonly page: number;
  /** What became of the text layer of a scan. */
  readonly layer: string | null;
  readonly content: TurnedContent;
  readonly isRead: boolean;
  readonly ocr: Recognised | undefined;
  readonly blocks: DocumentPage['blocks'];
}

function pageOf({ page, layer, content, isRead, ocr, blocks }: PageParts): DocumentPage {
  const { turn, source } = content;
  const size = isRead ? levelSize(content, turn) : { width: null, height: null };
  const base = { page, source, ...size, rotation: rotationOf(ocr) } as const;
  if (!isRead)
    return { ...base, status: 'failed', detail: 'The page could not be read.', lines: [], blocks: [] };
  if (isUnread(ocr) && content.words.length === 0) {
    const status = ocr.kind === 'left' ? 'skipped' : 'failed';
    return { ...base, source: 'ocr', status, detail: ocr.detail, lines: [], blocks: [] };
  }
  if (content.words.length === 0) return { ...base, ...emptiness(ocr), lines: [], blocks: [] };
  const lines = linesAsShown(pdfLines(content.words), turn, content);
  return { ...base, ...fullness(ocr, layer), lines, blocks: blocksAsShown(blocks, turn, content) };
}

const rotationOf = (ocr: Recognised | undefined) => (ocr?.kind === 'words' ? ocr.turned : 0);

const isHurried = (ocr: Recognised | undefined): boolean =>
  ocr?.kind === 'left' || (ocr?.kind === 'words' && ocr.isHurried);

const isUnread = (ocr: Recognised | undefined): ocr is Extract<Recognised, { kind: 'failed' | 'left' }> =>
  ocr?.kind === 'failed' || ocr?.kind === 'left';

/** Where recognition failed, or was left, the text layer stands, but what is drawn was not read. */
const fullness = (ocr: Recognised | undefined, layer: string | null) =>
  isUnread(ocr)
    ? ({ status: 'partial', detail: ocr.detail } as const)
    : ({ status: 'ok', detail: layer } as const);

function layerDetail({ source }: SourcedContent, ocr: Recognised | undefined, effort: ParseEffort): string {
  if (source === 'ocr') return LAYER_REFUSED;
  return ocr === undefined && effort === 'fast' ? LAYER_UNTRIED : LAYER_AGREES;
}

/** What was recognised stands in for letters that mean nothing; where nothing was, they are said to. */
function garbledDetail({ source }: SourcedContent): string {
  return source === 'ocr' ? GARBLED_MENDED : GARBLED_LEFT;
}

/** A page that was not looked at may have text that is drawn. */
const emptiness = (ocr: Recognised | undefined) =>
  ocr === undefined
    ? ({ status: 'skipped', detail: 'The page has no text layer.' } as const)
    : ({ status: 'empty', source: 'ocr', detail: 'The page is blank.' } as const);
