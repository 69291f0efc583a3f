import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../attempts.ts';
import type { HttpAnswer } from '../exchange.ts';
import type { Fault } from '../faults.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { azureState, readOf } from './azureAnswer.ts';
import { base64, type OcrCall, type Read } from './read.ts';

export interface AzureCall extends OcrCall {
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
