import type { PackedDocument, Word } from '../../document/document.ts';
import type { DocumentTools, PageReading } from '../../ports/documentTools.ts';

export const LIMITS = { deadlineMs: 20_000, share: 't' };
export const read = (page: number, markdown: string, words: readonly Word[] = []): PageReading => ({
  status: 'ok',
  page: { page, markdown, width: 595, height: 842, words },
});
export const INVOICE =
  '# Invoice LF-7\n\nTotal: 1.234,50 EUR\n\n| Item | Price |\n|---|---|\n| Lens | 12,00 |\n';

/** A document from what a model read of its pages. */
export const documentFrom = async (
  tools: DocumentTools,
  pages: readonly PageReading[],
): Promise<PackedDocument> => {
  const result = await tools.documentOf({ mimeType: 'application/pdf', pages }, LIMITS);
  if (result.kind !== 'ok') throw new Error(result.kind);
  return result.document;
};
