import { RUNNER_TUNING } from './arrivals.ts';
import { changes, checkpointWaits, type WaitOptions } from './waiting.ts';
import { leasedProjection } from './lease.ts';
import type { RunnerDeps } from './building.ts';
import { generations, hasRegistry } from './registry.ts';
import { upgrading } from './upgrade.ts';
import { type ProjectorStatus, statusOfRegistry, statusOfSlots } from './subscribe.ts';

export type { RunnerDeps } from './building.ts';

/** Keeps the read models up with the log while no other process does. */
export interface ProjectionRunner {
  start(): void;
  /** Finishes the batch in hand and lets another process take over. */
  stop(): Promise<void>;
  /**
   * True when the read models named (all by default) have committed `position`; false after
   * `timeoutMs`, or at once when one of them has stopped or is being built and will not get there.
   */
  waitFor(position: bigint, options: WaitOptions): Promise<boolean>;
  status(): Promise<readonly ProjectorStatus[]>;
  /** Whether this process is the one that projects now. */
  isProjecting(): boolean;
  /** Why this process stands aside for a newer release; null while it does not. */
  aside(): string | null;
}

export const projectionRunner = (deps: RunnerDeps): ProjectionRunner => {
  const { sql, timers, projectors } = deps;
  const tuning = { ...RUNNER_TUNING, ...deps.tuning };
  const stopping = new AbortController();
  const changed = changes();
  let loop: Promise<unknown> | undefined;
  const waits = checkpointWaits({
    sql,
    timers,
    projectors,
    slots: () => running()?.slots,
    changes: changed,
    onWait: () => running()?.wake(),
  });
  const { running, aside, run } = leasedProjection(
    { ...deps, tuning },
    { isAwaited: () => waits.isAwaited(), onProgress: () => changed.fire() },
  );
  const upgrade = upgrading({ ...deps, tuning });

  const registryStatus = async (): Promise<readonly ProjectorStatus[]> =>
    statusOfRegistry((await hasRegistry(sql)) ? await generations(sql) : [], deps);

  return {
    start: () => {
      loop ??= Promise.all([run(stopping.signal), upgrade(stopping.signal)]);
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
    waitFor: waits.waitFor,
    isProjecting: () => running() !== undefined,
    aside,
    status: async () => {
      const subscriber = running();
      if (subscriber === undefined) return registryStatus();
      const own = statusOfSlots(subscriber.slots, subscriber.state());
      if (own.length === projectors.length) return own;
      const others = await registryStatus();
      const isOwn = (name: string) => own.some((one) => one.name === name);
      return [...own, ...others.filter(({ name }) => !isOwn(name))];
    },
  };
};
