import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { hasEnded, type WorkTypes } from '../../../domain/leased.ts';
import type { QueueStreams } from '../../commands/queue/queueStreams.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { isRenewalDue, leaseMs, RUN_MS_MAX, type Standing } from './leaseTimes.ts';

/** Why an owner has to stop. */
export type StopReason = 'lost' | 'shutdown' | 'timed_out';

/** What a worker of any queue stands on. */
export interface QueueDeps {
  readonly clock: Clock;
  /** Names this worker in the log. */
  readonly worker: string;
  /** How often an owner looks whether it still owns its work, ms. */
  readonly tickMs: number;
  readonly onError: (error: unknown) => void;
}

/** A piece of work that this worker owns. */
export interface HeldWork<W extends WorkTypes> {
  readonly accepted: W['accepted'];
  readonly name: W['identity'];
  /** Of its stream; also what its commands are correlated by. */
  readonly id: string;
  readonly lease_id: string;
  /** From 1. */
  readonly attempt: number;
}

/** How far the work is: as a share, and as its events say it. */
export interface Reaching<W extends WorkTypes> {
  readonly standing: () => Standing;
  readonly reached: () => W['reached'];
}

interface Heartbeat {
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  /** Why the owner has to stop; undefined while it need not. */
  readonly stopped: () => StopReason | undefined;
  readonly stop: () => Promise<void>;
}

/** Keeps a lease while the work goes on; aborts when it was lost, the work ended elsewhere, or takes too long. */
export const heartbeat = <W extends WorkTypes>(
  deps: Pick<QueueDeps, 'clock' | 'tickMs'> & { readonly streams: QueueStreams<W> },
  { name, id, lease_id }: HeldWork<W>,
  { standing, reached, shutdown }: Reaching<W> & { readonly shutdown: AbortSignal },
): Heartbeat => {
  const { streams } = deps;
  const { monotonicMs = () => performance.now() } = deps.clock;
  const started = monotonicMs();
  const stopping = new AbortController();
  const abort = (reason: StopReason): void => {
    if (!stopping.signal.aborted) stopping.abort(reason);
  };
  let written = { ...standing(), done: 0 };
  let [renewed_at, until] = [started, started + leaseMs(0)];

  const renew = async (now: number): Promise<void> => {
    const reaching = standing();
    const meta = systemMeta(deps, id);
    const lastsMs = leaseMs(now - started);
    const data = { ...reached(), lease_id, lease_until: laterBy(meta.now, lastsMs) };
    const outcome = await streams.handle(name, { type: 'Progress', data, meta });
    if (outcome.kind === 'rejected') abort('lost');
    if (outcome.kind !== 'done') return;
    written = reaching;
    [renewed_at, until] = [now, now + lastsMs];
  };
  const tick = async (): Promise<void> => {
    const now = monotonicMs();
    if (now - started > RUN_MS_MAX) abort('timed_out');
    const state = await streams.stateOf(id);
    if (hasEnded(state) || state.lease?.lease_id !== lease_id) abort('lost');
    else if (isRenewalDue({ renewed_at, until, now }, written, standing())) await renew(now);
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
