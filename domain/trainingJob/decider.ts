import { accept, reject, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import type {
  CreateTrainingJob,
  GiveUpTrainingJob,
  ProgressTrainingJob,
  StartTrainingJob,
  TrainingJobCommand,
  TrainingJobRejection,
} from './commands.ts';
import type { Progress, TrainingJobEvent, TrainingJobEventOf } from './events.ts';

/** Starts that count: a worker that is shut down in order gives its start back. */
export const ATTEMPTS_MAX = 3;
/** Renewals of one lease, so that a stream stays short whatever a worker does. */
export const RENEWALS_MAX = 100;

type Created = TrainingJobEventOf<'TrainingJobCreated'>['data'];
type Succeeded = TrainingJobEventOf<'TrainingJobSucceeded'>['data'];
type Failed = TrainingJobEventOf<'TrainingJobFailed'>['data'];

/** Who works on the job, or worked on it last. */
interface Lease {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly worker: string;
  /** False once its owner gave it up: until `lease_until` nobody may start. */
  readonly held: boolean;
  readonly renewals: number;
}

type TrainingJobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface TrainingJobState {
  readonly job: Created | null;
  readonly status: TrainingJobStatus;
  readonly lease: Lease | null;
  /** Starts so far, and those of them that a shutdown gave back. */
  readonly attempts: number;
  readonly spared: number;
  readonly progress: Progress;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly success: Succeeded | null;
  readonly failure: Pick<Failed, 'code' | 'detail'> | null;
}

export const NO_JOB: TrainingJobState = {
  job: null,
  status: 'queued',
  lease: null,
  attempts: 0,
  spared: 0,
  progress: { metric_calls: 0, max_metric_calls: 0 },
  started_at: null,
  finished_at: null,
  success: null,
  failure: null,
};

type JobDecision = Decision<TrainingJobEvent, TrainingJobRejection>;

/** A job that exists. */
type Known = TrainingJobState & { readonly job: Created };

export const hasEnded = ({ status }: Pick<TrainingJobState, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

const isOver = (instant: string, now: string): boolean => Date.parse(instant) <= Date.parse(now);

const exhausted = ({ attempts, spared }: TrainingJobState): boolean => attempts - spared >= ATTEMPTS_MAX;

const identityOf = ({ job }: Known) => ({ job_id: job.job_id, tenant_id: job.tenant_id });

const create = (state: TrainingJobState, { data, meta }: CreateTrainingJob): JobDecision => {
  if (state.job === null)
    return accept({ type: 'TrainingJobCreated', data: { ...data, created_at: meta.now } });
  return state.job.fingerprint === data.fingerprint ? accept() : reject({ code: 'idempotency_key_reused' });
};

const start = (state: Known, { data, meta }: StartTrainingJob): JobDecision => {
  if (isOver(state.job.expires_at, meta.now)) return reject({ code: 'attempts_exhausted' });
  if (state.lease !== null && !isOver(state.lease.lease_until, meta.now))
    return reject({ code: 'lease_held' });
  if (exhausted(state)) return reject({ code: 'attempts_exhausted' });
  return accept({
    type: 'TrainingJobStarted',
    data: { ...identityOf(state), ...data, attempt: state.attempts + 1, started_at: meta.now },
  });
};

const failed = (state: Known, why: Pick<Failed, 'code' | 'detail'>, now: string): JobDecision =>
  accept({ type: 'TrainingJobFailed', data: { ...identityOf(state), ...why, failed_at: now } });

const progressed = (state: Known, { data, meta }: ProgressTrainingJob): JobDecision => {
  if ((state.lease?.renewals ?? 0) >= RENEWALS_MAX) return reject({ code: 'lease_lost' });
  return accept({
    type: 'TrainingJobProgressed',
    data: { ...identityOf(state), ...data, gave_up: null, progressed_at: meta.now },
  });
};

const giveUp = (state: Known, { data, meta }: GiveUpTrainingJob): JobDecision => {
  const { lease_id, retry_at, reason, lasting, code, detail } = data;
  if (reason === 'failed' && (lasting || exhausted(state))) return failed(state, { code, detail }, meta.now);
  return accept({
    type: 'TrainingJobProgressed',
    data: {
      ...identityOf(state),
      lease_id,
      lease_until: retry_at,
      progress: state.progress,
      gave_up: reason,
      progressed_at: meta.now,
    },
  });
};

/** What only the owner of the lease may do. */
const asOwner = (
  state: Known,
  command: Extract<TrainingJobCommand, { readonly data: { readonly lease_id: string } }>,
): JobDecision => {
  if (command.type === 'StartTrainingJob') return start(state, command);
  const { lease } = state;
  if (lease?.held !== true || lease.lease_id !== command.data.lease_id) return reject({ code: 'lease_lost' });
  if (command.type === 'ProgressTrainingJob') return progressed(state, command);
  if (command.type === 'GiveUpTrainingJob') return giveUp(state, command);
  const data = { ...identityOf(state), ...command.data, succeeded_at: command.meta.now };
  return accept({ type: 'TrainingJobSucceeded', data });
};

const reap = (state: Known, now: string): JobDecision => {
  if (isOver(state.job.expires_at, now))
    return failed(state, { code: 'expired', detail: 'The job did not end in the time that jobs have.' }, now);
  if (state.lease !== null && !isOver(state.lease.lease_until, now)) return reject({ code: 'lease_held' });
  if (!exhausted(state)) return reject({ code: 'lease_held' });
  const detail = 'The job was started several times and never came to its end. Create it again.';
  return failed(state, { code: 'worker_lost', detail }, now);
};

const decide = (state: TrainingJobState, command: TrainingJobCommand): JobDecision => {
  if (command.type === 'CreateTrainingJob') return create(state, command);
  const { job } = state;
  if (job === null) return reject({ code: 'job_not_found' });
  if (hasEnded(state)) return reject({ code: 'job_finished' });
  const known = { ...state, job };
  if (command.type === 'ReapTrainingJob') return reap(known, command.meta.now);
  if (command.type === 'CancelTrainingJob')
    return accept({
      type: 'TrainingJobCancelled',
      data: { ...identityOf(known), cancelled_at: command.meta.now },
    });
  return asOwner(known, command);
};

const evolveProgress = (
  state: TrainingJobState,
  { lease_until, progress, gave_up }: TrainingJobEventOf<'TrainingJobProgressed'>['data'],
): TrainingJobState => ({
  ...state,
  status: gave_up === null ? 'running' : 'queued',
  spared: state.spared + (gave_up === 'shutdown' ? 1 : 0),
  progress,
  lease:
    state.lease === null
      ? null
      : { ...state.lease, lease_until, held: gave_up === null, renewals: state.lease.renewals + 1 },
});

const evolve = (state: TrainingJobState, { type, data }: TrainingJobEvent): TrainingJobState => {
  switch (type) {
    case 'TrainingJobCreated': {
      const { max_metric_calls } = data;
      return { ...state, job: data, progress: { metric_calls: 0, max_metric_calls } };
    }
    case 'TrainingJobStarted': {
      const { lease_id, lease_until, worker, attempt, started_at } = data;
      const lease = { lease_id, lease_until, worker, held: true, renewals: 0 };
      const first = state.started_at ?? started_at;
      return { ...state, status: 'running', lease, attempts: attempt, started_at: first };
    }
    case 'TrainingJobProgressed':
      return evolveProgress(state, data);
    case 'TrainingJobSucceeded':
      return {
        ...state,
        status: 'succeeded',
        progress: data.progress,
        success: data,
        finished_at: data.succeeded_at,
      };
    case 'TrainingJobFailed': {
      const { code, detail, failed_at } = data;
      return { ...state, status: 'failed', failure: { code, detail }, finished_at: failed_at };
    }
    case 'TrainingJobCancelled':
      return { ...state, status: 'cancelled', finished_at: data.cancelled_at };
  }
};

export type TrainingJobKind = StreamKind<
  TrainingJobState,
  TrainingJobCommand,
  TrainingJobEvent,
  TrainingJobRejection
>;

/**
 * The rules of a training job. Its stream is its place in the queue: whoever appends `TrainingJobStarted`
 * at the stream's revision owns it until the lease is lost, and what ended stays as it ended.
 */
export const trainingJob: Decider<TrainingJobKind> = { initialState: NO_JOB, decide, evolve };
