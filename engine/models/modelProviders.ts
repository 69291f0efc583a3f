import type { Agent } from 'undici';
import { abilitiesOf } from './abilities.ts';
import type {
  ModelRef,
  ProviderName,
  ModelAnswer,
  ModelAttachment,
  ModelFailure,
  ModelProviders,
  ModelRequest,
  OcrAnswer,
  OcrRequest,
} from '../ports/modelProvider.ts';
import { openBreakers, type Attempt } from './attempts.ts';
import { agentFor, NO_USAGE } from './exchange.ts';
import { checkCallersBase, systemResolve, type Resolve } from './guard.ts';
import { askModel, refusedSchemas, type RefusedSchemas } from './askModel.ts';
import { callProvider, type CallParts, type OpenCall } from './modelCall.ts';
import { readWithAzureDi } from './azureDi.ts';
import { readWithDocling } from './docling.ts';
import { readWithMistral, type Read } from './ocr.ts';

/** What became of one request, all its attempts together. */
export interface CallFacts {
  readonly provider: ProviderName;
  readonly outcome: 'answered' | ModelFailure['kind'];
  readonly seconds: number;
}

export interface ModelProvidersOptions {
  /** Lets callers' bases be http, and at private addresses. */
  readonly allowPrivateNetwork: boolean;
  readonly onCall?: (facts: CallFacts) => void;
  /** How host names of callers' bases are resolved; the system's way unless told. */
  readonly resolve?: Resolve;
  /** 0 to 1, for the waits between attempts. */
  readonly random?: () => number;
  /** Since 1970. */
  readonly nowMs?: () => number;
  /** Of one answer; unless told 2 MiB of a language model's, 16 MiB of pages that were read. */
  readonly bytesMax?: number;
}

/** An answer is read as JSON at once: beyond these that would hold the main thread. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const PAGES_BYTES_MAX = 16 * 1024 * 1024;

/** The providers of models, over HTTP. Nothing is loaded or connected with before it is asked. */
export function openModelProviders(options: ModelProvidersOptions): ModelProviders {
  const { allowPrivateNetwork, resolve = systemResolve, nowMs = Date.now, random = Math.random } = options;
  const policy = { allowPrivateNetwork, resolve };
  let opened: Promise<Agent> | undefined;
  const agent = (): Promise<Agent> => (opened ??= agentFor());
  const refused = refusedSchemas(nowMs);
  const parts = { policy, agent, breakerOf: openBreakers(nowMs), nowMs, random };
  const asking: CallParts = { ...parts, bytesMax: options.bytesMax ?? ANSWER_BYTES_MAX };
  const reading: CallParts = { ...parts, bytesMax: options.bytesMax ?? PAGES_BYTES_MAX };
  const observed = observing(options, nowMs);
  return {
    abilitiesOf,
    checkBase: async (apiBase) => {
      const checked = await checkCallersBase(apiBase, policy);
      return checked.kind === 'ok' ? { kind: 'ok' } : checked;
    },
    ask: (request) => observed(request.access.ref, () => ask(asking, request, refused)),
    readPages: (request) => observed(request.access.ref, () => readPages(reading, request)),
    close: async () => (await opened)?.destroy(),
  };
}

const observing =
  ({ onCall }: ModelProvidersOptions, nowMs: () => number) =>
  async <T extends ModelAnswer | OcrAnswer>({ provider }: ModelRef, work: () => Promise<T>): Promise<T> => {
    const startedAt = nowMs();
    const answer = await work();
    const outcome = answer.kind === 'failed' ? answer.failure.kind : 'answered';
    onCall?.({ provider, outcome, seconds: (nowMs() - startedAt) / 1_000 });
    return answer;
  };

async function ask(parts: CallParts, request: ModelRequest, refused: RefusedSchemas): Promise<ModelAnswer> {
  const shown = request.turns.flatMap(({ attachments = [] }) => attachments);
  const unseen = whatIsUnseen(request.access.ref, shown);
  const called = await callProvider(parts, request, (call) =>
    unseen === undefined ? askModel({ ...call, request, refused }) : unsuitable(unseen),
  );
  return called.kind === 'ok' ? called.value : { ...called, usage: NO_USAGE };
}

/** What a model is shown that it cannot see, as the end of a sentence. */
function whatIsUnseen(ref: ModelRef, shown: readonly ModelAttachment[]): string | undefined {
  const { pdf, images } = abilitiesOf(ref);
  const isImage = ({ mimeType }: ModelAttachment): boolean => mimeType.startsWith('image/');
  if (!images && shown.some(isImage)) return 'cannot show this model pictures: choose one that sees';
  if (!pdf && !shown.every(isImage)) return 'cannot show this model a PDF: choose one that reads them';
  return undefined;
}

const unsuitable = (detail: string): Promise<Attempt<never>> =>
  Promise.resolve({ kind: 'fault', fault: { kind: 'unsuitable', detail } });

async function readPages(parts: CallParts, request: OcrRequest): Promise<OcrAnswer> {
  const { provider } = request.access.ref;
  const once = (call: OpenCall): Promise<Attempt<Read>> => {
    const reading = { ...call, request, nowMs: parts.nowMs };
    if (provider === 'mistral') return readWithMistral(reading);
    if (provider === 'azure_di') return readWithAzureDi(reading);
    if (provider === 'docling') return readWithDocling(reading);
    return unsuitable('has no models that read pages');
  };
  const called = await callProvider(parts, request, once);
  return called.kind === 'ok' ? { kind: 'read', ...called.value } : { ...called, usage: NO_USAGE };
}
