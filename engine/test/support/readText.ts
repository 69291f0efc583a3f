import type { Document } from '../../document/document.ts';
import { readFileAsDocument } from '../../formats/readDocument.ts';

/** The document that a file with this text is read as. */
export async function readText(text: string, fileName: string): Promise<Document> {
  const file = {
    bytes: Buffer.from(text),
    fileName,
    effort: 'fast' as const,
    pagesMax: 100,
    languages: [],
  };
  const result = await readFileAsDocument(file);
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
  return result.document;
}
