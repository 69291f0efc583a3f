import { sha256 } from './kernel/chain.ts';
import { type Tags, withTags } from './tags.ts';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  type Decision,
  type DomainEvent,
  reject,
  type StreamKind,
} from './kernel/decider.ts';

/** Digits of Crockford’s base 32. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ID_CHARACTERS = 26;

/** Twenty-six characters as an ID made by the clock has, from a digest. */
export const digestText = (text: string): string =>
  [
    ...sha256(text)
      .slice(0, 2 * ID_CHARACTERS)
      .matchAll(/../g),
  ]
    .map(([pair]) => ALPHABET.charAt(Number.parseInt(pair, 16) % ALPHABET.length))
    .join('');

/** The identity that a caller gave a synchronous request: on any route it is the same work. */
interface WorkIdentity {
  readonly tenant_id: string;
  readonly kind: string;
  readonly idempotency_key: string;
  /** Counts uses of the key: after a day, or after the work failed, it names other work. */
  readonly generation: number;
}

/** The same request always names the same work, so it is billed once, however often and by any worker it is done. */
export const workIdFor = (
  prefix: string,
  { tenant_id, kind, idempotency_key, generation }: WorkIdentity,
): string =>
  `${prefix}_${digestText(['work', tenant_id, kind, idempotency_key, String(generation)].join('\u001f'))}`;

/** Everything after the first `_`. */
export const suffixOf = (id: string): string => id.replace(/^[a-z]+_/, '');

/** Characters of a request's digest that its hold carries. */
const PRINT_CHARACTERS = 12;

/**
 * The hold of work that has an identity. Another request under the same identity would place another hold, which the
 * account refuses: of two at once, one gets the answer that the key belongs to another request.
 */
export const holdIdFor = (workId: string, fingerprint: string): string =>
  `hold_${workId}${fingerprint === '' ? '' : `_${fingerprint.slice(0, PRINT_CHARACTERS)}`}`;

/** Starts that count: a worker that is shut down in order gives its start back. */
export const ATTEMPTS_MAX = 3;
/** Renewals of one lease, so that a stream stays short whatever a worker does. */
export const RENEWALS_MAX = 100;
/** `expires_at` of a hold that no clock ends: the work that it is for ends it. */
export const NO_END = '9999-12-31T23:59:59.999Z';

/** The worker of a piece of queued work, or its last one. */
interface Lease {
  readonly lease_id: string;
  readonly lease_until: string;
  /** How long it is held for, by the owner's clock, ms. */
  readonly lease_ms: number;
  readonly worker: string;
  /** False once its owner gave it up: until `lease_until` nobody may start. */
  readonly held: boolean;
  readonly renewals: number;
}

/** What of a piece of work says whether it may be started. */
interface Leased {
  readonly lease: Lease | null;
  /** Starts so far, and those of them that a shutdown gave back. */
  readonly attempts: number;
  readonly spared: number;
}

/** A claim of somebody who is not the owner. */
interface Taking {
  readonly now: string;
  readonly expires_at: string;
  /** The `leaseMark` that the claimant has watched for the whole time of the lease; null: none. */
  readonly watched: string | null;
}

export const isOver = (instant: string, now: string): boolean => Date.parse(instant) <= Date.parse(now);

const isExhausted = ({ attempts, spared }: Leased): boolean => attempts - spared >= ATTEMPTS_MAX;

/**
 * What changes with every claim and renewal. A read model tells it too (`attempt`, `ready_at`), so a watcher needs
 * no stream to see whether an owner lives.
 */
export const leaseMark = ({ attempts, lease }: Leased): string => `${attempts}|${lease?.lease_until ?? ''}`;

/**
 * Whether somebody works on it, or nobody may start it yet. A lease ends when a claimant has watched it unchanged
 * for its whole time: the clocks of two machines are never compared. Only a pause before another attempt,
 * which nothing depends on, is measured by the clock.
 */
const isTaken = (work: Leased, { now, watched }: Taking): boolean => {
  const { lease } = work;
  if (lease === null) return false;
  return lease.held ? leaseMark(work) !== watched : !isOver(lease.lease_until, now);
};

/** Why nobody may start it now; undefined: it may be claimed. */
const startRefusal = (work: Leased, taking: Taking): 'lease_held' | 'attempts_exhausted' | undefined => {
  if (isOver(taking.expires_at, taking.now)) return 'attempts_exhausted';
  if (isTaken(work, taking)) return 'lease_held';
  return isExhausted(work) ? 'attempts_exhausted' : undefined;
};

/** Why a worker that does not own it has to end it; `lease_held`: it need not. */
const reapReason = (work: Leased, taking: Taking): 'expired' | 'worker_lost' | 'lease_held' => {
  if (isOver(taking.expires_at, taking.now)) return 'expired';
  return isTaken(work, taking) || !isExhausted(work) ? 'lease_held' : 'worker_lost';
};

