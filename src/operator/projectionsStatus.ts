import type { EventFeed, KnownLog } from '../../domain/ports/log.ts';
import { divergenceOf } from '../../projections/engine/divergence.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import {
  type Generation,
  generations,
  hasRegistry,
  type KnownModels,
  type NewerModel,
  versionPlanOf,
} from '../../projections/engine/registry.ts';
import { BUILD_LOCK } from '../../projections/engine/rebuild.ts';

/** How one read model stands, as the registry and the log say. */
export interface ReadModelStatus {
  readonly name: string;
  /** Of the rows that serve. */
  readonly version: number;
  readonly state: string;
  /** As text: positions are larger than a JSON number may be. */
  readonly position: string | null;
  /** Events in the log behind its position; null when there are more than are counted. */
  readonly lag_events: number | null;
  /** Why it or its next version stopped, or that it is of a newer release than the one that tells. */
  readonly reason: string | null;
  /** A new version being built, or a rebuild. `interrupted`: the next rebuild goes on from there. */
  readonly next: {
    readonly version: number;
    readonly state: 'building' | 'rebuilding' | 'interrupted' | 'stopped';
    readonly position: string | null;
  } | null;
}

/** Events that are counted at most: reading on would take long and say little more. */
const LAG_MAX = 100_000;

/** Positions of the events after `after`; undefined beyond `LAG_MAX`. */
const positionsAfter = async (
  feed: EventFeed,
  after: bigint | null,
): Promise<readonly bigint[] | undefined> => {
  const head = await feed.head();
  if (head === undefined || (after !== null && after >= head)) return [];
  const done = new AbortController();
  const found: bigint[] = [];
  try {
    for await (const item of feed.subscribe({ after: after ?? undefined, signal: done.signal })) {
      if (item.kind === 'caught_up') return found;
      if (item.kind === 'event') found.push(item.event.position);
      if (found.length > LAG_MAX) return undefined;
    }
    return found;
  } finally {
    done.abort();
  }
};

const nextOf = (generation: Generation | undefined, rebuilding: boolean): ReadModelStatus['next'] => {
  if (generation === undefined) return null;
  const { version, state, position } = generation;
  const named = state === 'rebuilding' && !rebuilding ? 'interrupted' : state;
  if (named === 'live' || named === 'retired') return null;
  return { version, state: named, position: position?.toString() ?? null };
};

const isRebuilding = async (sql: Sql): Promise<boolean> => {
  const lock = await sql.tryLock(BUILD_LOCK);
  await lock?.release();
  return lock === undefined;
};

const newerText = ({ known }: NewerModel): string =>
  known === null
    ? 'a newer release serves it; this one does not know it'
    : `a newer release serves it; this one knows v${String(known)}`;

const reasonOf = (
  { name, reason }: Generation,
  beside: Generation | undefined,
  newer: readonly NewerModel[],
): string | null => {
  const model = newer.find((one) => one.name === name);
  return reason ?? beside?.reason ?? (model === undefined ? null : newerText(model));
};

/**
 * The read models in their order, then those that a newer release has brought. Empty before a service has run
 * for the first time.
 */
export const projectionsStatus = async (
  { sql, feed }: { readonly sql: Sql; readonly feed: KnownLog },
  known: KnownModels,
): Promise<readonly ReadModelStatus[]> => {
  if (!(await hasRegistry(sql))) return [];
  const all = await generations(sql);
  const rebuilding = all.some(({ state }) => state === 'rebuilding') && (await isRebuilding(sql));
  const { newer } = versionPlanOf(all, known);
  const foreign = newer.filter((one) => one.known === null);
  const serving = [...known.projectors, ...foreign].flatMap(
    ({ name }) => all.find((one) => one.serves && one.name === name) ?? [],
  );
  const lowest = serving.reduce<bigint | null>(
    (low, { position }) => (position === null || (low !== null && low < position) ? low : position),
    null,
  );
  const after = serving.some(({ position }) => position === null) ? null : lowest;
  const diverged = await divergenceOf(feed, serving);
  const behind = await positionsAfter(feed, after);
  return serving.map((generation) => {
    const { name, version, state, position } = generation;
    const beside = all.find((one) => one.name === name && !one.serves);
    return {
      name,
      version,
      state: diverged?.names.includes(name) === true ? 'diverged' : state,
      position: position?.toString() ?? null,
      lag_events: behind?.filter((at) => position === null || at > position).length ?? null,
      reason: diverged?.names.includes(name) === true ? diverged.reason : reasonOf(generation, beside, newer),
      next: nextOf(beside, rebuilding),
    };
  });
};
