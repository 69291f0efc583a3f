import { eventAt } from '../../../domain/eventLog/eventLog.ts';
import {
  LogUnavailable,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
} from '../../../domain/ports/log.ts';
import { backOff, type Pacing, type StopSwitch } from './backOff.ts';
import { epochOf, hashOf, LogContradicts } from './streamFold.ts';

/** Events for one stream at one revision. Never changed once it was sent. */
interface FrozenBatch {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  /** The connection over which was read what they follow on; see `EventStore.epoch`. */
  readonly epoch: number;
}

/** How to go on when the log does not say what happened. */
export interface Persistence extends Pacing {
  /** A log silent for so long is asked again. */
  readonly appendTimeoutMs: number;
  /** Gives up: the batch stays unknown. */
  readonly stop?: StopSwitch | undefined;
  readonly onUnknown?: ((stream: string, reason: string) => void) | undefined;
}

/** The log is shorter than it was: a restored backup or a lost leader. Deciding on would double money. */
export class LogWentBack extends Error {
  override readonly name = 'LogWentBack';
  constructor(batch: FrozenBatch, actual: ExpectedRevision) {
    super(
      `stream ${batch.stream} ends at ${String(actual)}, before revision ${String(batch.expected)} that it had`,
    );
  }
}

/** Whether the log was found to be another one than this process remembers, or a shorter one. */
export const isContradiction = (error: unknown): boolean =>
  error instanceof LogWentBack || error instanceof LogContradicts;

/**
 * Appends a batch and stays with it until its fate is known: an unknown outcome is settled by the same
 * batch again at the same revision, for a log answers that with `appended` if it has it and with
 * `conflict` if it never will. Answers `unknown` only at `stop`, and `moved` only where it was never sent.
 */
export const settleAppend = async (
  store: EventStore,
  batch: FrozenBatch,
  persistence: Persistence,
): Promise<AppendResult> => {
  let { epoch } = batch;
  for (let attempt = 1; ; attempt += 1) {
    const sent = store.append(batch.stream, batch.expected, batch.events, epoch);
    const result = await answerWithin(persistence, sent);
    if (result.kind === 'conflict') return checkedConflict(batch, result);
    const isLost = result.kind === 'moved' && attempt > 1;
    if (result.kind !== 'unknown' && !isLost) return result;
    if (isLost) epoch = await comparedAnew(store, batch, epoch);
    const reason = reasonOf(result);
    persistence.onUnknown?.(batch.stream, reason);
    await backOff(attempt, persistence, persistence.stop);
    if (persistence.stop?.isStopped() === true) return { kind: 'unknown', reason };
  }
};

const reasonOf = (result: Extract<AppendResult, { kind: 'unknown' | 'moved' }>): string =>
  result.kind === 'unknown' ? result.reason : 'the connection was lost';

/**
 * Makes sure that a log which is reached over another connection has the event that a batch follows on. Gives that
 * connection; the one before while the log cannot be read. Throws LogContradicts.
 */
const comparedAnew = async (store: EventStore, batch: FrozenBatch, before: number): Promise<number> => {
  const { stream, expected, events } = batch;
  const epoch = epochOf(store);
  if (expected === 'no_stream') return epoch;
  try {
    const there = await eventAt(store, stream, expected);
    const hash = events[0]?.metadata['prev_hash'];
    if (there === undefined || hashOf(there) !== hash) throw new LogContradicts(stream, expected);
    return epoch;
  } catch (error) {
    if (error instanceof LogUnavailable) return before;
    throw error;
  }
};

const checkedConflict = (
  batch: FrozenBatch,
  conflict: Extract<AppendResult, { kind: 'conflict' }>,
): AppendResult => {
  const { expected } = batch;
  const { actual } = conflict;
  if (expected !== 'no_stream' && (actual === 'no_stream' || actual < expected))
    throw new LogWentBack(batch, actual);
  return conflict;
};

/** A store that throws, or is silent for too long or past `stop`, has left the outcome unknown. */
const answerWithin = (
  { appendTimeoutMs, stop }: Persistence,
  sent: Promise<AppendResult>,
): Promise<AppendResult> =>
  new Promise((resolve) => {
    const finish = (result: AppendResult) => {
      clearTimeout(timer);
      stop?.waiters.delete(giveUp);
      resolve(result);
    };
    const giveUp = () => finish({ kind: 'unknown', reason: 'given up' });
    const timer = setTimeout(
      () => finish({ kind: 'unknown', reason: `no answer within ${appendTimeoutMs} ms` }),
      appendTimeoutMs,
    );
    stop?.waiters.add(giveUp);
    sent.then(finish, (error: unknown) => finish({ kind: 'unknown', reason: String(error) }));
  });
