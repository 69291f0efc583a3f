import { LogUnavailable } from '../../domain/ports/log.ts';
import { sourceOf } from '../../domain/eventLog/movedTexts.ts';
import type { RunningSlot } from './apply.ts';
import { type Arrival, messageOf, type ProjectionNotice } from './arrivals.ts';
import {
  BATCH_MAX,
  type BuildDeps,
  catchUp,
  catchUpToServing,
  isTrusted,
  servingOf,
  withBuildLock,
} from './building.ts';
import { isByTenant, replaceRows } from './owners.ts';
import { failRetry, parkedTenants, unpark } from './parking.ts';
import { SqlUnavailable, type SqlTx } from './ports.ts';
import {
  abandon,
  CheckpointMoved,
  createGeneration,
  dropRetired,
  type Generation,
  lockRegistry,
  tenantGenerations,
} from './registry.ts';
import { RebuildBusy } from './rebuild.ts';
import type { Projector } from './table.ts';

/** The rows of one tenant in one read model are being made anew, beside those that serve. */
interface TenantSlot extends RunningSlot {
  readonly tenant: string;
}

interface RefoldDeps extends BuildDeps {
  readonly projectors: readonly Projector[];
}

interface RefoldOptions {
  readonly tenant: string;
  /** Read models that can tell tenants apart; all of them by default. */
  readonly names?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onBatch?: (batch: readonly Arrival[], target: bigint) => void;
}

/** One read model with a tenant's rows as the log has them. */
export interface RefoldedTenant {
  readonly name: string;
  readonly tenant_id: string;
  /** Of the read model, and so of these rows. */
  readonly position: bigint | null;
}

const isForTheRunner = (error: unknown, signal?: AbortSignal): boolean =>
  signal?.aborted === true ||
  [CheckpointMoved, SqlUnavailable, LogUnavailable, RebuildBusy].some((kind) => error instanceof kind);

/** Empty tables for a tenant's rows, or those that an interrupted rebuild of it has left. */
const openTenant = async (
  deps: RefoldDeps,
  tx: SqlTx,
  { projector, tenant }: { readonly projector: Projector; readonly tenant: string },
): Promise<TenantSlot> => {
  const logId = (await sourceOf(deps.feed)) ?? null;
  const left = await tenantGenerations(tx, projector.name, tenant);
  const begun = left.find(({ version }) => version === projector.version);
  const usable = begun !== undefined && (await isTrusted(deps, begun)) ? begun : undefined;
  for (const one of left) if (one !== usable) await abandon(tx, one);
  if (usable !== undefined) return { projector, tenant, generation: { ...usable, logId } };
  const generation = await createGeneration(tx, projector, 'rebuilding');
  await tx.query('update projections.registry set tenant_id = $3 where name = $1 and generation = $2', [
    generation.name,
    generation.generation,
    tenant,
  ]);
  return { projector, tenant, generation: { ...generation, logId } };
};

/** What serves, where the rows can go: of the same version and of the log that is there. */
const servingFor = async (deps: RefoldDeps, { projector }: TenantSlot): Promise<Generation> => {
  const serving = await servingOf(deps.sql, projector);
  if (serving.version !== projector.version || !(await isTrusted(deps, serving)))
    throw new CheckpointMoved(`${projector.name} is being built anew, for every tenant`);
  return serving;
};

/** Where the read model is that is least far; null: one has nothing, and is filled from the start anyway. */
const lowestOf = (serving: readonly Generation[]): bigint | null =>
  serving
    .map(({ position }) => position)
    .reduce((low, at) => (low === null || at === null ? null : at < low ? at : low));

/**
 * Puts a tenant's rows in place of those that serve, in one transaction: it locks the checkpoint, goes on to it, and
 * exchanges the rows. A runner that left the tenant's events finds that its checkpoint does not move, and reads anew
 * whom it leaves.
 */
