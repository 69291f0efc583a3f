import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ModelUsage, OcrRequest, ReadPage, ModelAttachment } from '../ports/modelProvider.ts';
import type { OpenCall } from './modelCall.ts';
import type { Box, Word } from '../document/document.ts';
import type { Attempt } from './attempts.ts';
import { retryAfterMs, type HttpAnswer, type Fault } from './exchange.ts';

/** Pages as they were read, and what they cost. */
export interface Read {
  readonly pages: readonly ReadPage[];
  readonly usage: ModelUsage;
}

interface OcrCall extends OpenCall {
  readonly request: OcrRequest;
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** These providers bill by the page alone. */
const usageOfPages = (pages: number): ModelUsage => ({
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  pages,
});

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
const azureState = z.discriminatedUnion('status', [
  z.object({ status: z.enum(['notStarted', 'running']) }),
  z.object({ status: z.enum(['failed', 'canceled', 'skipped']).transform(() => 'failed' as const) }),
  z.object({ status: z.literal('succeeded'), analyzeResult }),
]);

type AzurePage = z.output<typeof azurePage>;

/** Pixels are of pictures, whose density is not told: they are taken for 96 to the inch. */
const POINTS_PER_UNIT = { inch: 72, pixel: 0.75 } as const;

/** Pages in their order, boxes in points. The markdown is cut by the spans of the pages. */
const readOf = ({ content, pages }: z.output<typeof analyzeResult>): Read => ({
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

interface AzureCall extends OcrCall {
  readonly nowMs: () => number;
}

const API_VERSION = 'api-version=2024-11-30';
const POLL_MS = 1_000;
/** Questions that may fail in a row before the reading is given up. */
const POLL_FAULTS_MAX = 3;

const fault = (of: Fault): Attempt<never> => ({ kind: 'fault', fault: of });
const RESULT_ID = /\/analyzeResults\/([\w-]{1,100})(?:\?|$)/u;

/**
 * Azure Document Intelligence: the file is handed in, then asked after until it is read. The answers name an
 * address to ask at; only its id is used, at the base that was checked, so that the key goes nowhere else.
 */
export async function readWithAzureDi(call: AzureCall): Promise<Attempt<Read>> {
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
  return poll(call, { url: `${model}/analyzeResults/${id}?${API_VERSION}`, headers }, handedIn.answer);
}

interface Poll {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asking again costs nothing, so a question that fails is not a reading that failed. */
async function poll(call: AzureCall, { url, headers }: Poll, handedIn: HttpAnswer): Promise<Attempt<Read>> {
  let waitMs = waitAsked(handedIn, call);
  for (let faults = 0; ;) {
    if (call.nowMs() + waitMs >= call.deadlineAt) return fault({ kind: 'interrupted' });
    await sleep(waitMs, undefined, { signal: call.signal }).catch(() => undefined);
    const exchange = await call.http({ method: 'GET', url, headers });
    if (exchange.kind === 'fault') {
      faults += 1;
      if (faults >= POLL_FAULTS_MAX || !isPassing(exchange.fault)) return exchange;
      waitMs = (exchange.fault.kind === 'status' ? exchange.fault.retryAfterMs : null) ?? POLL_MS;
      continue;
    }
    const read = readIn(exchange.answer);
    if (read !== 'running') return read;
    faults = 0;
    waitMs = waitAsked(exchange.answer, call);
  }
}

const isPassing = (of: Fault): boolean =>
  of.kind === 'connection' || (of.kind === 'status' && (of.status === 429 || of.status >= 500));

const waitAsked = ({ header }: HttpAnswer, { nowMs }: AzureCall): number =>
  retryAfterMs(header, nowMs()) ?? POLL_MS;

function readIn({ status, text }: HttpAnswer): Attempt<Read> | 'running' {
  const state = azureState.safeParse(text === '' ? undefined : JSON.parse(text));
  if (!state.success) return fault({ kind: 'malformed', status });
  if (state.data.status === 'succeeded') return { kind: 'ok', value: readOf(state.data.analyzeResult) };
  return state.data.status === 'failed' ? fault({ kind: 'unreadable', status }) : 'running';
}

const mistralPage = z.object({
  index: z.int().min(0),
  markdown: z.string(),
  dimensions: z.object({ dpi: z.number().positive(), width: z.number(), height: z.number() }).nullish(),
});

const ocrAnswer = z.object({
  pages: z.array(mistralPage),
  usage_info: z.object({ pages_processed: z.int().min(0) }).nullish(),
});

/** Mistral's OCR: markdown of each page, without the places of its words. */
export async function readWithMistral({ base, http, request }: OcrCall): Promise<Attempt<Read>> {
  const { access, file } = request;
  const exchange = await http({
    method: 'POST',
    url: `${base.href.replace(/\/$/u, '')}/ocr`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access.apiKey ?? ''}` },
    body: JSON.stringify({
      model: access.ref.model,
      document: documentOf(file),
      ...(request.pages && { pages: request.pages.map((page) => page - 1) }),
      include_image_base64: false,
    }),
  });
  if (exchange.kind === 'fault') return exchange;
  const { status, text } = exchange.answer;
  const answer = ocrAnswer.safeParse(text === '' ? undefined : JSON.parse(text));
  if (!answer.success) return { kind: 'fault', fault: { kind: 'malformed', status } };
  const pages = answer.data.pages.map(pageOfMistral).sort((one, other) => one.page - other.page);
  const usage = usageOfPages(answer.data.usage_info?.pages_processed ?? pages.length);
  return { kind: 'ok', value: { pages, usage } };
}

const documentOf = ({ mimeType, bytes }: ModelAttachment) => {
  const url = `data:${mimeType};base64,${base64(bytes)}`;
  return mimeType.startsWith('image/')
    ? { type: 'image_url', image_url: url }
    : { type: 'document_url', document_url: url };
};

const pageOfMistral = ({ index, markdown, dimensions }: z.output<typeof mistralPage>): ReadPage => {
  const size = dimensions ?? null;
  const points = (pixels: number, dpi: number): number => (pixels * 72) / dpi;
  return {
    page: index + 1,
    markdown,
    width: size === null ? null : points(size.width, size.dpi),
    height: size === null ? null : points(size.height, size.dpi),
    words: [],
  };
};
