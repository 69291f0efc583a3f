import { deserialize, serialize } from 'node:v8';
import type { Code } from '../document/codes.ts';
import { type ChunkPiece, chunkPieces } from '../document/chunkPieces.ts';
import { chunksOf, type ChunkWish } from '../document/chunks.ts';
import { pageSummary, type Document, type DocumentWarning, type PageSummary } from '../document/document.ts';
import { markdownOfPage, markdownOf } from '../document/markdown.ts';
import { pagesText, plainTextOf, textEnded } from '../document/plainText.ts';
import { type TableRows, tableRowsOf } from '../document/tableRows.ts';
import { proposalFor } from '../extraction/schema/proposal.ts';
import { proposedSchema, type ProposedSchema } from '../extraction/schema/proposedSchema.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { PageContents, Rendition, RenderForm, RenderResult } from '../ports/documentParser.ts';
import { MARKDOWN_CHARACTERS_MAX, tooLong } from '../ports/packing.ts';
import { withoutPictures } from './codesOfDocument.ts';

/** What the form asks for of each page; undefined where it asks for nothing. */
function contentsOf({ pages }: Document, form: RenderForm): readonly PageContents[] | undefined {
  if (form.blocks !== true && form.pageMarkdown !== true) return undefined;
  return pages.map((page) => ({
    page: page.page,
    ...(form.pageMarkdown === true && { markdown: markdownOfPage(page, form) }),
    ...(form.blocks === true && { blocks: page.blocks }),
  }));
}

/** What one range of pages looks like as text; `plainText` is not ended yet, for pages may follow. */
interface RenderedPart {
  readonly mimeType: string;
  readonly markdown: string;
  readonly plainText: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  readonly pageContents: readonly PageContents[] | undefined;
  /** Of its own blocks. */
  readonly proposed: ProposedSchema | undefined;
  readonly codes: readonly Code[] | undefined;
  readonly chunking: Chunking | undefined;
  readonly tableRows: readonly TableRows[] | undefined;
}

/** What the chunks of a range are made of: they go on over its end. */
interface Chunking {
  readonly wish: ChunkWish;
  readonly pieces: readonly ChunkPiece[];
}

const chunkingOf = (document: Document, { chunks: wish }: RenderForm): Chunking | undefined =>
  wish && { wish, pieces: chunkPieces(document) };

/** Warnings of one answer. */
const WARNINGS_MAX = 200;

/** A range of pages as its form asks for it, for joining with the others. */
export const renderedPart = (read: Document, form: RenderForm = {}): Uint8Array => {
  const document = form.codes === true ? withoutPictures(read) : read;
  return serialize({
    mimeType: document.mimeType,
    markdown: markdownOf(document, form),
    plainText: pagesText(document),
    pages: document.pages.map(pageSummary),
    warnings: document.warnings,
    pageContents: contentsOf(document, form),
    proposed:
      form.proposedSchema === true
        ? proposedSchema(document.pages.flatMap(({ blocks }) => blocks))
        : undefined,
    codes: form.codes === true ? document.codes : undefined,
    chunking: chunkingOf(document, form),
    tableRows: form.tableRows === true ? tableRowsOf(document.pages) : undefined,
  } satisfies RenderedPart);
};

/** That nothing was found is true of a document of which it is true of every part. */
export function joinedWarnings(parts: readonly { readonly warnings: readonly DocumentWarning[] }[]) {
  const silent = parts.every(({ warnings }) => warnings.some(({ code }) => code === 'no_text_found'));
  const all = parts.flatMap(({ warnings }) => warnings.filter(({ code }) => code !== 'no_text_found'));
  const none = silent ? parts[0]?.warnings.filter(({ code }) => code === 'no_text_found') : [];
  return [...(none ?? []), ...all].slice(0, WARNINGS_MAX);
}

/** The fields of all parts; of those of one name, the first. */
function joinedProposal(parts: readonly RenderedPart[]): JsonObject {
  const properties: Record<string, JsonObject> = {};
  for (const { proposed } of parts)
    for (const [name, field] of Object.entries(proposed?.properties ?? {})) properties[name] ??= field;
  return { type: 'object', properties };
}

/** Where small chunks repeat a long header, they have more text than the document. */
const CHUNKS_CHARACTERS_MAX = 2 * MARKDOWN_CHARACTERS_MAX;

/** A rendition with its chunks, unless they are too much text together. */
function withChunks(chunking: Chunking | undefined, rendition: Rendition): RenderResult {
  if (chunking === undefined) return { kind: 'ok', rendition };
  const chunks = chunksOf(chunking.pieces, chunking.wish, CHUNKS_CHARACTERS_MAX);
  return chunks === undefined
    ? { kind: 'unreadable', detail: CHUNKS_TOO_LONG }
    : { kind: 'ok', rendition: { ...rendition, chunks } };
}

const CHUNKS_TOO_LONG =
  'The chunks have too much text together, for each repeats a long header. Ask for larger ones, or for fewer pages.';

function joinedChunking(parts: readonly RenderedPart[]): Chunking | undefined {
  const wish = parts[0]?.chunking?.wish;
  return wish && { wish, pieces: parts.flatMap(({ chunking }) => chunking?.pieces ?? []) };
}

/** Parts of a document in their order as one: the marks between pages are those of one reading. */
export function joinedRendition(packed: readonly Uint8Array[]): RenderResult {
  const parts = packed.map((part) => deserialize(part) as RenderedPart);
  const markdown = `${parts.map((part) => part.markdown.trim()).join('\n\n')}\n`;
  if (markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(markdown.length);
  return withChunks(joinedChunking(parts), {
    mimeType: parts[0]?.mimeType ?? '',
    markdown,
    plainText: textEnded(parts.map(({ plainText }) => plainText).join('\f')),
    pages: parts.flatMap(({ pages }) => pages),
    warnings: joinedWarnings(parts),
    ...joinedExtras(parts),
  });
}

/** What only some forms ask for. */
function joinedExtras(parts: readonly RenderedPart[]): Partial<Rendition> {
  const [first] = parts;
  const pageContents = parts.flatMap((part) => part.pageContents ?? []);
  return {
    ...(pageContents.length > 0 && { pageContents }),
    ...(parts.some(({ proposed }) => proposed !== undefined) && { proposedSchema: joinedProposal(parts) }),
    ...(first?.codes && { codes: parts.flatMap(({ codes }) => codes ?? []) }),
    ...(first?.tableRows && { tableRows: parts.flatMap(({ tableRows }) => tableRows ?? []) }),
  };
}

/** A document as its form asks for it. */
export function rendered(read: Document, form: RenderForm = {}, isLate: () => boolean): RenderResult {
  const document = form.codes === true ? withoutPictures(read) : read;
  const { mimeType, warnings } = document;
  const pages = document.pages.map(pageSummary);
  const texts = { markdown: markdownOf(document, form), plainText: plainTextOf(document) };
  if (texts.markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(texts.markdown.length);
  const extras = extrasOf(document, form, isLate);
  return withChunks(chunkingOf(document, form), { mimeType, warnings, pages, ...texts, ...extras });
}

/** What only some forms ask for. */
function extrasOf(document: Document, form: RenderForm, isLate: () => boolean): Partial<Rendition> {
  const pageContents = contentsOf(document, form);
  return {
    ...(pageContents && { pageContents }),
    ...(form.proposedSchema === true && { proposedSchema: proposalFor(document, isLate) }),
    ...(form.codes === true && { codes: document.codes }),
    ...(form.tableRows === true && { tableRows: tableRowsOf(document.pages) }),
  };
}
