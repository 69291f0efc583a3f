import { z } from 'zod';
import type { Box, Word } from '../document/document.ts';
import type { ReadBlock, ReadPage } from '../ports/modelProvider.ts';
import type { Attempt } from './attempts.ts';
import type { HttpAnswer } from './exchange.ts';
import {
  askedUntilRead,
  base64,
  boxOnPage,
  fault,
  isFiniteNumber,
  jsonIn,
  sureness,
  usageOfPages,
  type OcrCall,
  type PageSize,
  type Read,
} from './ocr.ts';

const span = z.object({ offset: z.int().min(0), length: z.int().min(0) });

/** x and y of each corner in turn, in the page's unit; four of them, as a rule. */
const polygon = z.array(z.unknown()).max(64).nullish().catch(null);

const word = z.object({
  content: z.string(),
  confidence: z.unknown().optional(),
  polygon,
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

const regions = z
  .array(z.object({ pageNumber: z.int().min(1), polygon }))
  .nullish()
  .catch(null);

const paragraph = z.object({
  /** `title`, `sectionHeading`, `pageHeader` and others; none of most. */
  role: z.string().nullish(),
  content: z.string(),
  boundingRegions: regions,
  spans: z.array(span).default([]),
});

const table = z.object({
  cells: z.array(
    z.object({
      rowIndex: z.int().min(0),
      columnIndex: z.int().min(0),
      content: z.string(),
      boundingRegions: regions,
    }),
  ),
  boundingRegions: regions,
  spans: z.array(span).default([]),
});

const analyzeResult = z.object({
  content: z.string(),
  pages: z.array(azurePage),
  // what stands beside the text is left out where it has another form than it should
  paragraphs: z.array(paragraph).nullish().catch(null),
  tables: z.array(table).nullish().catch(null),
});

/** The state of a reading, as Azure tells it. */
const azureState = z.discriminatedUnion('status', [
  z.object({ status: z.enum(['notStarted', 'running']) }),
  z.object({ status: z.enum(['failed', 'canceled', 'skipped']).transform(() => 'failed' as const) }),
  z.object({ status: z.literal('succeeded'), analyzeResult }),
]);

type AzurePage = z.output<typeof azurePage>;
type AnalyzeResult = z.output<typeof analyzeResult>;

/** Pixels are of pictures, whose density is not told: they are taken for 96 to the inch. */
const POINTS_PER_UNIT = { inch: 72, pixel: 0.75 } as const;

/** Pages in their order, boxes in points. The markdown is cut by the spans of the pages. */
function readOf(result: AnalyzeResult): Read {
  const { content, pages } = result;
  const placed = placedIn(result);
  return {
    pages: pages
      .map((read) => pageOfAzure(read, content, placed.get(read.pageNumber) ?? []))
      .sort((one, other) => one.page - other.page),
    usage: usageOfPages(pages.length),
  };
}

/** A paragraph or a table, and where it begins in the content. */
interface Placed {
  readonly page: number;
  readonly from: number;
  readonly to: number;
  readonly of: z.output<typeof paragraph> | z.output<typeof table>;
}

/** Paragraphs and tables by the page that they begin on, in reading order; those in tables stand in these alone. */
function placedIn({ paragraphs, tables }: AnalyzeResult): ReadonlyMap<number, readonly Placed[]> {
  const all = [...(tables ?? []), ...(paragraphs ?? [])]
    .flatMap((of): readonly Placed[] => {
      const [page, within] = [of.boundingRegions?.[0]?.pageNumber, of.spans[0]];
      if (page === undefined || within === undefined) return [];
      return [{ page, from: within.offset, to: within.offset + within.length, of }];
    })
    .sort((one, other) => one.from - other.from);
  const byPage = new Map<number, Placed[]>();
  let tableEnd = 0;
  for (const placed of all) {
    if ('cells' in placed.of) tableEnd = placed.to;
    else if (placed.from < tableEnd) continue;
    const others = byPage.get(placed.page);
    if (others === undefined) byPage.set(placed.page, [placed]);
    else others.push(placed);
  }
  return byPage;
}

/** A block of a page by the corners that are told of it there; its words say how sure the reading is. */
function blockOf({ page, of }: Placed, boxIn: (corners: readonly unknown[]) => Box | null): ReadBlock {
  const boxOn = (told: z.output<typeof regions>): Box | null =>
    boxIn(told?.find(({ pageNumber }) => pageNumber === page)?.polygon ?? []);
  const box = boxOn(of.boundingRegions);
  if (!('cells' in of)) {
    const isHeading = of.role === 'title' || of.role === 'sectionHeading';
    return { kind: isHeading ? 'heading' : 'text', text: of.content, box, confidence: 1 };
  }
  const cells = of.cells.flatMap(({ rowIndex: row, columnIndex: column, boundingRegions }) => {
    const cell = boxOn(boundingRegions);
    return cell === null ? [] : [{ row, column, box: cell }];
  });
  const text = of.cells.map(({ content }) => content).join('\n');
  return { kind: 'table', text, box, confidence: 1, cells };
}

function pageOfAzure(read: AzurePage, content: string, placed: readonly Placed[]): ReadPage {
  const scale = read.unit === 'inch' || read.unit === 'pixel' ? POINTS_PER_UNIT[read.unit] : null;
  const points = (length: number | null | undefined): number | null =>
    scale === null || typeof length !== 'number' ? null : length * scale;
  const parts = read.spans.map(({ offset, length }) => content.slice(offset, offset + length));
  const size = { width: points(read.width), height: points(read.height) };
  const boxIn = (corners: readonly unknown[]): Box | null =>
    scale === null ? null : boxOf(corners, scale, size);
  return {
    page: read.pageNumber,
    markdown: withoutMarks(parts.join('')),
    ...size,
    words: (read.words ?? []).map((of) => wordOf(of, boxIn)),
    blocks: placed.map((one) => blockOf(one, boxIn)),
  };
}

/** Azure marks page ends and furniture with comments, which are no part of the text. */
const withoutMarks = (markdown: string): string =>
  markdown
    .replace(/<!-- (?:PageBreak|PageNumber="[^"]*"|PageHeader="[^"]*"|PageFooter="[^"]*") -->/gu, '')
    .trim();

const wordOf = (
  { content, confidence, polygon: corners }: z.output<typeof word>,
  boxIn: (corners: readonly unknown[]) => Box | null,
): Word => ({
  text: content,
  box: boxIn(corners ?? []),
  confidence: sureness(confidence),
  fontSize: null,
  bold: false,
});

/** The upright box around the corners; null where there are not three. */
function boxOf(corners: readonly unknown[], scale: number, size: PageSize): Box | null {
  const at = corners.filter(isFiniteNumber).map((length) => length * scale);
  if (at.length < corners.length || at.length < 6 || at.length % 2 === 1) return null;
  const xs = at.filter((_, index) => index % 2 === 0);
  const ys = at.filter((_, index) => index % 2 === 1);
  return boxOnPage([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], size);
}

const API_VERSION = 'api-version=2024-11-30';
const RESULT_ID = /\/analyzeResults\/([\w-]{1,100})(?:\?|$)/u;

/**
 * Azure Document Intelligence: the file is handed in, then asked after until it is read. The answers name an
 * address to ask at; only its id is used, at the base that was checked, so that the key goes nowhere else.
 */
export async function readWithAzureDi(call: OcrCall): Promise<Attempt<Read>> {
  const { access, file, pages } = call.request;
  const only = pages === undefined ? '' : `&pages=${pages.join(',')}`;
  const base = call.base.href.replace(/\/$/u, '');
  const model = `${base}/documentintelligence/documentModels/${encodeURIComponent(access.ref.model)}`;
  const headers = { 'ocp-apim-subscription-key': access.apiKey ?? '' };
  const handedIn = await call.http({
    method: 'POST',
    url: `${model}:analyze?${API_VERSION}&outputContentFormat=markdown&stringIndexType=utf16CodeUnit${only}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ base64Source: base64(file.bytes) }),
  });
  if (handedIn.kind === 'fault') return handedIn;
  const { status, header } = handedIn.answer;
  const id = RESULT_ID.exec(header('operation-location') ?? '')?.[1];
  if (id === undefined) return fault({ kind: 'malformed', status });
  const question = { method: 'GET', url: `${model}/analyzeResults/${id}?${API_VERSION}`, headers } as const;
  return askedUntilRead(call, { question, answer: handedIn.answer }, readIn);
}

function readIn({ status, text }: HttpAnswer): Attempt<Read> | 'running' {
  const state = azureState.safeParse(jsonIn(text));
  if (!state.success) return fault({ kind: 'malformed', status });
  if (state.data.status === 'succeeded') return { kind: 'ok', value: readOf(state.data.analyzeResult) };
  return state.data.status === 'failed' ? fault({ kind: 'unreadable', status }) : 'running';
}
