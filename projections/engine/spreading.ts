import type { RunningSlot } from './apply.ts';
import type { Arrival } from './arrivals.ts';
import { type BuildDeps, catchUp } from './building.ts';
import { divergenceOf, requireSameLog } from './divergence.ts';
import type { SqlTx } from './ports.ts';
import { CheckpointMoved, type Generation, generations, lockRegistry, type Share } from './registry.ts';
import { areOf, isSpread, joinShares, openShares, sharesIn } from './shares.ts';
import type { Projector } from './table.ts';

/** A generation by its name: workers read the rest in the registry. */
interface Named {
  readonly name: string;
  readonly generation: number;
}

/** What one of several workers does of a rebuild. Plain data: it is passed to a thread. */
export interface PartOfRebuild {
  /** Of the workers, which begin at 0. */
  readonly worker: number;
  /** undefined: it has no tenants. */
  readonly share: Share | undefined;
  /** Filled with the events of the share's tenants. */
  readonly spread: readonly Named[];
  /** Filled with all events, by this worker alone. */
  readonly whole: readonly Named[];
  readonly target: bigint;
  readonly batchMax: number;
}

/** How far a part has read the log. */
export interface PartProgress {
  readonly eventsDone: number;
  readonly position: bigint;
}

interface Watched {
  readonly onProgress: (progress: PartProgress) => void;
  readonly signal: AbortSignal;
}

/** Fills a part beside others: its reader of the log and its connections are its own. */
export type FillPart = (part: PartOfRebuild, watched: Watched) => Promise<void>;

interface PartDeps extends BuildDeps {
  readonly projectors: readonly Projector[];
}

const slotOf = async (
  { sql, projectors }: PartDeps,
  { name, generation }: Named,
  share: Share | undefined,
): Promise<RunningSlot> => {
  const projector = projectors.find((one) => one.name === name);
  const found = (await generations(sql, name)).find((one) => one.generation === generation);
  const own =
    found === undefined || share === undefined
      ? found
      : (await sharesIn(sql, found)).find((one) => one.share?.at === share.at);
  if (projector === undefined || own?.state !== 'rebuilding')
    throw new CheckpointMoved(`${name} is not rebuilt any more`);
  return { projector, generation: own };
};

/** Does a part in the thread that calls it. Throws as `catchUp` does. */
export const fillPart =
  (deps: PartDeps): FillPart =>
  async ({ share, spread, whole, target, batchMax }, { onProgress, signal }) => {
    const slots: RunningSlot[] = [];
    for (const one of spread) slots.push(await slotOf(deps, one, share));
    for (const one of whole) slots.push(await slotOf(deps, one, undefined));
    await requireSameLog(deps.feed, slots);
    let eventsDone = 0;
    const onBatch = (batch: readonly Arrival[]): void => {
      eventsDone += batch.length;
      onProgress({ eventsDone, position: batch.at(-1)?.position ?? target });
    };
    await catchUp(deps, slots, { target, batchMax, signal, onBatch });
  };

/** Why a generation that was begun is not gone on with: other shares fill it, or it is of another log. */
export const flawForShares = async (
  deps: BuildDeps,
  tx: SqlTx,
  { begun, shares }: { readonly begun: Generation; readonly shares: readonly Share[] },
): Promise<string | undefined> => {
  const filled = await sharesIn(tx, begun);
  if (filled.length > 0 && !areOf(filled, shares)) {
    const now = shares.length === 0 ? 'none are asked for' : `these are ${String(shares.length)} others`;
    return `what was begun is filled by ${String(filled.length)} shares of the tenants, and ${now}`;
  }
  return (await divergenceOf(deps.feed, filled.length === 0 ? [begun] : filled))?.reason;
};

/**
 * Lets shares fill what is empty and can be spread; gives the shares of these and of those that shares fill already.
 * Call it in the transaction that has opened the slots.
 */
export const spreadOut = async (
  tx: SqlTx,
  slots: readonly RunningSlot[],
  shares: readonly Share[],
): Promise<readonly Generation[]> => {
  const filled: Generation[] = [];
  for (const { projector, generation } of slots) {
    const isNew = isSpread(projector) && generation.position === null;
    if (isNew) await openShares(tx, generation, shares);
    filled.push(...(await sharesIn(tx, generation)));
  }
  return filled;
};

interface SpreadDeps extends BuildDeps {
  readonly fillPart: FillPart;
}

interface SpreadOptions {
  /** Generations that are filled by shares, once for each share. */
  readonly filled: readonly Generation[];
  readonly workers: number;
  readonly shares: readonly Share[];
  readonly target: bigint;
  readonly batchMax: number;
  readonly onProgress: (progress: PartProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

const nameOf = ({ name, generation }: Generation): Named => ({ name, generation });

/** Parts of all slots: the first worker has those that are filled as a whole, and the last ones have the shares. */
const partsOf = (
  slots: readonly RunningSlot[],
  { filled, workers, shares, target, batchMax }: SpreadOptions,
): readonly PartOfRebuild[] => {
  const isShared = ({ generation: { name } }: RunningSlot) => filled.some((one) => one.name === name);
  const spread = slots.filter(isShared).map(({ generation }) => nameOf(generation));
  const whole = slots.filter((slot) => !isShared(slot)).map(({ generation }) => nameOf(generation));
  return Array.from({ length: workers }, (_, worker) => {
    const share = shares[worker - (workers - shares.length)];
    const own = { spread: share === undefined ? [] : spread, whole: worker === 0 ? whole : [] };
    return { worker, share, ...own, target, batchMax };
  });
};

/** Runs all parts; the first that fails ends the others, and is what is thrown once all have ended. */
const fillAll = async (
  fill: FillPart,
  parts: readonly PartOfRebuild[],
  { onProgress, signal }: SpreadOptions,
): Promise<void> => {
  const failing = new AbortController();
  const ended = signal === undefined ? failing.signal : AbortSignal.any([signal, failing.signal]);
  const done = new Map<number, PartProgress>();
  let first: { readonly error: unknown } | undefined;
  const told = (at: number, progress: PartProgress): void => {
    done.set(at, progress);
    const slowest = [...done.values()].reduce((a, b) => (b.position < a.position ? b : a));
    if (done.size === parts.length) onProgress(slowest);
  };
  await Promise.all(
    parts.map(async (part, at) => {
      try {
        await fill(part, { onProgress: (progress) => told(at, progress), signal: ended });
      } catch (error) {
        first ??= { error };
        failing.abort();
      }
    }),
  );
  signal?.throwIfAborted();
  if (first !== undefined) throw first.error;
};

/**
 * Fills generations beside each other, up to one position, and makes one of the shares of each: then they are as a
 * rebuild by one has them. Gives the slots as they are then.
 */
export const fillBeside = async (
  deps: SpreadDeps,
  slots: readonly RunningSlot[],
  options: SpreadOptions,
): Promise<readonly RunningSlot[]> => {
  const { sql, feed } = deps;
  await fillAll(deps.fillPart, partsOf(slots, options), options);
  return sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const filled: RunningSlot[] = [];
    for (const slot of slots) {
      const shares = await sharesIn(tx, slot.generation, { isLocked: true });
      await requireSameLog(
        feed,
        shares.map((generation) => ({ generation })),
      );
      if (shares.length > 0) await joinShares(tx, slot.generation, options.target);
      const { name, generation } = slot.generation;
      const found = (await generations(tx, name)).find((one) => one.generation === generation);
      if (found === undefined) throw new CheckpointMoved(`${name} is not rebuilt any more`);
      filled.push({ ...slot, generation: found });
    }
    return filled;
  });
};
