import type { Block, Document } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';
import type { JsonObject } from '../../../kernel/json.ts';

export const heading = (text: string): Block => ({
  kind: 'heading',
  level: 2,
  text,
  markdown: text,
  box: null,
});

export async function flowOf(...blocks: readonly Block[]): Promise<Document> {
  const read = await openFlow({ mimeType: 'text/html', blocks }).read();
  if (read.kind !== 'ok') throw new Error(read.kind);
  return read.document;
}

export const listOf = (properties: JsonObject): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties },
});
export const texts: JsonObject = { type: 'array', items: { type: 'string' } };

export const read = (document: Document, properties: JsonObject) =>
  extract(document, { type: 'object', properties });
