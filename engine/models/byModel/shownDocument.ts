import type { PackedDocument, PageSummary } from '../../document/document.ts';
import { spelledPages } from '../../document/pages.ts';
import type { ParseFailure, ParseRequest } from '../../ports/documentParser.ts';
import type { PagePicture } from '../../ports/documentTools.ts';
import type { ModelAbilities, ModelAttachment } from '../../ports/modelProvider.ts';
import type { ModelFailed } from '../../ports/modelWork.ts';
import { limitsOf, type Running } from './modelWorkDeps.ts';
import { pagesOfText } from './pageRanks.ts';
import { readByModel } from './readByModel.ts';

import type { ShownPart } from '../prompts.ts';

/** A stretch of a document's markdown that a model is shown in one request. */
interface Section {
  readonly text: string;
  /** From 1, both included. */
  readonly firstPage: number;
  readonly lastPage: number;
}

/** A block of the text, or a part of one that is too long to be shown as a whole. */
interface Piece {
  readonly text: string;
  readonly bytes: number;
  readonly page: number;
  /** A section may well begin here. */
  readonly isBeginning: boolean;
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
}

/** A token is about four letters of English and one sign of Chinese: three bytes are one at the least. */
const BYTES_PER_TOKEN = 3;
/** Sections beyond that many are longer than asked for, so that a document costs only so many requests. */
const SECTIONS_MAX = 32;
/** The same for documents that are read in ranges, for which nobody waits. */
const SECTIONS_OF_LONG_MAX = 400;
/** Of a section: what it repeats of the one before, and the longest piece. */
const OVERLAP = 0.1;
const PIECE = 0.25;
/** A section ends at a heading or page when this much of it is full. */
const FULL_ENOUGH = 0.6;

/**
 * The text in sections of so many tokens: they begin at headings and pages where that can be, under the headings
 * that are above them, and repeat the end of the one before. Linear in the text.
 */
export function sectionsOf(
  markdown: string,
  tokensMax: number,
  sectionsMax = SECTIONS_MAX,
): readonly Section[] {
  const bytes = Buffer.byteLength(markdown);
  const bytesMax = Math.max(tokensMax * BYTES_PER_TOKEN, Math.ceil((2 * bytes) / sectionsMax));
  const pieces = piecesOf(markdown, Math.floor(bytesMax * PIECE));
  const sections: Section[] = [];
  for (let start = 0; start < pieces.length;) {
    const from = overlapBefore(pieces, start, bytesMax * OVERLAP);
    const end = endOf(pieces, { from, start, bytesMax });
    sections.push(sectionOf(pieces.slice(from, end)));
    start = end;
  }
  return sections;
}

