import { z } from 'zod';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  type Decision,
  event,
  reject,
  type StreamKind,
} from './kernel/decider.ts';
import { extractionMode, mayWait } from './account/messages.ts';
import { creditsFromZero, instant, pages, tenantId } from './kernel/amounts.ts';
import { operationIdFor } from './operation.ts';
import { digestText } from './leased.ts';
import { tagged, withTags } from './kernel/tags.ts';

/** Documents of one batch. */
export const BATCH_DOCUMENTS_MAX = 1_000;

/** Documents of a batch that a split has made: as many as the pages of the longest stack. */
export const BATCH_PARTS_MAX = 2_000;

const count = z.number().int().min(0);

const index = count.max(BATCH_PARTS_MAX - 1);

const named = { batch_id: z.string(), tenant_id: tenantId };

/** What a batch measures that is a run of a set of examples; its subject has everything that decides the reading. */
export const evaluated = z.strictObject({
  set_id: z.string(),
  set_version: z.number().int().min(1),
  config_id: z.string().nullable(),
  config_version: z.number().int().min(1).nullable(),
  artifact_id: z.string().nullable(),
  mode: extractionMode,
  schema_sha256: z.string(),
  /** Digest of schema, mode, artifact, models and thresholds: what has the same one reads the same. */
  subject_sha256: z.string(),
});

/** Where the documents of a batch come from that are the parts of one stack. */
const splitStack = z.strictObject({
  /** The operation that has split it, beside whose request the file lies. */
  operation_id: z.string(),
  file_sha256: z.string(),
  /** Of each document, as a request chooses pages. */
  pages: z.array(z.string()).min(1).max(BATCH_PARTS_MAX),
});

/**
 * Uploaded documents get the same work. Each is an operation of its own, whose ID is derived from the batch's ID
 * and its place in the list. The request is in object storage under `input_sha256`, without keys.
 */
const batchAccepted = event('BatchAccepted', {
  ...named,
  project_id: z.string(),
  task_id: z.string(),
  kind: z.literal('extract'),
  /** In the order of the request. */
  document_ids: z.array(z.string()).min(1).max(BATCH_PARTS_MAX),
  input_sha256: z.string(),
  /** Each document is pages of one stack; left out where each is an upload of its own. */
  split: splitStack.optional(),
  /** Left out where nothing is measured. */
  evaluated: evaluated.optional(),
  ...mayWait,
  /** Digest of the request: the same identity with another one is refused. */
  fingerprint: z.string(),
  api_key_id: z.string(),
  api_key_role: z.enum(['tenant', 'service', 'admin']),
  correlation_id: z.string(),
  accepted_at: instant,
  /** From then on no document is begun. */
  expires_at: instant,
  ...tagged,
});

/** The writer of this puts `count` documents from `first` on into the queue; after a while, any worker does. */
const batchDocumentsBegun = event('BatchDocumentsBegun', {
  ...named,
  first: index,
  count: count.min(1),
  begun_at: instant,
});

/** Begun documents without an operation. A refusal counts only until there is one. */
const batchDocumentsRefused = event('BatchDocumentsRefused', {
  ...named,
  /** A code of the interface, or `expired` or `cancelled`. Its sentence may tell of the document: it is stored. */
  refused: z.array(z.object({ index, code: z.string() })).min(1),
  refused_at: instant,
});

/** No document is begun any more. Without an acceptance before it: its request died, and it is closed. */
const batchCancelled = event('BatchCancelled', { ...named, cancelled_at: instant });

/** Every document has its outcome, and all that was delivered is paid for. */
const batchEnded = event('BatchEnded', {
  ...named,
  succeeded: count,
  partial: count,
  failed: count,
  cancelled: count,
  /** Of the documents that succeeded, in whole or in part. */
  pages,
  credits_charged: creditsFromZero,
  ended_at: instant,
  ...tagged,
});

export const batchEvent = z.discriminatedUnion('type', [
  batchAccepted,
  batchDocumentsBegun,
  batchDocumentsRefused,
  batchCancelled,
  batchEnded,
]);

type BatchEvent = z.output<typeof batchEvent>;

type AcceptBatch = Command<'AcceptBatch', Omit<BatchEventOf<'BatchAccepted'>['data'], 'accepted_at'>>;

