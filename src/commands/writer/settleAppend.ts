import type {
  AppendResult,
  EventStore,
  ExpectedRevision,
  NewEvent,
} from '../../../domain/ports/eventStore.ts';
import { backOff, type Pacing, type StopSwitch } from './backOff.ts';

/** Events for one stream at one revision. Never changed once it was sent. */
interface FrozenBatch {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
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

/**
 * Appends a batch and stays with it until its fate is known: an unknown outcome is settled by the same
 * batch again at the same revision, for a log answers that with `appended` if it has it and with
 * `conflict` if it never will. Answers `unknown` only at `stop`.
 */
export const settleAppend = async (
  store: EventStore,
  batch: FrozenBatch,
  persistence: Persistence,
): Promise<AppendResult> => {
  for (let attempt = 1; ; attempt += 1) {
    const sent = store.append(batch.stream, batch.expected, batch.events);
    const result = await answerWithin(persistence, sent);
    if (result.kind === 'conflict') return checkedConflict(batch, result);
    if (result.kind !== 'unknown') return result;
    persistence.onUnknown?.(batch.stream, result.reason);
    await backOff(attempt, persistence, persistence.stop);
    if (persistence.stop?.isStopped() === true) return result;
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
