import { laterBy } from '../../../domain/kernel/instant.ts';
import { closeOperation } from '../../commands/operations/closeOperation.ts';
import type { OperationName } from '../../commands/operations/operations.ts';
import { releaseHold } from '../../commands/work/holds.ts';
import { systemMeta } from '../../commands/writer/commandMeta.ts';
import { jobsAtOnce } from '../jobsAtOnce.ts';
import { each, repeatedly } from '../loops.ts';
import { reapOperation, runOperation, type OperationRun, type OperationRunDeps } from './runOperation.ts';

type OrphanHold = OperationName & { readonly hold_id: string };

/** What read models know of operations. They may be late: the streams decide. */
export interface OperationLists {
  /** Those that nobody works on: the one of each tenant that waits longest, then the second of each. */
  readonly waiting: (now: string, limit: number) => Promise<readonly OperationName[]>;
  /** Those whose time is over and that did not end. */
  readonly expired: (now: string, limit: number) => Promise<readonly OperationName[]>;
  /** Those that ended and were neither charged nor released. */
  readonly unsettled: (limit: number) => Promise<readonly OperationName[]>;
  /** Open holds of operations that were never accepted, placed before `before`. */
  readonly orphanHolds: (before: string, limit: number) => Promise<readonly OrphanHold[]>;
}

export interface OperationWorkerDeps extends OperationRunDeps {
  readonly lists: OperationLists;
  /** How often the queue is looked at, ms. */
  readonly pollMs?: number;
}

export interface OperationWorker {
  /** Does the operations that wait, a few beside each other, until none is left. Gives how many it ran. */
  readonly drain: () => Promise<number>;
  /** Ends what nobody else will end, and settles what was left open. Gives how many things it ended. */
  readonly reap: () => Promise<number>;
  readonly start: () => void;
  /** Gives the running operations back and waits until they are given. */
  readonly stop: () => Promise<void>;
}

const PAGE = 50;
/** How often what others left is looked for. */
const REAP_MS = 30_000;
/** A hold without an operation may still be in its request's hands for so long, ms. */
const ORPHAN_AGE_MS = 10 * 60_000;

/** Nobody accepted the operation: its request died right after the hold, and was never sent again. */
const releaseOrphan = async (
  deps: OperationWorkerDeps,
  { operation_id, tenant_id, hold_id }: OrphanHold,
): Promise<boolean> => {
  const { accepted } = await deps.operations.stateOf(operation_id);
  if (accepted !== null) return false;
  return releaseHold(deps, { tenant_id, hold_id, reason: 'failed' }, systemMeta(deps, operation_id));
};

const reapOnce = async (deps: OperationWorkerDeps): Promise<number> => {
  const now = deps.clock.now();
  const reaped = await each(deps, await deps.lists.expired(now, PAGE), (one) => reapOperation(deps, one));
  const settled = await each(deps, await deps.lists.unsettled(PAGE), async ({ operation_id }) =>
    closeOperation(deps, await deps.operations.stateOf(operation_id)),
  );
  const orphans = await deps.lists.orphanHolds(laterBy(now, -ORPHAN_AGE_MS), PAGE);
  return reaped + settled + (await each(deps, orphans, (hold) => releaseOrphan(deps, hold)));
};

/** What one operation throws is told, and leaves the others alone. */
const runQuietly = async (
  deps: OperationWorkerDeps,
  name: OperationName,
  shutdown: AbortSignal,
): Promise<OperationRun> => {
  try {
    return await runOperation(deps, name, shutdown);
  } catch (error) {
    deps.onError(error);
    return 'not_ours';
  }
};

/** Takes operations from the queue that their streams are. Any number of workers may do so beside each other. */
export const operationWorker = (deps: OperationWorkerDeps): OperationWorker => {
  const { pollMs = 1_000, onError } = deps;
  const shutdown = new AbortController();
  const running = jobsAtOnce({
    waiting: async () =>
      (await deps.lists.waiting(deps.clock.now(), PAGE)).map(({ operation_id: job_id, tenant_id }) => ({
        job_id,
        tenant_id,
      })),
    run: ({ job_id: operation_id, tenant_id }) =>
      runQuietly(deps, { operation_id, tenant_id }, shutdown.signal),
    onError,
    shutdown: shutdown.signal,
  });
  const reap = () => reapOnce(deps);
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