/** Claims the next documents of the list, at most `count`. */
type BeginDocuments = Command<'BeginDocuments', { readonly count: number }>;

type RefuseDocuments = Command<
  'RefuseDocuments',
  Pick<BatchEventOf<'BatchDocumentsRefused'>['data'], 'refused'>
>;

type CancelBatch = BareCommand<'CancelBatch'>;

/** Closes the stream of a batch whose request died before it was accepted, so that nobody accepts it later. */
type AbandonBatch = Command<'AbandonBatch', { readonly batch_id: string; readonly tenant_id: string }>;

/** What became of the documents; who says so has seen that each has its outcome. */
type EndBatch = Command<
  'EndBatch',
  Omit<BatchEventOf<'BatchEnded'>['data'], 'batch_id' | 'tenant_id' | 'ended_at' | 'tags'>
>;

export type BatchCommand =
  | AcceptBatch
  | BeginDocuments
  | RefuseDocuments
  | CancelBatch
  | AbandonBatch
  | EndBatch;

type BatchRejection =
  | { readonly code: 'batch_not_found' }
  /** It is accepted, so it cannot be abandoned. */
  | { readonly code: 'batch_accepted' }
  | { readonly code: 'idempotency_key_reused' }
  /** It was cancelled, or has ended. */
  | { readonly code: 'batch_finished' }
  /** Every document was begun. */
  | { readonly code: 'all_begun' }
  /** Its documents are more or fewer than those that have an outcome. */
  | { readonly code: 'documents_open' };

type Accepted = BatchEventOf<'BatchAccepted'>['data'];

type Ended = BatchEventOf<'BatchEnded'>['data'];

export interface BatchState {
  readonly accepted: Accepted | null;
  /** How many documents were begun, from the start of the list on. */
  readonly begun: number;
  readonly started_at: string | null;
  /** Code by index. */
  readonly refused: ReadonlyMap<number, string>;
  readonly cancelled_at: string | null;
  readonly ended: Ended | null;
}

const NO_BATCH: BatchState = {
  accepted: null,
  begun: 0,
  started_at: null,
  refused: new Map(),
  cancelled_at: null,
  ended: null,
};

type BatchDecision = Decision<BatchEvent, BatchRejection>;

/** A batch that exists. */
type Known = BatchState & { readonly accepted: Accepted };

type BatchStatus = 'queued' | 'running' | 'cancelling' | 'ended' | 'cancelled';

export const batchStatus = ({ begun, cancelled_at, ended }: BatchState): BatchStatus => {
  if (ended !== null) return cancelled_at === null ? 'ended' : 'cancelled';
  if (cancelled_at !== null) return 'cancelling';
  return begun === 0 ? 'queued' : 'running';
};

/** Its request died before it was accepted, and somebody has closed it: its identity is used up. */
export const isBatchAbandoned = ({ accepted, cancelled_at }: BatchState): boolean =>
  accepted === null && cancelled_at !== null;

const abandon = (state: BatchState, { data, meta }: AbandonBatch): BatchDecision => {
  if (state.accepted !== null) return reject({ code: 'batch_accepted' });
  if (isBatchAbandoned(state)) return accept();
  return accept({ type: 'BatchCancelled', data: { ...data, cancelled_at: meta.now } });
};

const acceptNew = (state: BatchState, { data, meta }: AcceptBatch): BatchDecision => {
  const { accepted } = state;
  if (isBatchAbandoned(state)) return reject({ code: 'batch_finished' });
  if (accepted === null) return accept({ type: 'BatchAccepted', data: { ...data, accepted_at: meta.now } });
  return accepted.fingerprint === data.fingerprint ? accept() : reject({ code: 'idempotency_key_reused' });
};

const identityOf = ({ accepted: { batch_id, tenant_id } }: Known) => ({ batch_id, tenant_id });

const begin = (state: Known, wanted: number, now: string): BatchDecision => {
  if (state.cancelled_at !== null) return reject({ code: 'batch_finished' });
  const count = Math.min(wanted, state.accepted.document_ids.length - state.begun);
  if (count < 1) return reject({ code: 'all_begun' });
  return accept({
    type: 'BatchDocumentsBegun',
    data: { ...identityOf(state), first: state.begun, count, begun_at: now },
  });
};