const putInPlace = (deps: RefoldDeps, slot: TenantSlot): Promise<RefoldedTenant> =>
  deps.sql.transaction(async (tx) => {
    const { projector, tenant } = slot;
    await lockRegistry(tx);
    await tx.query('select 1 from projections.registry where serves and name = $1 for update', [
      projector.name,
    ]);
    // A copy: what the slot remembers must hold when the transaction fails and is tried again.
    const trial = { ...slot };
    const serving = await catchUpToServing(deps, trial, { batchMax: BATCH_MAX, within: tx });
    const { position } = serving;
    if (serving.version !== projector.version || trial.generation.position !== position)
      throw new CheckpointMoved(`${projector.name} was put back meanwhile`);
    await replaceRows(tx, projector, { from: slot.generation.schema, to: serving.schema, tenant });
    await unpark(tx, serving, tenant);
    await abandon(tx, slot.generation);
    return { name: projector.name, tenant_id: tenant, position };
  });

const refoldSlots = async (
  deps: RefoldDeps,
  slots: readonly TenantSlot[],
  { signal, onBatch }: RefoldOptions,
): Promise<readonly RefoldedTenant[]> => {
  const serving: Generation[] = [];
  for (const slot of slots) serving.push(await servingFor(deps, slot));
  const target = lowestOf(serving);
  const options = { batchMax: BATCH_MAX, signal };
  // One reading for all, never beyond what serves: those rows could not be put there.
  if (target !== null)
    await catchUp(deps, slots, { ...options, target, onBatch: (batch) => onBatch?.(batch, target) });
  const done: RefoldedTenant[] = [];
  for (const slot of slots) {
    // Little is left to do then while the checkpoint is locked.
    await catchUpToServing(deps, slot, options);
    signal?.throwIfAborted();
    done.push(await putInPlace(deps, slot));
  }
  return done;
};

const refoldLocked = async (deps: RefoldDeps, options: RefoldOptions): Promise<readonly RefoldedTenant[]> => {
  const { names, tenant } = options;
  const wanted = deps.projectors.filter((one) => isByTenant(one) && (names?.includes(one.name) ?? true));
  if (wanted.length === 0) return [];
  const slots = await deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const opened: TenantSlot[] = [];
    for (const projector of wanted) opened.push(await openTenant(deps, tx, { projector, tenant }));
    return opened;
  });
  try {
    return await refoldSlots(deps, slots, options);
  } catch (error) {
    // Rows that were built so far are good when only the database or the log has gone away.
    const isKept = error instanceof SqlUnavailable || error instanceof LogUnavailable;
    if (!isKept) {
      for (const { generation } of slots) await abandon(deps.sql, generation);
      await dropRetired(deps.sql);
    }
    throw error;
  }
};

/**
 * Makes the rows of one tenant anew from its events and those that all share, beside the rows that serve, and puts
 * them in their place at the read model's position; the tenant is parked no more. The rows of others are not
 * touched, and runners go on meanwhile. One that fails or is aborted leaves everything as it was; one that was
 * interrupted is continued by the next. Throws RebuildBusy while another process builds.
 */
export const refoldTenant = async (
  deps: RefoldDeps,
  options: RefoldOptions,
): Promise<readonly RefoldedTenant[]> => {
  const done = await withBuildLock(deps.sql, () => refoldLocked(deps, options));
  if (done === undefined) throw new RebuildBusy('another rebuild is running');
  return done;
};

interface RetryDeps extends RefoldDeps {
  readonly notify?: (notice: ProjectionNotice) => void;
}

/** Tries parked tenants again for which somebody has asked. Throws what the runner should wait out. */
export const retryParked = async (deps: RetryDeps, signal: AbortSignal): Promise<void> => {
  for (const parked of (await parkedTenants(deps.sql)).filter(({ retrying }) => retrying)) {
    const { name, tenant_id } = parked;
    try {
      const done = await refoldTenant(deps, { tenant: tenant_id, names: [name], signal });
      if (done.length > 0) deps.notify?.({ kind: 'unparked', name, tenant_id });
    } catch (error) {
      if (isForTheRunner(error, signal)) throw error;
      const reason = messageOf(error);
      await failRetry(deps.sql, parked, reason);
      deps.notify?.({ kind: 'parked_again', name, tenant_id, reason });
    }
  }
};
