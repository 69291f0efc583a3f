import { divergenceOf } from '../feed/divergence.ts';
import type { RunningSlot } from './applyBatch.ts';
import type { SqlTx } from '../ports.ts';
import type { Slot } from './prepare.ts';
import type { Generation } from '../registry.ts';
import { generations, promote } from '../registry.ts';
import type { RebuildDeps } from '../rebuild/replay.ts';
import { advance, BATCH_MAX } from '../rebuild/replay.ts';

/** Keeps every runner from moving the checkpoints that serve until the transaction ends. */
export const lockServing = async (tx: SqlTx, names: readonly string[]): Promise<void> => {
  await tx.query(
    `select 1 from projections.registry where name = any($1::text[]) and serves
     order by name for update`,
    [names],
  );
};

/** Whether a checkpoint is of the log that is there: one that is not says nothing about how far to go. */
export const isTrusted = async ({ feed }: RebuildDeps, generation: Generation): Promise<boolean> =>
  (await divergenceOf(feed, [generation])) === undefined;

/** What was put in place of what. */
export interface Swapped {
  readonly before: Generation;
  readonly after: Generation;
}

/**
 * Puts a generation in place of the one that serves: goes on to the position of that one, lets `compare`
 * look at both, and points the views. Call it in a transaction that holds `lockServing`; the slot does not
 * change, so the transaction may be tried again.
 */
export const swapIn = async (
  deps: RebuildDeps,
  tx: SqlTx,
  { slot, compare }: { readonly slot: Slot; readonly compare?: (both: Swapped) => Promise<void> },
): Promise<Swapped> => {
  const { projector } = slot;
  const before = (await generations(tx, projector.name)).find(({ serves }) => serves);
  if (before === undefined) throw new Error(`nothing serves ${projector.name}`);
  const trial: RunningSlot = { ...slot };
  if (before.position !== null && (await isTrusted(deps, before))) {
    const { position: target } = before;
    const stretch = { after: slot.generation.position, target, batchMax: BATCH_MAX, signal: undefined };
    await advance(deps, [trial], { ...stretch, within: tx });
  }
  const swapped = { before, after: trial.generation };
  await compare?.(swapped);
  await promote(tx, projector, trial.generation);
  return swapped;
};

/** Brings a slot up to the checkpoint that serves, so that little is left to do while that is locked. */
export const followServing = async (
  deps: RebuildDeps,
  slot: RunningSlot,
  { batchMax = BATCH_MAX, signal }: { readonly batchMax?: number; readonly signal?: AbortSignal },
): Promise<void> => {
  const serving = (await generations(deps.sql, slot.projector.name)).find(({ serves }) => serves);
  const target = serving?.position ?? null;
  if (serving === undefined || target === null || !(await isTrusted(deps, serving))) return;
  await advance(deps, [slot], { after: slot.generation.position, target, batchMax, signal });
};

/** The lowest position of the slots: there reading the log begins; null for its start. */
export const beginningOf = (slots: readonly Slot[]): bigint | null =>
  slots
    .map(({ generation: { position } }) => position)
    .reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));
