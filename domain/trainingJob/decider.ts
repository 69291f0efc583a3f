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
import type {
  CreateTrainingJob,
  GiveUpTrainingJob,
  ProgressTrainingJob,
  StartTrainingJob,
  TrainingJobCommand,
  TrainingJobRejection,
} from './commands.ts';
import type { Progress, TrainingJobEvent, TrainingJobEventOf } from './events.ts';

type Created = TrainingJobEventOf<'TrainingJobCreated'>['data'];
type Succeeded = TrainingJobEventOf<'TrainingJobSucceeded'>['data'];
type Failed = TrainingJobEventOf<'TrainingJobFailed'>['data'];

type TrainingJobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface TrainingJobState extends Leased {
  readonly job: Created | null;
  readonly status: TrainingJobStatus;
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

const identityOf = ({ job }: Known) => ({ job_id: job.job_id, tenant_id: job.tenant_id });

const create = (state: TrainingJobState, { data, meta }: CreateTrainingJob): JobDecision => {
  if (state.job === null)
    return accept({ type: 'TrainingJobCreated', data: { ...data, created_at: meta.now } });
  return state.job.fingerprint === data.fingerprint ? accept() : reject({ code: 'idempotency_key_reused' });
};

const start = (state: Known, { data, meta }: StartTrainingJob): JobDecision => {
  const code = startRefusal(state, { expires_at: state.job.expires_at, now: meta.now });
  if (code !== undefined) return reject({ code });
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
  if (reason === 'failed' && (lasting || isExhausted(state)))
    return failed(state, { code, detail }, meta.now);
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
  if (!owns(state, command.data.lease_id)) return reject({ code: 'lease_lost' });
  if (command.type === 'ProgressTrainingJob') return progressed(state, command);
  if (command.type === 'GiveUpTrainingJob') return giveUp(state, command);
  const data = { ...identityOf(state), ...command.data, succeeded_at: command.meta.now };
  return accept({ type: 'TrainingJobSucceeded', data });
};

const REAPED = {
  expired: 'The job did not end in the time that jobs have.',
  worker_lost: 'The job was started several times and never came to its end. Create it again.',
} as const;

const reap = (state: Known, now: string): JobDecision => {
  const code = reapReason(state, { expires_at: state.job.expires_at, now });
  return code === 'lease_held' ? reject({ code }) : failed(state, { code, detail: REAPED[code] }, now);
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
  lease: renewed(state.lease, { lease_until, gave_up }),
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
