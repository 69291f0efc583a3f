import { deserialize, serialize } from 'node:v8';
import { pageSummary, type Document, type PackedDocument } from '../document/document.ts';
import { modelTextOf } from '../document/markdown.ts';
import type { ParseFailure, ReadResult } from './documentParser.ts';

/** Characters of a document's markdown: what the service keeps, answers with and shows to models at once. */
export const MARKDOWN_CHARACTERS_MAX = 8_000_000;

export const tooLong = (characters: number): ParseFailure => ({
  kind: 'unreadable',
  detail: `The document has ${characters} characters of text; at most ${MARKDOWN_CHARACTERS_MAX} are read at once.`,
});

/** In the child that read it. */
export function packedResult(
  read: { readonly kind: 'ok'; readonly document: Document } | ParseFailure,
): ReadResult {
  if (read.kind !== 'ok') return read;
  const { document } = read;
  const markdown = modelTextOf(document);
  if (markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(markdown.length);
  return { kind: 'ok', document: packed(document, markdown) };
}

const packed = (document: Document, markdown: string): PackedDocument => ({
  mimeType: document.mimeType,
  warnings: document.warnings,
  pages: document.pages.map(pageSummary),
  hasText: document.pages.some(({ lines }) => lines.length > 0),
  markdown,
  packed: serialize(document),
});

/** In the child that goes on with it. */
export const unpacked = (bytes: Uint8Array): Document => deserialize(bytes) as Document;
