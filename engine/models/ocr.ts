import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ModelAttachment, ModelUsage, OcrRequest, ReadBlock, ReadPage } from '../ports/modelProvider.ts';
import type { OpenCall } from './modelCall.ts';
import type { Box } from '../document/document.ts';
import type { Attempt } from './attempts.ts';
import { retryAfterMs, type HttpAnswer, type HttpRequest, type Fault } from './exchange.ts';

/** Pages as they were read, and what they cost. */
export interface Read {
  readonly pages: readonly ReadPage[];
  readonly usage: ModelUsage;
}

export interface OcrCall extends OpenCall {
  readonly request: OcrRequest;
  readonly nowMs: () => number;
}

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** These providers bill by the page alone. */
export const usageOfPages = (pages: number): ModelUsage => ({
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  pages,
});

/** How sure a provider is, 0 to 1; 1 where it does not say, or says what is no share. */
export const sureness = (said: unknown): number =>
  typeof said === 'number' && said >= 0 && said <= 1 ? said : 1;

/** Points; null where the page's size is not told. */
export type PageSize = Pick<ReadPage, 'width' | 'height'>;

/**
 * The part of a box that lies on the page, from two corners in points. null: there is none, for it lies beside
 * the page, has no extent, or is made of what are no numbers.
 */
export function boxOnPage(corners: readonly unknown[], { width, height }: PageSize): Box | null {
  const [a, b, c, d] = corners;
  if (!isFiniteNumber(a) || !isFiniteNumber(b) || !isFiniteNumber(c) || !isFiniteNumber(d)) return null;
  const [x0, x1] = [Math.max(0, Math.min(a, c)), Math.min(width ?? Infinity, Math.max(a, c))];
  const [y0, y1] = [Math.max(0, Math.min(b, d)), Math.min(height ?? Infinity, Math.max(b, d))];
  return x0 < x1 && y0 < y1 ? [x0, y0, x1, y1] : null;
}

export const isFiniteNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

const POLL_MS = 1_000;
/** Questions that may fail in a row before the reading is given up. */
const POLL_FAULTS_MAX = 3;

export const fault = (of: Fault): Attempt<never> => ({ kind: 'fault', fault: of });
interface HandedIn {
  readonly question: HttpRequest;
  /** What was answered when the file was handed in. */
  readonly answer: HttpAnswer;
}

/**
 * Asks after a reading that was begun until it has ended. Asking again costs nothing, so a question that fails is
 * not a reading that failed.
 */
export async function askedUntilRead<T>(
  call: OcrCall,
  { question, answer }: HandedIn,
  stateIn: (answer: HttpAnswer) => Attempt<T> | 'running',
): Promise<Attempt<T>> {
  let waitMs = waitAsked(answer, call);
  for (let faults = 0; ;) {
    if (call.nowMs() + waitMs >= call.deadlineAt) return fault({ kind: 'interrupted' });
    await sleep(waitMs, undefined, { signal: call.signal }).catch(() => undefined);
    const exchange = await call.http(question);
    if (exchange.kind === 'fault') {
      faults += 1;
      if (faults >= POLL_FAULTS_MAX || !isPassing(exchange.fault)) return exchange;
      waitMs = (exchange.fault.kind === 'status' ? exchange.fault.retryAfterMs : null) ?? POLL_MS;
      continue;
    }
    const state = stateIn(exchange.answer);
    if (state !== 'running') return state;
    faults = 0;
    waitMs = waitAsked(exchange.answer, call);
  }
}

const isPassing = (of: Fault): boolean =>
  of.kind === 'connection' || (of.kind === 'status' && (of.status === 429 || of.status >= 500));

const waitAsked = ({ header }: HttpAnswer, { nowMs }: OcrCall): number =>
  retryAfterMs(header, nowMs()) ?? POLL_MS;

/** An answer is JSON, or empty. */
export const jsonIn = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));

