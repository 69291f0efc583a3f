import { laterBy } from '../../../domain/kernel/instant.ts';
import { releaseHold, type HoldDeps } from '../../commands/work/holds.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { each, repeatedly } from '../loops.ts';
import type { QueueRun } from './claim.ts';
import type { OwnedWork, QueueDeps } from './queuedWork.ts';
import { workAtOnce, type WorkTurns } from './workAtOnce.ts';

/** What read models know of a queue. They may be late: the streams decide. */
export interface QueueLists<Name> {
  /** What nobody works on: the piece of each tenant that waits longest, then the second of each. */
  readonly waiting: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What has not ended though its time is over. */
  readonly expired: (now: string, limit: number) => Promise<readonly Name[]>;
  /** What ended and was neither charged nor released. */
  readonly unsettled: (limit: number) => Promise<readonly Name[]>;
  /** Open holds of work that was never accepted, placed before `before`. */
  readonly orphanHolds: (
    before: string,
    limit: number,
  ) => Promise<readonly (Name & { readonly hold_id: string })[]>;
}

/** How one kind of work is done and ended. */
export interface QueueHandlers<Name> {
  readonly idOf: (name: Name) => string;
  readonly run: (name: Name, shutdown: AbortSignal) => Promise<QueueRun>;
  readonly reap: (name: Name) => Promise<boolean>;
  /** Ends the money of what ended. False: it is to be asked again. */
  readonly settle: (name: Name) => Promise<boolean>;
  /** Whether it was ever accepted. */
  readonly isKnown: (name: Name) => Promise<boolean>;
}

export interface QueueWorkerDeps<Name> extends QueueDeps, HoldDeps {
  readonly lists: QueueLists<Name>;
  /** How often the queue is looked at, ms. */
  readonly pollMs?: number;
  /** Whose turn it is; left out: by what this worker ran. */
  readonly turns?: WorkTurns;
}

export interface QueueWorker {
  /** Does the work that waits, a few pieces beside each other, until none is left. Gives how many it ran. */
  readonly drain: () => Promise<number>;
  /** Ends what nobody else will end, and settles what was left open. Gives how many things it ended. */
  readonly reap: () => Promise<number>;
  readonly start: () => void;
  /** Gives the running work back and waits until it is given. */
  readonly stop: () => Promise<void>;
}

const PAGE = 50;
/** How often what others left is looked for. */
const REAP_MS = 30_000;
/** A hold without its work may still be in its request's hands for so long, ms. */
const ORPHAN_AGE_MS = 10 * 60_000;

const reapOnce = async <Name extends OwnedWork>(
  deps: QueueWorkerDeps<Name>,
  { idOf, reap, settle, isKnown }: QueueHandlers<Name>,
): Promise<number> => {
  const { lists, clock } = deps;
  const now = clock.now();
  const reaped = await each(deps, await lists.expired(now, PAGE), reap);
  const settled = await each(deps, await lists.unsettled(PAGE), settle);
  const orphans = await lists.orphanHolds(laterBy(now, -ORPHAN_AGE_MS), PAGE);
  // Nobody accepted the work: its request died right after the hold, and was never sent again.
  const released = await each(deps, orphans, async (orphan) => {
    if (await isKnown(orphan)) return false;
    const { tenant_id, hold_id } = orphan;
    return releaseHold(deps, { tenant_id, hold_id, reason: 'failed' }, systemMeta(deps, idOf(orphan)));
  });
  return reaped + settled + released;
};

/** Takes work from the queue that its streams are. Any number of workers may do so beside each other. */
export const queueWorker = <Name extends OwnedWork>(
  deps: QueueWorkerDeps<Name>,
  handlers: QueueHandlers<Name>,
): QueueWorker => {
  const { pollMs = 1_000, onError, lists, clock, turns } = deps;
  const shutdown = new AbortController();
  const running = workAtOnce<Name>({
    idOf: handlers.idOf,
    waiting: () => lists.waiting(clock.now(), PAGE),
    run: async (name) => {
      try {
        return await handlers.run(name, shutdown.signal);
      } catch (error) {
        // What one piece throws is told, and leaves the others alone.
        onError(error);
        return 'not_ours';
      }
    },
    onError,
    shutdown: shutdown.signal,
    turns,
  });
  const reap = () => reapOnce(deps, handlers);
  const loops = [repeatedly(running.takeUp, pollMs, onError), repeatedly(reap, REAP_MS, onError)];
  return {
    drain: async () => {
      const before = running.ran();
      await running.takeUp();
      await running.settled();
      return running.ran() - before;
    },
    reap,
    start: () => {
      for (const loop of loops) loop.start();
    },
    stop: async () => {
      shutdown.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await running.settled();
    },
  };
};
