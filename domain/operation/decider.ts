import { accept, reject, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import {
  isExhausted,
  owns,
  reapReason,
  renewed,
  RENEWALS_MAX,
  startRefusal,
  type Leased,
} from '../queue/lease.ts';
import type { AcceptOperation, GiveUpOperation, OperationCommand, OperationRejection } from './commands.ts';
import type { OperationEvent, OperationEventOf } from './events.ts';

type Accepted = OperationEventOf<'OperationAccepted'>['data'];
type Succeeded = OperationEventOf<'OperationSucceeded'>['data'];

type OperationStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface OperationState extends Leased {
  readonly accepted: Accepted | null;
  readonly status: OperationStatus;
  readonly pages_done: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly success: Succeeded | null;
  /** The code of the problem that it ended with. */
  readonly failure: string | null;
}

export const NO_OPERATION: OperationState = {
  accepted: null,
  status: 'queued',
  lease: null,
  attempts: 0,
  spared: 0,
  pages_done: 0,
  started_at: null,
  finished_at: null,
  success: null,
  failure: null,
};

type OperationDecision = Decision<OperationEvent, OperationRejection>;

/** An operation that exists. */
type Known = OperationState & { readonly accepted: Accepted };

export const operationEnded = ({ status }: Pick<OperationState, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

const identityOf = ({ accepted: { operation_id, tenant_id } }: Known) => ({ operation_id, tenant_id });

const acceptNew = ({ accepted }: OperationState, { data, meta }: AcceptOperation): OperationDecision => {
  if (accepted === null)
    return accept({ type: 'OperationAccepted', data: { ...data, accepted_at: meta.now } });
  return accepted.fingerprint === data.fingerprint ? accept() : reject({ code: 'idempotency_key_reused' });
};

const failed = (state: Known, code: string, now: string): OperationDecision =>
  accept({ type: 'OperationFailed', data: { ...identityOf(state), code, failed_at: now } });

const giveUp = (state: Known, { data, meta }: GiveUpOperation): OperationDecision => {
  const { lease_id, retry_at, reason, lasting, code } = data;
  if (reason === 'failed' && (lasting || isExhausted(state))) return failed(state, code, meta.now);
  return accept({
    type: 'OperationProgressed',
    data: {
      ...identityOf(state),
      ...{ lease_id, lease_until: retry_at, pages_done: state.pages_done, gave_up: reason },
      progressed_at: meta.now,
    },
  });
};

type OwnersCommand = Extract<
  OperationCommand,
  { readonly type: 'ProgressOperation' | 'GiveUpOperation' | 'SucceedOperation' }
>;

/** What only the owner of the lease may do. */
const asOwner = (state: Known, command: OwnersCommand): OperationDecision => {
  if (!owns(state, command.data.lease_id)) return reject({ code: 'lease_lost' });
  const { now } = command.meta;
  if (command.type === 'GiveUpOperation') return giveUp(state, command);
  if (command.type === 'SucceedOperation')
    return accept({
      type: 'OperationSucceeded',
      data: { ...identityOf(state), ...command.data, succeeded_at: now },
    });
  if ((state.lease?.renewals ?? 0) >= RENEWALS_MAX) return reject({ code: 'lease_lost' });
  const data = { ...identityOf(state), ...command.data, gave_up: null, progressed_at: now };
  return accept({ type: 'OperationProgressed', data });
};

const known = (
  state: Known,
  command: Exclude<OperationCommand, { type: 'AcceptOperation' }>,
): OperationDecision => {
  const { now } = command.meta;
  const time = { expires_at: state.accepted.expires_at, now };
  switch (command.type) {
    case 'StartOperation': {
      const code = startRefusal(state, time);
      if (code !== undefined) return reject({ code });
      const data = {
        ...{ ...identityOf(state), ...command.data },
        ...{ attempt: state.attempts + 1, started_at: now },
      };
      return accept({ type: 'OperationStarted', data });
    }
    case 'ReapOperation': {
      const code = reapReason(state, time);
      return code === 'lease_held' ? reject({ code }) : failed(state, code, now);
    }
    case 'CancelOperation':
      return accept({ type: 'OperationCancelled', data: { ...identityOf(state), cancelled_at: now } });
    default:
      return asOwner(state, command);
  }
};

const decide = (state: OperationState, command: OperationCommand): OperationDecision => {
  if (command.type === 'AcceptOperation') return acceptNew(state, command);
  const { accepted } = state;
  if (accepted === null) return reject({ code: 'operation_not_found' });
  if (operationEnded(state)) return reject({ code: 'operation_finished' });
  return known({ ...state, accepted }, command);
};

const progressed = (
  state: OperationState,
  data: OperationEventOf<'OperationProgressed'>['data'],
): OperationState => ({
  ...state,
  status: data.gave_up === null ? 'running' : 'queued',
  spared: state.spared + (data.gave_up === 'shutdown' ? 1 : 0),
  pages_done: data.pages_done,
  lease: renewed(state.lease, data),
});

const succeeded = (state: OperationState, success: Succeeded): OperationState => ({
  ...state,
  status: 'succeeded',
  pages_done: state.accepted?.pages ?? state.pages_done,
  success,
  finished_at: success.succeeded_at,
});

const evolve = (state: OperationState, { type, data }: OperationEvent): OperationState => {
  switch (type) {
    case 'OperationAccepted':
      return { ...state, accepted: data };
    case 'OperationStarted': {
      const { lease_id, lease_until, worker, attempt, started_at } = data;
      const lease = { lease_id, lease_until, worker, held: true, renewals: 0 };
      const first = state.started_at ?? started_at;
      return { ...state, status: 'running', lease, attempts: attempt, started_at: first };
    }
    case 'OperationProgressed':
      return progressed(state, data);
    case 'OperationSucceeded':
      return succeeded(state, data);
    case 'OperationFailed':
      return { ...state, status: 'failed', failure: data.code, finished_at: data.failed_at };
    case 'OperationCancelled':
      return { ...state, status: 'cancelled', finished_at: data.cancelled_at };
  }
};

export type OperationKind = StreamKind<OperationState, OperationCommand, OperationEvent, OperationRejection>;

/**
 * The rules of an operation. As a training job's, its stream is its place in the queue: whoever appends
 * `OperationStarted` at the stream's revision owns it until the lease is lost, and what ended stays as it ended.
 */
export const operation: Decider<OperationKind> = { initialState: NO_OPERATION, decide, evolve };
