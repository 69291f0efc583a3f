import { z } from 'zod';
import type { Box, Word } from '../../document/document.ts';
import type { ReadPage } from '../../ports/modelProvider.ts';
import { usageOfPages, type Read } from './read.ts';

const span = z.object({ offset: z.int().min(0), length: z.int().min(0) });

const word = z.object({
  content: z.string(),
  confidence: z.number().min(0).max(1).nullish(),
  /** x and y of each corner in turn, in the page's unit. */
  polygon: z.array(z.number()).nullish(),
});

const azurePage = z.object({
  pageNumber: z.int().min(1),
  unit: z.enum(['inch', 'pixel']).nullish(),
  width: z.number().positive().nullish(),
  height: z.number().positive().nullish(),
  /** Of the content. */
  spans: z.array(span).default([]),
  words: z.array(word).nullish(),
});

const analyzeResult = z.object({ content: z.string(), pages: z.array(azurePage) });

/** The state of a reading, as Azure tells it. */
export const azureState = z.discriminatedUnion('status', [
  z.object({ status: z.enum(['notStarted', 'running']) }),
  z.object({ status: z.enum(['failed', 'canceled', 'skipped']).transform(() => 'failed' as const) }),
  z.object({ status: z.literal('succeeded'), analyzeResult }),
]);

type AzurePage = z.output<typeof azurePage>;

/** Pixels are of pictures, whose density is not told: they are taken for 96 to the inch. */
const POINTS_PER_UNIT = { inch: 72, pixel: 0.75 } as const;

/** Pages in their order, boxes in points. The markdown is cut by the spans of the pages. */
export const readOf = ({ content, pages }: z.output<typeof analyzeResult>): Read => ({
  pages: pages.map((read) => pageOfAzure(read, content)).sort((one, other) => one.page - other.page),
  usage: usageOfPages(pages.length),
});

function pageOfAzure(read: AzurePage, content: string): ReadPage {
  const scale = read.unit === 'inch' || read.unit === 'pixel' ? POINTS_PER_UNIT[read.unit] : null;
  const points = (length: number | null | undefined): number | null =>
    scale === null || typeof length !== 'number' ? null : length * scale;
  const parts = read.spans.map(({ offset, length }) => content.slice(offset, offset + length));
  return {
    page: read.pageNumber,
    markdown: withoutMarks(parts.join('')),
    width: points(read.width),
    height: points(read.height),
    words: (read.words ?? []).map((of) => wordOf(of, scale)),
  };
}

/** Azure marks page ends and furniture with comments, which are no part of the text. */
const withoutMarks = (markdown: string): string =>
  markdown
    .replace(/<!-- (?:PageBreak|PageNumber="[^"]*"|PageHeader="[^"]*"|PageFooter="[^"]*") -->/gu, '')
    .trim();

const wordOf = ({ content, confidence, polygon }: z.output<typeof word>, scale: number | null): Word => ({
  text: content,
  box: scale === null ? null : boxOf(polygon ?? [], scale),
  confidence: confidence ?? 1,
  fontSize: null,
  bold: false,
});

/** The upright box around the corners; null where there are not three. */
function boxOf(polygon: readonly number[], scale: number): Box | null {
  if (polygon.length < 6 || polygon.length % 2 === 1) return null;
  const xs = polygon.filter((_, at) => at % 2 === 0).map((x) => x * scale);
  const ys = polygon.filter((_, at) => at % 2 === 1).map((y) => y * scale);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
