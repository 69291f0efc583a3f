import { identityOf } from '../../../domain/eventLog/identity.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { catchUp, type BuildDeps } from './catchUp.ts';
import type { Arrival } from '../feed/arrivals.ts';
import { divergenceOf } from '../feed/divergence.ts';
import type { Sql, SqlTx } from '../ports.ts';
import type { Projector } from '../projector.ts';
import type { Generation } from '../registry.ts';
import { createGeneration, generations, lockRegistry, promote } from '../registry.ts';
import { abandon, dropRetired } from './retire.ts';

/** The advisory lock of the one build at a time. */
export const BUILD_LOCK = 0x72627569n;
export const BATCH_MAX = 4000;

/** Does `work` and drops what it retired, while no other process builds; undefined when one does. */
export const withBuildLock = async <T>(sql: Sql, work: () => Promise<T>): Promise<T | undefined> => {
  const lock = await sql.tryLock(BUILD_LOCK);
  if (lock === undefined) return undefined;
  try {
    const done = await work();
    await dropRetired(sql);
    return done;
  } finally {
    await lock.release().catch(() => undefined);
  }
};

/** Whether a checkpoint is of the log that is there: one that is not says nothing about how far to go. */
export const isTrusted = async ({ feed }: BuildDeps, generation: Generation): Promise<boolean> =>
  (await divergenceOf(feed, [generation])) === undefined;

export interface OpenOptions {
  /** `building` for a new version, `rebuilding` for the rows of a version that serves already. */
  readonly state: 'building' | 'rebuilding';
  /** Begins at the start of the log even where an interrupted build could be continued. */
  readonly fresh: boolean;
}

/**
 * A generation for each read model, beside the one that serves: the one that an interrupted build of the same
 * version and log has left, or a new one. Call it in a transaction that holds `lockRegistry`.
 *
 * A read model that is new altogether has an empty generation that serves. It stays empty: a position in it
 * would tell an older process to stand aside, and ours to follow the log from there.
 */
export const openGenerations = async (
  deps: BuildDeps,
  tx: SqlTx,
  { projectors, state, fresh }: OpenOptions & { readonly projectors: readonly Projector[] },
): Promise<readonly RunningSlot[]> => {
  const logId = (await identityOf(deps.feed)) ?? null;
  const slots: RunningSlot[] = [];
  for (const projector of projectors) {
    const left = (await generations(tx, projector.name)).filter(
      (one) => !one.serves && (one.state === 'rebuilding') === (state === 'rebuilding'),
    );
    const begun = fresh ? undefined : left.find(({ version }) => version === projector.version);
    const usable = begun !== undefined && (await isTrusted(deps, begun)) ? begun : undefined;
    for (const one of left) if (one !== usable) await abandon(tx, one);
    const generation = usable ?? (await createGeneration(tx, projector, state));
    slots.push({ projector, generation: { ...generation, logId } });
  }
  return slots;
};

/** What was put in place of what. */
export interface Swapped {
  readonly before: Generation;
  readonly after: Generation;
}

const servingOf = async (sql: SqlTx, { name }: Projector): Promise<Generation> => {
  const serving = (await generations(sql, name)).find(({ serves }) => serves);
  if (serving === undefined) throw new Error(`nothing serves ${name}`);
  return serving;
};

/** Goes on to the checkpoint that serves; a checkpoint of another log is no target. */
const catchUpToServing = async (
  deps: BuildDeps,
  slot: RunningSlot,
  options: { readonly batchMax: number; readonly signal?: AbortSignal | undefined; readonly within?: SqlTx },
): Promise<Generation> => {
  const serving = await servingOf(options.within ?? deps.sql, slot.projector);
  const { position: target } = serving;
  if (target !== null && (await isTrusted(deps, serving)))
    await catchUp(deps, [slot], { ...options, target });
  return serving;
};

interface BuildOptions {
  readonly batchMax: number;
  readonly signal?: AbortSignal | undefined;
  /** How often to go on to the head that the log has by then, before the last steps to the one that serves. */
  readonly rounds: number;
  readonly onBatch?: (batch: readonly Arrival[]) => void;
  /** Looks at a swap before it is made, in its transaction; throws to prevent it. */
  readonly beforeSwap?: (tx: SqlTx, slot: RunningSlot, swapped: Swapped) => Promise<void>;
}

/**
 * Puts generations in place of those that serve, in one transaction: it locks the old checkpoints, so that no
 * runner moves them meanwhile, goes on to the same positions, and points the views. A runner then finds its
 * checkpoint gone and continues with the new generation.
 */
const swapAll = (
  deps: BuildDeps,
  slots: readonly RunningSlot[],
  beforeSwap: BuildOptions['beforeSwap'],
): Promise<readonly Swapped[]> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    await tx.query(
      `select 1 from projections.registry where name = any($1::text[]) and serves order by name for update`,
      [slots.map(({ projector }) => projector.name)],
    );
    const swaps: Swapped[] = [];
    for (const slot of slots) {
      // A copy: what the slot remembers must hold when the transaction fails and is tried again.
      const trial = { ...slot };
      const before = await catchUpToServing(deps, trial, { batchMax: BATCH_MAX, within: tx });
      const swapped = { before, after: trial.generation };
      await beforeSwap?.(tx, slot, swapped);
      await promote(tx, slot.projector, trial.generation);
      swaps.push(swapped);
    }
    return swaps;
  });

/**
 * Fills generations from the log, all of them in one reading, and puts them in place of those that serve: the
 * slots of one group in one transaction. Throws at the first event that cannot be applied.
 */
export const buildGenerations = async (
  deps: BuildDeps,
  groups: readonly (readonly RunningSlot[])[],
  { rounds, beforeSwap, ...options }: BuildOptions,
): Promise<readonly Swapped[]> => {
  const { batchMax, signal } = options;
  for (let round = 0; round < rounds; round += 1) {
    const target = await deps.feed.head();
    if (target !== undefined) await catchUp(deps, groups.flat(), { ...options, target });
  }
  const swaps: Swapped[] = [];
  for (const group of groups) {
    // Little is left to do then while the old checkpoints are locked.
    for (const slot of group) await catchUpToServing(deps, slot, { batchMax, signal });
    signal?.throwIfAborted();
    swaps.push(...(await swapAll(deps, group, beforeSwap)));
  }
  return swaps;
};