/** Only what was begun, and each once. */
const refuse = (state: Known, { data, meta }: RefuseDocuments): BatchDecision => {
  const refused = data.refused.filter(({ index }) => index < state.begun && !state.refused.has(index));
  if (refused.length === 0) return accept();
  return accept({
    type: 'BatchDocumentsRefused',
    data: { ...identityOf(state), refused, refused_at: meta.now },
  });
};

const end = (state: Known, { data, meta }: EndBatch): BatchDecision => {
  const { succeeded, partial, failed, cancelled } = data;
  const all = state.accepted.document_ids.length;
  const isWhole = state.begun === all || state.cancelled_at !== null;
  if (!isWhole || succeeded + partial + failed + cancelled !== all) return reject({ code: 'documents_open' });
  return accept({
    type: 'BatchEnded',
    data: { ...identityOf(state), ...data, ended_at: meta.now, ...withTags(state.accepted.tags) },
  });
};

const known = (
  state: Known,
  command: Exclude<BatchCommand, { type: 'AcceptBatch' | 'AbandonBatch' }>,
): BatchDecision => {
  const { now } = command.meta;
  switch (command.type) {
    case 'BeginDocuments':
      return begin(state, command.data.count, now);
    case 'RefuseDocuments':
      return refuse(state, command);
    case 'CancelBatch':
      if (state.cancelled_at !== null) return accept();
      return accept({ type: 'BatchCancelled', data: { ...identityOf(state), cancelled_at: now } });
    case 'EndBatch':
      return end(state, command);
  }
};

const decide = (state: BatchState, command: BatchCommand): BatchDecision => {
  if (command.type === 'AcceptBatch') return acceptNew(state, command);
  if (command.type === 'AbandonBatch') return abandon(state, command);
  const { accepted } = state;
  if (accepted === null) return reject({ code: 'batch_not_found' });
  if (state.ended !== null) return reject({ code: 'batch_finished' });
  return known({ ...state, accepted }, command);
};

const evolve = (state: BatchState, { type, data }: BatchEvent): BatchState => {
  switch (type) {
    case 'BatchAccepted':
      return { ...state, accepted: data };
    case 'BatchDocumentsBegun':
      return {
        ...state,
        begun: data.first + data.count,
        started_at: state.started_at ?? data.begun_at,
      };
    case 'BatchDocumentsRefused': {
      const refused = new Map(state.refused);
      for (const { index, code } of data.refused) refused.set(index, code);
      return { ...state, refused };
    }
    case 'BatchCancelled':
      return { ...state, cancelled_at: data.cancelled_at };
    case 'BatchEnded':
      return { ...state, ended: data };
  }
};

export type BatchKind = StreamKind<BatchState, BatchCommand, BatchEvent, BatchRejection>;

/**
 * The rules of a batch (ADR 36). Its stream says which documents may become operations, and in which order they are
 * begun: after `BatchCancelled` none is. What becomes of a document its operation says.
 */
export const batch: Decider<BatchKind> = { initialState: NO_BATCH, decide, evolve };

export type BatchEventOf<Type extends BatchEvent['type']> = Extract<BatchEvent, { type: Type }>;

export const batchStream = (batchId: string): string => `batch-${batchId}`;

/** Under which the operations of batches are known. */
export const BATCH = 'batch';

interface BatchIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  /** Counts reuses after the time of replays. */
  readonly generation: number;
}

/** The same request always names the same batch. */
export const batchIdFor = ({ tenant_id, idempotency_key, generation }: BatchIdentity): string =>
  `bat_${digestText(['batch', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

interface BatchDocument {
  readonly tenant_id: string;
  readonly batch_id: string;
  /** Its place in the list, from 0. */
  readonly index: number;
}

/** By which identity a document of a batch is accepted: however often that is tried, it is one operation. */
export const requestOfDocument = ({ batch_id, index }: Omit<BatchDocument, 'tenant_id'>) => ({
  endpoint: BATCH as typeof BATCH,
  idempotency_key: `${batch_id}-${String(index)}`,
});

export const operationIdOfDocument = ({ tenant_id, ...document }: BatchDocument): string =>
  operationIdFor({ tenant_id, ...requestOfDocument(document), generation: 0 });
