import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Leased } from '../../../domain/queue/lease.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { isRenewalDue, leaseMs, RUN_MS_MAX, type Standing } from './leaseTimes.ts';
import type { OwnedWork, QueuedWork, QueueDeps, QueueOutcome } from './queuedWork.ts';

/** Why an owner has to stop. */
export type StopReason = 'lost' | 'shutdown' | 'timed_out';

/** A lease on a piece of work that this worker has. */
export interface HeldLease<Name> {
  readonly name: Name;
  readonly lease_id: string;
  /** From 1. */
  readonly attempt: number;
  readonly started_at: string;
}

/** How a lease is renewed, and what is written down with it. */
export interface Renewing<State> {
  readonly renew: (
    lease: { readonly lease_id: string; readonly lease_until: string },
    reached: Standing,
    meta: CommandMeta,
  ) => Promise<QueueOutcome<State>>;
  readonly reached: () => Standing;
}

interface Heartbeat {
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /** Why the owner has to stop; undefined while it need not. */
  readonly stopped: () => StopReason | undefined;
  readonly stop: () => Promise<void>;
}

/** Keeps a lease while the work goes on; aborts when it was lost, the work ended elsewhere, or takes too long. */
export const heartbeat = <Name extends OwnedWork, State extends Leased>(
  deps: Pick<QueueDeps, 'clock' | 'tickMs'>,
  work: Pick<QueuedWork<Name, State>, 'idOf' | 'stateOf' | 'hasEnded'> & Renewing<State>,
  { held, shutdown }: { readonly held: HeldLease<Name>; readonly shutdown: AbortSignal },
): Heartbeat => {
  const { lease_id } = held;
  const id = work.idOf(held.name);
  const started = Date.parse(held.started_at);
  const stopping = new AbortController();
  const abort = (reason: StopReason): void => {
    if (!stopping.signal.aborted) stopping.abort(reason);
  };
  let written = { ...work.reached(), done: 0 };
  let [renewed_at, until] = [started, started + leaseMs(0)];

  const renew = async (now: number): Promise<void> => {
    const reached = work.reached();
    const lease_until = new Date(now + leaseMs(now - started)).toISOString();
    const outcome = await work.renew({ lease_id, lease_until }, reached, systemMeta(deps, id));
    if (outcome.kind === 'rejected') abort('lost');
    if (outcome.kind !== 'done') return;
    written = reached;
    [renewed_at, until] = [now, Date.parse(lease_until)];
  };
  const tick = async (): Promise<void> => {
    const now = Date.parse(deps.clock.now());
    if (now - started > RUN_MS_MAX) abort('timed_out');
    const state = await work.stateOf(id);
    if (work.hasEnded(state) || state.lease?.lease_id !== lease_id) abort('lost');
    else if (isRenewalDue({ renewed_at, until, now }, written, work.reached())) await renew(now);
  };

  let beating: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (stopping.signal.aborted) return;
    // A log that is away for a moment is asked again; whether the lease held, the last append decides.
    beating ??= tick()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  }, deps.tickMs);
  // Its work keeps a process alive, not the lease.
  timer.unref();
  const onShutdown = () => abort('shutdown');
  shutdown.addEventListener('abort', onShutdown);
  if (shutdown.aborted) onShutdown();

  return {
    signal: stopping.signal,
    stopped: () => (stopping.signal.aborted ? (stopping.signal.reason as StopReason) : undefined),
    stop: async () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', onShutdown);
      await beating;
    },
  };
};