/** Whether a lease is the one that is held now. */
const owns = ({ lease }: Leased, lease_id: string): boolean =>
  lease?.held === true && lease.lease_id === lease_id;

/** Of the event of a start. */
interface Claimed {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly worker: string;
  /** From 1. */
  readonly attempt: number;
  readonly started_at: string;
}

/** Of the event of a renewal. */
interface Renewed {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly gave_up: 'failed' | 'shutdown' | null;
  readonly progressed_at: string;
}

/** A lease after its owner renewed it, or gave it up. */
const renewed = (lease: Lease | null, { lease_until, gave_up, progressed_at }: Renewed): Lease | null =>
  lease === null
    ? null
    : {
        ...lease,
        lease_until,
        lease_ms: msBetween(progressed_at, lease_until),
        held: gave_up === null,
        renewals: lease.renewals + 1,
      };

const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from);

/** The lease of a start. */
const taken = ({ lease_id, lease_until, worker, started_at }: Claimed): Lease => {
  const lease_ms = msBetween(started_at, lease_until);
  return { lease_id, lease_until, lease_ms, worker, held: true, renewals: 0 };
};

/** How work stands after its owner renewed its lease, or gave it up. */
const kept = (
  { lease, spared }: Pick<Leased, 'lease' | 'spared'>,
  data: Renewed,
): Pick<Leased, 'lease' | 'spared'> & { readonly status: 'running' | 'queued' } => ({
  status: data.gave_up === null ? 'running' : 'queued',
  spared: spared + (data.gave_up === 'shutdown' ? 1 : 0),
  lease: renewed(lease, data),
});

/** The types of one kind of queued work, under one name. */
export interface WorkTypes {
  readonly event: DomainEvent;
  /** Whose it is, as every event of its stream says. */
  readonly identity: { readonly tenant_id: string };
  /** Data of the event that puts it in the queue. */
  readonly accepted: {
    readonly fingerprint: string;
    readonly expires_at: string;
    readonly tags?: Tags | undefined;
  };
  /** Data of the event of its success. */
  readonly success: { readonly lease_id: string; readonly succeeded_at: string };
  /** How far it is. */
  readonly reached: object;
}

/** Why it failed: a code of the interface, or `worker_lost`, `expired`. */
interface Failure {
  readonly code: string;
  /** A sentence, for kinds whose sentences never tell of a document. */
  readonly detail?: string;
}

/** What an event of any kind of work says, by the name of its phase. */
type Moments<W extends WorkTypes> = {
  readonly accepted: W['accepted'];
  readonly started: Claimed;
  readonly progressed: Renewed & W['reached'];
  readonly succeeded: W['success'];
  readonly failed: Failure & { readonly failed_at: string };
  /** `abandoned`: it never was in the queue. */
  readonly cancelled: { readonly cancelled_at: string; readonly abandoned?: true };
};
type Phase = keyof Moments<WorkTypes>;
type Moment<W extends WorkTypes> = {
  [P in Phase]: { readonly phase: P; readonly data: Moments<W>[P] };
}[Phase];

/** What differs between kinds of work. */
interface WorkKind<W extends WorkTypes> {
  /** What its events are called. */
  readonly words: Readonly<Record<Phase, W['event']['type']>>;
  readonly identityOf: (accepted: W['accepted']) => W['identity'];
  /** How far it is in the queue, and how far when it has succeeded. */
  readonly begins: (accepted: W['accepted']) => W['reached'];
  readonly ends: (accepted: W['accepted'], success: W['success']) => W['reached'];
  /** The members of a progress that say how far it is. */
  readonly reachedIn: (progressed: W['reached']) => W['reached'];
  /** Sentences for those that somebody else ended; left out where the log has none. */
  readonly reaped?: Readonly<Record<'expired' | 'worker_lost', string>>;
}

type Status = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface QueuedState<W extends WorkTypes> extends Leased {
  /** null for work that never was in the queue. */
  readonly accepted: W['accepted'] | null;
  readonly status: Status;
  readonly reached: W['reached'] | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly success: W['success'] | null;
  readonly failure: Failure | null;
}

/** Work that is in the queue, or was. */
type KnownWork<W extends WorkTypes> = QueuedState<W> & { readonly accepted: W['accepted'] };

export const hasEnded = ({ status }: { readonly status: Status }): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

/** Its request died before it was accepted, and somebody has closed it: its identity is used up. */
export const isAbandoned = ({
  accepted,
  status,
}: Pick<QueuedState<WorkTypes>, 'accepted' | 'status'>): boolean =>
  accepted === null && status === 'cancelled';

