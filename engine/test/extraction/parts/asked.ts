import { extract } from '../../../extraction/extract.ts';
import { textDocument } from '../../../formats/text/textDocument.ts';
import type { Document } from '../../../document/document.ts';
import type { Json } from '../../../kernel/json.ts';

export const text = { type: 'string' };
export const date = { type: 'string', format: 'date' };
export const integer = { type: 'integer' };
export const number = { type: 'number' };
export const valueOf = (document: Document, properties: Record<string, Json>): Json =>
  extract(document, { type: 'object', properties }).value;
export const said = (lines: string, properties: Record<string, Json>): Json =>
  valueOf(textDocument(lines), properties);

/** The page with some lines set larger than the rest. */
export function setLarge(document: Document, large: readonly string[]): Document {
  const pages = document.pages.map((page) => ({
    ...page,
    lines: page.lines.map((line) => ({
      ...line,
      words: line.words.map((word) => ({ ...word, fontSize: large.includes(line.text) ? 18 : 10 })),
    })),
  }));
  return { ...document, pages };
}
