import { laterBy } from '../../../domain/kernel/instant.ts';
import { operationEnded } from '../../../domain/operation/decider.ts';
import type { OperationEventOf } from '../../../domain/operation/events.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { Operations } from '../../commands/operations/operations.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import type { StopReason } from '../heldLease.ts';
import { leaseMs } from '../lease.ts';

/** An operation that this worker owns. */
export interface OperationLease {
  readonly accepted: OperationEventOf<'OperationAccepted'>['data'];
  readonly lease_id: string;
  /** From 1. */
  readonly attempt: number;
  readonly started_at: string;
}

interface HeartbeatDeps {
  readonly operations: Operations;
  readonly clock: Clock;
  readonly tickMs: number;
}

interface OperationHeartbeat {
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  readonly stop: () => Promise<void>;
}

/** Keeps the lease while the work goes on; aborts when it was lost, or the operation was cancelled. */
export const operationHeartbeat = (
  { operations, clock, tickMs }: HeartbeatDeps,
  { accepted, lease_id, started_at }: OperationLease,
  shutdown: AbortSignal,
): OperationHeartbeat => {
  const started = Date.parse(started_at);
  const stopping = new AbortController();
  let [renewedAt, until] = [started, started + leaseMs(0)];

  const renew = async (now: number): Promise<void> => {
    const meta = systemMeta({ clock }, accepted.operation_id);
    const lease_until = laterBy(meta.now, leaseMs(now - started));
    const data = { lease_id, lease_until, pages_done: 0 };
    const outcome = await operations.handle(accepted, { type: 'ProgressOperation', data, meta });
    if (outcome.kind === 'rejected') stopping.abort('lost' satisfies StopReason);
    if (outcome.kind === 'done') [renewedAt, until] = [now, Date.parse(lease_until)];
  };
  const tick = async (): Promise<void> => {
    const state = await operations.stateOf(accepted.operation_id);
    const now = Date.parse(clock.now());
    if (operationEnded(state) || state.lease?.lease_id !== lease_id)
      stopping.abort('lost' satisfies StopReason);
    else if (now >= (renewedAt + until) / 2) await renew(now);
  };

  let beating: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (stopping.signal.aborted) return;
    // A log that is away for a moment is asked again; whether the lease held, the last append decides.
    beating ??= tick()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  }, tickMs);
  const onShutdown = () => stopping.abort('shutdown' satisfies StopReason);
  shutdown.addEventListener('abort', onShutdown);
  if (shutdown.aborted) onShutdown();

  return {
    signal: stopping.signal,
    stop: async () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', onShutdown);
      await beating;
    },
  };
};