/** Corners in pixels of the picture that `dimensions` tells the size of. */
const mistralBlock = z.object({
  type: z.string(),
  content: z.string(),
  top_left_x: z.unknown().optional(),
  top_left_y: z.unknown().optional(),
  bottom_right_x: z.unknown().optional(),
  bottom_right_y: z.unknown().optional(),
  confidence_scores: z
    .object({ average_content_confidence_score: z.unknown().optional() })
    .nullish()
    .catch(null),
});

const scores = z.object({
  word_confidence_scores: z
    .array(z.object({ text: z.string(), confidence: z.unknown().optional() }))
    .nullish(),
});

const mistralPage = z.object({
  index: z.int().min(0),
  markdown: z.string(),
  dimensions: z
    .object({ dpi: z.number().positive(), width: z.number().positive(), height: z.number().positive() })
    .nullish()
    .catch(null),
  // what stands beside the text is left out where it has another form than it should
  blocks: z.array(mistralBlock).nullish().catch(null),
  confidence_scores: scores.nullish().catch(null),
});

const ocrAnswer = z.object({
  pages: z.array(mistralPage),
  usage_info: z.object({ pages_processed: z.int().min(0) }).nullish(),
});

/** Models before the fourth place no blocks, and tell how sure they are word by word. */
const WITHOUT_BLOCKS = /^mistral-ocr-(?:25\d\d|[123]\b)/u;

const askedBeside = (model: string) =>
  WITHOUT_BLOCKS.test(model)
    ? { confidence_scores_granularity: 'word' }
    : { include_blocks: true, confidence_scores_granularity: 'block' };

/**
 * Mistral's OCR: markdown of each page; of the fourth model on with the boxes and kinds of its blocks, before
 * with how sure it is of each word. A server that knows of neither is asked for the markdown alone.
 */
export async function readWithMistral(call: OcrCall): Promise<Attempt<Read>> {
  const first = await readMistral(call, askedBeside(call.request.access.ref.model));
  return first.kind === 'fault' && first.fault.kind === 'status' && REFUSES_MEMBERS.has(first.fault.status)
    ? readMistral(call, {})
    : first;
}

const REFUSES_MEMBERS = new Set([400, 422]);

async function readMistral({ base, http, request }: OcrCall, beside: object): Promise<Attempt<Read>> {
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
      ...beside,
    }),
  });
  if (exchange.kind === 'fault') return exchange;
  const { status, text } = exchange.answer;
  const answer = ocrAnswer.safeParse(jsonIn(text));
  if (!answer.success) return fault({ kind: 'malformed', status });
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

type MistralPage = z.output<typeof mistralPage>;

const pageOfMistral = ({ index, markdown, dimensions, blocks, confidence_scores }: MistralPage): ReadPage => {
  const scale = dimensions ? 72 / dimensions.dpi : null;
  const size: PageSize =
    dimensions && scale !== null
      ? { width: dimensions.width * scale, height: dimensions.height * scale }
      : { width: null, height: null };
  const words = confidence_scores?.word_confidence_scores ?? [];
  return {
    page: index + 1,
    markdown,
    ...size,
    words: words.map(({ text, confidence }) => ({ ...UNPLACED, text, confidence: sureness(confidence) })),
    ...(blocks && { blocks: blocks.map((block) => blockOfMistral(block, { ...size, scale })) }),
  };
};

const UNPLACED = { box: null, fontSize: null, bold: false } as const;

const KINDS: Readonly<Record<string, ReadBlock['kind']>> = { title: 'heading', table: 'table' };

function blockOfMistral(
  block: z.output<typeof mistralBlock>,
  { scale, ...size }: PageSize & { readonly scale: number | null },
): ReadBlock {
  const corners = [block.top_left_x, block.top_left_y, block.bottom_right_x, block.bottom_right_y];
  const inPoints = corners.map((at) => (typeof at === 'number' && scale !== null ? at * scale : null));
  return {
    kind: KINDS[block.type] ?? 'text',
    text: block.content,
    box: boxOnPage(inPoints, size),
    confidence: sureness(block.confidence_scores?.average_content_confidence_score),
  };
}