/** Lines of a table's header that its parts repeat. */
const HEADER_ROWS_MAX = 4;
/** The empty line after each piece. */
const APART = 2;
const PAGE_MARK = /^<!-- page (\d+) -->$/;
/** Letters of a heading that is repeated above a section. */
const HEADING_MAX = 200;
const HEADING = /^(#{1,6}) /;

function piecesOf(markdown: string, bytesMax: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let page = 1;
  let headings: readonly string[] = [];
  for (const block of markdown.split(/\n{2,}/)) {
    const marked = PAGE_MARK.exec(block.trim())?.[1];
    const level = HEADING.exec(block)?.[1]?.length;
    if (marked !== undefined) page = Number(marked);
    const isBeginning = marked !== undefined || level !== undefined;
    for (const text of withinBytes(block, bytesMax))
      pieces.push({ text, bytes: Buffer.byteLength(text) + APART, page, isBeginning, headings });
    if (level !== undefined)
      headings = [...headings.filter((one) => levelOf(one) < level), block.slice(0, HEADING_MAX)];
  }
  return pieces;
}

const levelOf = (heading: string): number => HEADING.exec(heading)?.[1]?.length ?? 0;

/** A block cut between lines where it is too long; each part of a table has the table's header. */
function withinBytes(block: string, bytesMax: number): readonly string[] {
  if (Buffer.byteLength(block) <= bytesMax) return [block];
  const lines = block.split('\n').flatMap((line) => cutLine(line, bytesMax));
  const header = headerOf(lines);
  const parts: string[][] = [];
  let bytes = Infinity;
  for (const line of lines) {
    const more = Buffer.byteLength(line) + 1;
    if (bytes + more > bytesMax) {
      parts.push(parts.length === 0 ? [] : [...header]);
      bytes = 0;
    }
    parts[parts.length - 1]?.push(line);
    bytes += more;
  }
  return parts.map((part) => part.join('\n'));
}

/** The lines that name the columns of a table, of either kind that models are shown. */
function headerOf(lines: readonly string[]): readonly string[] {
  if (/^\|[ :|-]+\|$/.test(lines[1] ?? '')) return lines.slice(0, 2);
  const rows = lines[0] === '<table>' ? lines.findIndex((line) => line.startsWith('<tr><td')) : 0;
  return lines.slice(0, Math.max(0, Math.min(rows, HEADER_ROWS_MAX)));
}

/** A letter may have four bytes. */
function cutLine(line: string, bytesMax: number): readonly string[] {
  if (Buffer.byteLength(line) <= bytesMax) return [line];
  const length = Math.max(1, Math.floor(bytesMax / 4));
  return Array.from({ length: Math.ceil(line.length / length) }, (_, at) =>
    line.slice(at * length, (at + 1) * length),
  );
}

/** The first piece before `start` that is repeated. */
function overlapBefore(pieces: readonly Piece[], start: number, bytesMax: number): number {
  let from = start;
  let bytes = 0;
  while (from > 0) {
    bytes += pieces[from - 1]?.bytes ?? 0;
    if (bytes > bytesMax) break;
    from -= 1;
  }
  return from;
}

/** After the last piece of the section; at least one new piece is in it. */
function endOf(
  pieces: readonly Piece[],
  { from, start, bytesMax }: { readonly from: number; readonly start: number; readonly bytesMax: number },
): number {
  let end = from;
  let bytes = Buffer.byteLength(aboveOf(pieces[from]).join('\n\n')) + APART;
  let beginning: number | undefined;
  for (; end < pieces.length; end += 1) {
    const piece = pieces[end];
    if (piece === undefined || (end > start && bytes + piece.bytes > bytesMax)) break;
    if (end > start && piece.isBeginning && bytes > bytesMax * FULL_ENOUGH) beginning = end;
    bytes += piece.bytes;
  }
  return end === pieces.length ? end : (beginning ?? end);
}

const aboveOf = (first: Piece | undefined): readonly string[] =>
  first === undefined ? [] : [`<!-- page ${first.page} -->`, ...first.headings];

function sectionOf(pieces: readonly Piece[]): Section {
  const [first] = pieces;
  const firstPage = first?.page ?? 1;
  const above = aboveOf(first);
  const texts = pieces.map(({ text }) => text);
  if (texts[0] === above[0]) texts.shift();
  return {
    text: [...above, ...texts].join('\n\n'),
    firstPage,
    lastPage: pieces[pieces.length - 1]?.page ?? firstPage,
  };
}

/** Tokens of a text, at most. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** What a model is shown of a document, and the text that its answer is held against. */
export interface ShownDocument {
  readonly kind: 'ok';
  readonly document: PackedDocument;
  /** undefined where the model sees the pages themselves. */
  readonly text: string | undefined;
  readonly attachments: readonly ShownAttachment[];
  /** Of a document that was read in ranges: the ranges, in order. */
  readonly ranges?: readonly PackedDocument[] | undefined;
}

/** A page of the document, or with null the whole. */
interface ShownAttachment extends ModelAttachment {
  readonly page: number | null;
}

type Showing = ShownDocument | ParseFailure | ModelFailed;

const PDF = 'application/pdf';
/** Providers take so much inline. */
const PDF_BYTES_MAX = 20 * 1024 * 1024;
/** Pictures beside the text; more cost more than they tell. */
const PICTURES_MAX = 20;

const asAttachments = (pictures: readonly PagePicture[]): ShownAttachment[] =>
  pictures
    .filter(({ blank }) => !blank)
    .map(({ mimeType, bytes, page }) => ({ mimeType, bytes, fileName: `page-${page}`, page }));

/** The pages as pictures, those of `numbers` alone where it is given; none where they cannot be made. */
const picturesOf = async (
  running: Running,
  request: ParseRequest,
  numbers?: ReadonlySet<number>,
): Promise<ShownAttachment[]> => {
  const shown = await running.deps.tools.pictures({ ...request, ...limitsOf(running) });
  if (shown.kind !== 'ok') return [];
  const wanted = shown.pages.filter(({ page }) => numbers?.has(page) ?? true);
  return asAttachments(wanted.slice(0, numbers === undefined ? request.pagesMax : PICTURES_MAX));
};

/** The pages themselves, in the form that the model takes; none for formats without pages. */
const pagesThemselves = async (
  running: Running,
  request: ParseRequest,
  { pdf, images, mimeType }: Pick<ModelAbilities, 'pdf' | 'images'> & { readonly mimeType: string },
): Promise<ShownAttachment[]> => {
  // The file is all pages, and its password stays here.
  const isWhole = request.pages === undefined && request.password === undefined;
  if (pdf && mimeType === PDF && isWhole) {
    const bytes = await running.deps.readFile(request.path);
    if (bytes.length <= PDF_BYTES_MAX) return [{ mimeType, bytes, fileName: request.fileName, page: null }];
  }
  return images ? picturesOf(running, request) : [];
};

/** As the model saw them: every page was looked at. */
const seenByModel = (document: PackedDocument): PackedDocument => ({
  ...document,
  warnings: document.warnings.filter(({ code }) => code !== 'no_text_found'),
  pages: document.pages.map((page) => ({ ...page, source: 'model', status: 'ok', detail: null })),
});

/** `fast`: the model sees the pages, and nothing is recognised before. */
const shownPages = async (
  running: Running,
  request: ParseRequest,
  abilities: ModelAbilities,
): Promise<Showing> => {
  const parsed = await running.deps.parser.read({ ...request, ...limitsOf(running) });
  if (parsed.kind !== 'ok') return parsed;
  const { document } = parsed;
  const attachments = await pagesThemselves(running, request, { ...abilities, mimeType: document.mimeType });
  return attachments.length === 0
    ? { kind: 'ok', document, text: document.markdown, attachments }
    : { kind: 'ok', document: seenByModel(document), text: undefined, attachments };
};

/** The text of the pages, and pictures of those of `look`. */
const shownText = async (
  running: Running,
  request: ParseRequest,
  { document, look, images }: { document: PackedDocument; look: ReadonlySet<number>; images: boolean },
): Promise<ShownDocument> => ({
  kind: 'ok',
  document,
  text: document.markdown,
  attachments: images && look.size > 0 ? await picturesOf(running, request, look) : [],
});

const pagesWhere = ({ pages }: PackedDocument, isSo: (page: PageSummary) => boolean): ReadonlySet<number> =>
  new Set(pages.filter(isSo).map(({ page }) => page));

/** `robust`: the OCR channel reads the document first, and the model sees text and pages. */
const readFirst = async (
  running: Running,
  request: ParseRequest,
): Promise<Exclude<Showing, ShownDocument> | PackedDocument> => {
  const { deps, models } = running;
  const reading = models.ocr === null ? undefined : await readByModel(running, models.ocr, request);
  if (reading !== undefined && reading.kind !== 'unpaged')
    return reading.kind === 'ok' ? reading.document : reading;
  const parsed = await deps.parser.read({ ...request, ...limitsOf(running) });
  return parsed.kind === 'ok' ? parsed.document : parsed;
};

/**
 * Reads a document by the mode of the request. `abilities` null: no model is shown it, only its text counts.
 */
export const showDocument = async (
  running: Running,
  request: ParseRequest,
  abilities: ModelAbilities | null,
): Promise<Showing> => {
  if (request.effort === 'fast' && abilities !== null) return shownPages(running, request, abilities);
  const read = await readFirst(running, request);
  if ('kind' in read) return read;
  const images = abilities?.images ?? false;
  const look =
    request.effort === 'robust'
      ? pagesWhere(read, ({ source }) => source !== 'markup')
      : pagesWhere(read, ({ source }) => source === 'ocr');
  return shownText(running, request, { document: read, look, images });
};

/** What a model is shown in one request. */
export interface Showable {
  readonly text: string | undefined;
  readonly attachments: readonly ShownAttachment[];
  /** undefined: it is the whole document. */
  readonly part: ShownPart | undefined;
  /** The pages that are in it, where they are told apart and some are left out. */
  readonly pages?: readonly number[] | undefined;
}

/** Pictures of pages in one request: most providers take no more. */
const PICTURES_AT_ONCE = 20;

/** The document as it is shown: at once where that can be, else in parts that overlap. */
export function partsOf(shown: ShownDocument, tokensMax: number): readonly Showable[] {
  const { text, attachments, ranges } = shown;
  if (text === undefined) return partsOfPictures(attachments);
  if (tokensOf(text) <= tokensMax) return [{ text, attachments, part: undefined }];
  const sections = sectionsOf(text, tokensMax, ranges === undefined ? SECTIONS_MAX : SECTIONS_OF_LONG_MAX);
  return sections.map((section, at) => ({
    text: section.text,
    attachments: attachments.filter(({ page }) => page === null || isIn(page, section)),
    part: partAt(sections, at),
  }));
}

/** Some pages of a document, as they are shown: by themselves, or in parts that name theirs. */
export function partsOfPages(
  shown: ShownDocument,
  pages: readonly number[],
  tokensMax: number,
): readonly Showable[] {
  const chosen = new Set(pages);
  const of = shown.document.pages.length;
  const text = pagesOfText(shown.text ?? '')
    .filter(({ page }) => chosen.has(page))
    .map((page) => page.text)
    .join('\n\n');
  const attachments = shown.attachments.filter(({ page }) => page !== null && chosen.has(page));
  const [firstPage = 1] = pages;
  const lastPage = pages.at(-1) ?? firstPage;
  const whole = { number: 1, of: 1, firstPage, lastPage };
  return partsOf({ ...shown, text, attachments }, tokensMax).map(({ part = whole, ...one }) => {
    const inPart = pages.filter((page) => isIn(page, part));
    return { ...one, pages: inPart, part: { ...part, chosen: { pages: spelledPages(inPart), of } } };
  });
}

const isIn = (page: number, { firstPage, lastPage }: Omit<Section, 'text'>): boolean =>
  page >= firstPage && page <= lastPage;

const partAt = (sections: readonly Omit<Section, 'text'>[], at: number): ShownPart | undefined => {
  const section = sections[at];
  if (sections.length < 2 || section === undefined) return undefined;
  const { firstPage, lastPage } = section;
  return { number: at + 1, of: sections.length, firstPage, lastPage };
};

/** Pages in order, each part with the last page of the one before; a PDF is one attachment. */
function partsOfPictures(attachments: readonly ShownAttachment[]): readonly Showable[] {
  const groups: (readonly ShownAttachment[])[] = [];
  for (let start = 0; start + 1 < attachments.length || groups.length === 0; start += PICTURES_AT_ONCE - 1)
    groups.push(attachments.slice(start, start + PICTURES_AT_ONCE));
  const sections = groups.map((group) => ({
    firstPage: group[0]?.page ?? 1,
    lastPage: group.at(-1)?.page ?? 1,
  }));
  return groups.map((group, at) => ({ text: undefined, attachments: group, part: partAt(sections, at) }));
}
