import { accept, reject, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import type {
  AbandonBatch,
  AcceptBatch,
  BatchCommand,
  BatchRejection,
  EndBatch,
  RefuseDocuments,
} from './commands.ts';
import type { BatchEvent, BatchEventOf } from './events.ts';

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

export const NO_BATCH: BatchState = {
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

export type BatchStatus = 'queued' | 'running' | 'cancelling' | 'ended' | 'cancelled';

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
  return accept({ type: 'BatchEnded', data: { ...identityOf(state), ...data, ended_at: meta.now } });
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