type Accept<W extends WorkTypes> = Command<'Accept', W['accepted']>;
/** Claims work that waits, or whose owner was watched to be gone. */
type Start = Command<'Start', Omit<Claimed, 'attempt' | 'started_at'> & Pick<Taking, 'watched'>>;
/** Renews the lease, and says how far the work is. */
type Progress<W extends WorkTypes> = Command<
  'Progress',
  Pick<Renewed, 'lease_id' | 'lease_until'> & W['reached']
>;
/**
 * The owner stops before the end. After the last attempt, and for an error that would come again (`lasting`), the
 * work has failed; otherwise it waits until `retry_at`. A shutdown does not count as an attempt.
 */
type GiveUp = Command<
  'GiveUp',
  Failure & {
    readonly lease_id: string;
    readonly retry_at: string;
    readonly reason: 'failed' | 'shutdown';
    readonly lasting: boolean;
  }
>;
type Succeed<W extends WorkTypes> = Command<
  'Succeed',
  Pick<W['success'], 'lease_id'> &
    Omit<W['success'], keyof W['identity'] | 'succeeded_at' | 'lease_id' | 'tags'>
>;
/** Ends work that no worker will end: its time is over, or its last owner is gone. */
type Reap = Command<'Reap', Pick<Taking, 'watched'>>;
/** Closes a stream that has no work, so that a request that is late meets an end instead of an empty account. */
type Abandon<W extends WorkTypes> = Command<'Abandon', W['identity']>;

export type WorkCommand<W extends WorkTypes> =
  | Accept<W>
  | Start
  | Progress<W>
  | GiveUp
  | Succeed<W>
  | Reap
  | BareCommand<'Cancel'>
  | Abandon<W>;

type WorkRejection =
  | { readonly code: 'not_found' }
  | { readonly code: 'idempotency_key_reused' }
  /** It ended before, or its identity was closed before it was accepted. */
  | { readonly code: 'finished' }
  /** It is in the queue, so it cannot be abandoned. */
  | { readonly code: 'accepted' }
  /** Somebody else owns it, or nobody may start it now. */
  | { readonly code: 'lease_held' }
  /** The lease that a command names is not the work's: another worker has taken over. */
  | { readonly code: 'lease_lost' }
  /** It was started as often as it may be. */
  | { readonly code: 'attempts_exhausted' };

export type QueuedKind<W extends WorkTypes> = StreamKind<
  QueuedState<W>,
  WorkCommand<W>,
  W['event'],
  WorkRejection
>;

type WorkDecision<W extends WorkTypes> = Decision<W['event'], WorkRejection>;

const ENDS: ReadonlySet<Phase> = new Set(['succeeded', 'failed', 'cancelled']);

const rules = <W extends WorkTypes>(kind: WorkKind<W>) => {
  /** The codec checks what is written against the schema of the event. */
  const written = (identity: W['identity'], { phase, data }: Moment<W>): WorkDecision<W> =>
    accept({ type: kind.words[phase], data: { ...identity, ...data } });
  /** Ends have the tags of the work, so that a message can be made of one event alone. */
  const moved = ({ accepted }: KnownWork<W>, moment: Moment<W>) => {
    const told = ENDS.has(moment.phase) ? withTags(accepted.tags) : {};
    return written({ ...kind.identityOf(accepted), ...told }, moment);
  };

  const acceptNew = (state: QueuedState<W>, { data }: Accept<W>): WorkDecision<W> => {
    const { accepted } = state;
    if (isAbandoned(state)) return reject({ code: 'finished' });
    if (accepted === null) return written(kind.identityOf(data), { phase: 'accepted', data });
    return accepted.fingerprint === data.fingerprint ? accept() : reject({ code: 'idempotency_key_reused' });
  };
  const abandon = (state: QueuedState<W>, { data, meta }: Abandon<W>): WorkDecision<W> => {
    if (state.accepted !== null) return reject({ code: 'accepted' });
    return isAbandoned(state)
      ? accept()
      : written(data, { phase: 'cancelled', data: { cancelled_at: meta.now, abandoned: true } });
  };
  const start = (state: KnownWork<W>, { data, meta: { now } }: Start): WorkDecision<W> => {
    const { watched, ...lease } = data;
    const code = startRefusal(state, { expires_at: state.accepted.expires_at, now, watched });
    if (code !== undefined) return reject({ code });
    return moved(state, {
      phase: 'started',
      data: { ...lease, attempt: state.attempts + 1, started_at: now },
    });
  };
  const reap = (state: KnownWork<W>, { data: { watched }, meta: { now } }: Reap): WorkDecision<W> => {
    const code = reapReason(state, { expires_at: state.accepted.expires_at, now, watched });
    if (code === 'lease_held') return reject({ code });
    const why = { code, ...(kind.reaped && { detail: kind.reaped[code] }) };
    return moved(state, { phase: 'failed', data: { ...why, failed_at: now } });
  };
  const known = (
    state: KnownWork<W>,
    command: Exclude<WorkCommand<W>, Accept<W> | Abandon<W>>,
  ): WorkDecision<W> => {
    if (command.type === 'Start') return start(state, command);
    if (command.type === 'Reap') return reap(state, command);
    if (command.type === 'Cancel')
      return moved(state, { phase: 'cancelled', data: { cancelled_at: command.meta.now } });
    return ownerRules(kind, moved)(state, command);
  };
  return { acceptNew, abandon, known };
};

