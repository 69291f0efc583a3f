import type { PageSummary } from '@quire/engine/document/document';
import type { JsonObject } from '../../../domain/kernel/json.ts';

/** Where a page's text comes from, in the words of the interface: who recognised it is in `meta`. */
const SOURCES = {
  text_layer: 'text',
  markup: 'text',
  ocr: 'recognised',
  model: 'recognised',
  both: 'both',
} as const satisfies Record<PageSummary['source'], string>;

/** Hundredths of a point are finer than any screen. */
const points = (length: number | null): number | null =>
  length === null ? null : Math.round(length * 100) / 100;

/** What answers say of each page: `meta.pages`. */
export const pageAnswers = (pages: readonly PageSummary[]): readonly JsonObject[] =>
  pages.map(({ page, status, source, detail, width, height, rotation = 0 }) => ({
    page,
    status,
    source: SOURCES[source],
    detail,
    width: points(width),
    height: points(height),
    rotation,
  }));
