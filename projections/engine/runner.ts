import { building } from './rebuild/building.ts';
import { RUNNER_TUNING } from './feed/notices.ts';
import type { WaitOptions } from './apply/progress.ts';
import { changes, progress } from './apply/progress.ts';
import { generations, hasRegistry } from './registry.ts';
import type { ProjectorStatus } from './status.ts';
import { statusOfRegistry, statusOfSlots } from './status.ts';
import { turns, type RunnerDeps } from './apply/turns.ts';

export type { RunnerDeps } from './apply/turns.ts';

/** Keeps the read models up with the log, as long as no other process does. */
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
  /** Why this process leaves the projecting to a newer release; null while it does not. */
  aside(): string | null;
}

export const projectionRunner = (deps: RunnerDeps): ProjectionRunner => {
  const { sql, timers, projectors } = deps;
  const tuning = { ...RUNNER_TUNING, ...deps.tuning };
  const stopping = new AbortController();
  const changed = changes();
  let loop: Promise<unknown> | undefined;
  const waits = progress({
    sql,
    timers,
    projectors,
    slots: () => running()?.slots,
    changes: changed,
    onWait: () => running()?.wake(),
  });
  const { running, aside, run } = turns(
    { ...deps, tuning },
    { isAwaited: () => waits.isAwaited(), onProgress: () => changed.fire() },
  );
  const build = building({ ...deps, tuning });

  const registryStatus = async (): Promise<readonly ProjectorStatus[]> =>
    statusOfRegistry((await hasRegistry(sql)) ? await generations(sql) : [], deps);

  return {
    start: () => {
      loop ??= Promise.all([run(stopping.signal), build(stopping.signal)]);
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
    waitFor: waits.waitFor,
    isProjecting: () => running() !== undefined,
    aside,
    status: async () => {
      const follow = running();
      if (follow === undefined) return registryStatus();
      const own = statusOfSlots(follow.slots, follow.state());
      if (own.length === projectors.length) return own;
      const others = await registryStatus();
      const isOwn = (name: string) => own.some((one) => one.name === name);
      return [...own, ...others.filter(({ name }) => !isOwn(name))];
    },
  };
};
