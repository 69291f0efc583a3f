import { isByTenant } from '../../projections/engine/owners.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { Projector } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { chance, fraction } from './chance.ts';
import type { Deviation, Plan } from './scheduler.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** All that is written is written within this time. */
export const TRAFFIC_MS = 4 * MINUTE;

/** What takes part: read models, processes of two releases, and what an operator does. */
export interface ProjectingWorld {
  readonly projectors: readonly Projector[];
  /** Of the next release, which has these in a new version, and where a process of it starts, ms. */
  readonly next: { readonly names: readonly string[]; readonly at: number } | undefined;
  /** Rebuilds of some read models, ms after the start. */
  readonly rebuilds: readonly {
    readonly at: number;
    readonly names: readonly string[];
    readonly fresh: boolean;
  }[];
  /** Sessions of a process are cut. */
  readonly cuts: readonly { readonly at: number; readonly process: number }[];
  /** A copy of the log of so long before is put back. */
  readonly restore: { readonly at: number; readonly backMs: number } | undefined;
  readonly readers: readonly { readonly at: number; readonly process: number }[];
  /** A read model cannot apply some event of a tenant until it is repaired. `nth` of those that it wants. */
  readonly poison: { readonly name: string; readonly nth: number; readonly repairedAt: number } | undefined;
  /** Rows of some tenant are made anew. `nth` of the tenants. */
  readonly tenantRebuilds: readonly { readonly at: number; readonly nth: number }[];
}

const some = <T>(all: readonly T[], share: number, ...by: readonly (string | number)[]): readonly T[] =>
  all.filter((_, at) => fraction(...by, at) < share);
const times = (seed: number, what: string, most: number) =>
  Array.from({ length: chance(seed, what) % (most + 1) }, (_, at) => ({
    at: chance(seed, what, 'at', at) % TRAFFIC_MS,
    process: chance(seed, what, 'process', at) % 3,
  }));

/** The log is put back at any time, or, of each sixth seed, while the next release builds its read models. */
const restoreOf = (seed: number, nextAt: number | undefined): ProjectingWorld['restore'] => {
  if (nextAt !== undefined && isPutBackAtBuild(seed))
    return {
      at: nextAt + (chance(seed, 'restore at') % SECOND),
      backMs: 2 * SECOND + (chance(seed, 'back') % (8 * SECOND)),
    };
  if (fraction(seed, 'restore') >= 0.3) return undefined;
  const at = MINUTE + (chance(seed, 'restore at') % (TRAFFIC_MS - MINUTE));
  return { at, backMs: chance(seed, 'back') % MINUTE };
};
const isPutBackAtBuild = (seed: number): boolean => seed % 6 === 5;

/** Never in a read model of which the next release has another version: that is built of every event. */
const poisonOf = (seed: number, names: readonly string[]): ProjectingWorld['poison'] => {
  const name = names[chance(seed, 'poisoned') % Math.max(1, names.length)];
  if (name === undefined || fraction(seed, 'poison') >= 0.4) return undefined;
  return {
    name,
    nth: chance(seed, 'poison nth'),
    repairedAt: MINUTE + (chance(seed, 'repaired') % TRAFFIC_MS),
  };
};

/** Follows from its seed. Balances and the ledger, which money is read from, are always there. */
export const projectingWorld = (seed: number): ProjectingWorld => {
  const isMoney = ({ name }: Projector) => name === 'balances' || name === 'ledger';
  const others = READ_MODELS.filter((one) => !isMoney(one));
  const projectors = [...READ_MODELS.filter(isMoney), ...some(others, 0.25, seed, 'model')];
  const names = projectors.map(({ name }) => name);
  const isUpgraded = isPutBackAtBuild(seed) || fraction(seed, 'next') < 0.5;
  const raised = [names[0]!, ...some(names.slice(1), 0.4, seed, 'raised')];
  const parkable = projectors.filter(
    (one) =>
      isByTenant(one) &&
      one.eventTypes.includes('CreditsBurned') &&
      !(isUpgraded && raised.includes(one.name)),
  );
  const nextAt = isUpgraded ? MINUTE / 2 + (chance(seed, 'next at') % (TRAFFIC_MS - MINUTE)) : undefined;
  return {
    projectors,
    next: nextAt === undefined ? undefined : { names: raised, at: nextAt },
    rebuilds: times(seed, 'rebuilds', 2).map(({ at }, nth) => ({
      at,
      names: some(names, 0.5, seed, 'rebuilt', nth),
      fresh: fraction(seed, 'fresh', nth) < 0.3,
    })),
    cuts: times(seed, 'cuts', 2),
    restore: restoreOf(seed, nextAt),
    readers: times(seed, 'readers', 30),
    poison: poisonOf(
      seed,
      parkable.map(({ name }) => name),
    ),
    tenantRebuilds: times(seed, 'tenant rebuilds', 2).map(({ at }, nth) => ({
      at,
      nth: chance(seed, 'rebuilt tenant', nth),
    })),
  };
};

/** The event that cannot be applied; undefined: none of a tenant is wanted. */
export const poisonIn = (
  log: readonly RecordedEvent[],
  { poison, projectors }: ProjectingWorld,
): string | undefined => {
  const types: readonly string[] = projectors.find(({ name }) => name === poison?.name)?.eventTypes ?? [];
  const wanted = log.filter(({ type, stream }) => types.includes(type) && stream.startsWith('account-'));
  return wanted[(poison?.nth ?? 0) % Math.max(1, wanted.length)]?.id;
};

/** In some runs few calls deviate, in others many; nobody stands still for longer than four minutes. */
export const projectingPlan = (seed: number): Plan => {
  const rate = [0, 0.001, 0.003, 0.006][chance(seed, 'rate') % 4] ?? 0;
  const drawn = (key: string): Deviation => {
    const r = fraction(seed, 'kind', key);
    const ms = [SECOND, 15 * SECOND, 2 * MINUTE, 4 * MINUTE][chance(seed, 'length', key) % 4] ?? SECOND;
    if (r < 0.3) return { kind: 'kill', after: fraction(seed, 'after', key) < 0.5 };
    if (r < 0.55) return { kind: 'pause', ms };
    if (r < 0.75) return { kind: 'fail', ms: Math.min(ms, MINUTE) };
    return r < 0.85 ? { kind: 'stale', ms } : { kind: 'slow', ms: Math.min(ms, MINUTE) };
  };
  return {
    deviation: ({ key, label }) => {
      const weight = /commit|begin|feed|log/.test(label) ? 10 : 1;
      return fraction(seed, 'deviates', key) < rate * weight ? drawn(key) : undefined;
    },
    latencyMs: ({ key }) => 1 + Math.floor(4 * fraction(seed, 'latency', key)),
  };
};