/** What only the owner of the lease may do. */
const ownerRules = <W extends WorkTypes>(
  kind: WorkKind<W>,
  moved: (state: KnownWork<W>, moment: Moment<W>) => WorkDecision<W>,
) => {
  const progress = (state: KnownWork<W>, { data, meta }: Progress<W>): WorkDecision<W> => {
    if ((state.lease?.renewals ?? 0) >= RENEWALS_MAX) return reject({ code: 'lease_lost' });
    return moved(state, { phase: 'progressed', data: { ...data, gave_up: null, progressed_at: meta.now } });
  };
  const giveUp = (state: KnownWork<W>, { data, meta }: GiveUp): WorkDecision<W> => {
    const { lease_id, retry_at, reason, lasting, ...why } = data;
    if (reason === 'failed' && (lasting || isExhausted(state)))
      return moved(state, { phase: 'failed', data: { ...why, failed_at: meta.now } });
    const reached = state.reached ?? kind.begins(state.accepted);
    const renewal = { lease_id, lease_until: retry_at, gave_up: reason, progressed_at: meta.now };
    return moved(state, { phase: 'progressed', data: { ...reached, ...renewal } });
  };
  return (state: KnownWork<W>, command: Progress<W> | GiveUp | Succeed<W>): WorkDecision<W> => {
    if (!owns(state, command.data.lease_id)) return reject({ code: 'lease_lost' });
    if (command.type === 'GiveUp') return giveUp(state, command);
    if (command.type === 'Progress') return progress(state, command);
    const data = { ...command.data, succeeded_at: command.meta.now } as unknown as W['success'];
    return moved(state, { phase: 'succeeded', data });
  };
};

/** What the work remembers of an event. */
const after = <W extends WorkTypes>(
  kind: WorkKind<W>,
  state: QueuedState<W>,
  { phase, data }: Moment<W>,
): QueuedState<W> => {
  switch (phase) {
    case 'accepted':
      return { ...state, accepted: data, reached: kind.begins(data) };
    case 'started': {
      const { attempt, started_at } = data;
      const first = state.started_at ?? started_at;
      return { ...state, status: 'running', lease: taken(data), attempts: attempt, started_at: first };
    }
    case 'progressed':
      return { ...state, ...kept(state, data), reached: kind.reachedIn(data) };
    case 'succeeded': {
      const reached = state.accepted === null ? null : kind.ends(state.accepted, data);
      return { ...state, status: 'succeeded', reached, success: data, finished_at: data.succeeded_at };
    }
    case 'failed': {
      const { code, detail } = data;
      const failure = detail === undefined ? { code } : { code, detail };
      return { ...state, status: 'failed', failure, finished_at: data.failed_at };
    }
    case 'cancelled':
      return { ...state, status: 'cancelled', finished_at: data.cancelled_at };
  }
};

/**
 * The rules of work that waits: none, waiting, leased, then succeeded, failed or cancelled, each permanent. Its
 * stream is its place in the queue: the worker that appends the start at the stream's revision owns it until the lease
 * is lost, and ended work stays ended. Its money moves only after its end (`closeWork`).
 */
export const queuedWork = <W extends WorkTypes>(kind: WorkKind<W>): Decider<QueuedKind<W>> => {
  const { acceptNew, abandon, known } = rules(kind);
  const phases = new Map(Object.entries(kind.words).map(([phase, type]) => [type, phase as Phase]));
  return {
    initialState: {
      accepted: null,
      status: 'queued',
      lease: null,
      attempts: 0,
      spared: 0,
      reached: null,
      started_at: null,
      finished_at: null,
      success: null,
      failure: null,
    },
    decide: (state, command) => {
      if (command.type === 'Accept') return acceptNew(state, command);
      if (command.type === 'Abandon') return abandon(state, command);
      const { accepted } = state;
      if (accepted === null) return reject({ code: 'not_found' });
      if (hasEnded(state)) return reject({ code: 'finished' });
      return known({ ...state, accepted }, command);
    },
    evolve: (state, { type, data }) =>
      // The codec has checked it against the schema of its type.
      after(kind, state, { phase: phases.get(type), data } as unknown as Moment<W>),
  };
};
