import { isByTenant } from '../../../projections/engine/owners.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { isSpread } from '../../../projections/engine/shares.ts';
import type { Projector } from '../../../projections/engine/table.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { chance, fraction } from '../chance.ts';
import type { Deviation, Owner, Plan } from '../scheduler.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** All that is written is written within this time. */
export const TRAFFIC_MS = 4 * MINUTE;

const RACES = ['filling', 'joining', undefined] as const;

/** A rebuild of some read models, ms after the start. */
export interface WorldRebuild {
  /** undefined: it begins amid the one before. */
  readonly at: number | undefined;
  readonly names: readonly string[];
  readonly fresh: boolean;
  /** By how many shares of the tenants the operator has it done: at first, and each time that it was interrupted. */
  readonly shares: readonly number[];
  readonly batchMax: number | undefined;
  /**
   * Its sessions end, and the next rebuild begins, when it has moved its first share, or between the last part and the
   * join; there it stands still until another one has moved a share.
   */
  readonly race: (typeof RACES)[number];
}

/** What takes part: read models, processes of two releases, and what an operator does. */
export interface ProjectingWorld {
  readonly projectors: readonly Projector[];
  /** Of the next release, which has these in a new version, and where a process of it starts, ms. */
  readonly next: { readonly names: readonly string[]; readonly at: number } | undefined;
  readonly rebuilds: readonly WorldRebuild[];
  /** Sessions of a process are cut. */
  readonly cuts: readonly { readonly at: number; readonly process: number }[];
  /** Sessions of all processes that rebuild are cut, not those of their threads: their locks are free from then on. */
  readonly rebuildCuts: readonly { readonly at: number }[];
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

/** Each second seed has few read models, and rebuilds by shares of tenants. */
const isOfShares = (seed: number): boolean => seed % 2 === 0;

/** At most one read model whose rows are each of one tenant beside balances and the ledger, and one that is whole. */
const fewOf = (seed: number, others: readonly Projector[]): readonly Projector[] =>
  [others.filter(isSpread), others.filter((one) => !isSpread(one))].flatMap((kind, at) =>
    fraction(seed, 'has one', at) < 0.5 ? [] : [kind[chance(seed, 'which one', at) % kind.length]!],
  );

/** As many as at first, as a rule, or another number. */
const sharesOf = (seed: number, nth: number): readonly number[] => {
  const first = 2 + (chance(seed, 'shares', nth) % 3);
  const again = [1, 2, 3].map((life) =>
    fraction(seed, 'shares again', nth, life) < 0.7
      ? first
      : 1 + (chance(seed, 'other shares', nth, life) % 4),
  );
  return [first, ...again];
};

const orFirst = (found: readonly string[], names: readonly string[]): readonly string[] =>
  found.length === 0 ? names.slice(0, 1) : found;

const rebuildsOf = (seed: number, names: readonly string[]): readonly WorldRebuild[] => {
  if (!isOfShares(seed))
    return times(seed, 'rebuilds', 2).map(({ at }, nth) => ({
      at,
      names: orFirst(some(names, 0.5, seed, 'rebuilt', nth), names),
      fresh: fraction(seed, 'fresh', nth) < 0.3,
      shares: [1],
      batchMax: undefined,
      race: undefined,
    }));
  const first = MINUTE + (chance(seed, 'rebuilds', 'at') % (TRAFFIC_MS - 2 * MINUTE));
  const raced = RACES[(seed / 2) % RACES.length];
  const apart = [SECOND / 3, 2 * SECOND, MINUTE][chance(seed, 'rebuilds', 'apart') % 3]!;
  const others = [1, 2].slice(0, 1 + (chance(seed, 'rebuilds') % 2)).map((nth) => ({
    at: first + nth * apart,
    race: undefined,
    names: orFirst(some(names, 0.7, seed, 'rebuilt', nth), names),
    fresh: fraction(seed, 'fresh', nth) < 0.15,
    shares: sharesOf(seed, fraction(seed, 'as many', nth) < 0.7 ? 0 : nth),
    batchMax: [10, 40, 200][chance(seed, 'batch', nth) % 3],
  }));
  const own = { at: first, race: raced, names, fresh: false, shares: sharesOf(seed, 0), batchMax: 10 };
  if (raced === undefined) return [own, ...others];
  // Batches so small that one meets the other amid its work.
  const racing = { ...own, batchMax: 3 };
  return [racing, { ...racing, at: undefined, race: undefined }, ...others.slice(1)];
};

/** While a rebuild is at it, as a rule. */
const rebuildCutsOf = (seed: number, rebuilds: readonly WorldRebuild[]): ProjectingWorld['rebuildCuts'] =>
  some(rebuilds, isOfShares(seed) ? 0.6 : 0, seed, 'rebuild cut').map(({ at }, nth) => ({
    at: (at ?? 0) + (chance(seed, 'rebuild cut', 'at', nth) % (2 * SECOND)),
  }));

/** Follows from its seed. Balances and the ledger, which money is read from, are always there. */
export const projectingWorld = (seed: number): ProjectingWorld => {
  const isMoney = ({ name }: Projector) => name === 'balances' || name === 'ledger';
  const others = READ_MODELS.filter((one) => !isMoney(one));
  const more = isOfShares(seed) ? fewOf(seed, others) : some(others, 0.25, seed, 'model');
  const projectors = [...READ_MODELS.filter(isMoney), ...more];
  const names = projectors.map(({ name }) => name);
  const rebuilds = rebuildsOf(seed, names);
  const isUpgraded = isPutBackAtBuild(seed) || fraction(seed, 'next') < 0.5;
  const raised = [names[0]!, ...some(names.slice(1), 0.4, seed, 'raised')];
  const parkable = projectors.filter(
    (one) =>
      isByTenant(one) &&
      // One that tells by itself whose an event is has some of nobody, which stop it.
      one.ownerOf === undefined &&
      one.eventTypes.includes('CreditsBurned') &&
      !(isUpgraded && raised.includes(one.name)),
  );
  const nextAt = isUpgraded ? MINUTE / 2 + (chance(seed, 'next at') % (TRAFFIC_MS - MINUTE)) : undefined;
  return {
    projectors,
    next: nextAt === undefined ? undefined : { names: raised, at: nextAt },
    rebuilds,
    cuts: times(seed, 'cuts', 2),
    rebuildCuts: rebuildCutsOf(seed, rebuilds),
    restore: restoreOf(seed, nextAt),
    readers: times(seed, 'readers', isOfShares(seed) ? 15 : 30),
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
  const rateOf = ({ name }: Owner) => (name.startsWith('rebuild') ? Math.max(rate, 0.001) : rate);
  const drawn = (key: string): Deviation => {
    const r = fraction(seed, 'kind', key);
    const ms = [SECOND, 15 * SECOND, 2 * MINUTE, 4 * MINUTE][chance(seed, 'length', key) % 4] ?? SECOND;
    if (r < 0.3) return { kind: 'kill', after: fraction(seed, 'after', key) < 0.5 };
    if (r < 0.55) return { kind: 'pause', ms };
    if (r < 0.75) return { kind: 'fail', ms: Math.min(ms, MINUTE) };
    return r < 0.85 ? { kind: 'stale', ms } : { kind: 'slow', ms: Math.min(ms, MINUTE) };
  };
  return {
    deviation: ({ key, label, owner }) => {
      // A thread compares the log at each batch: most of them would die before they have moved a share.
      const weight = /commit|begin|feed|log/.test(label) && !owner.name.includes('thread') ? 10 : 1;
      return fraction(seed, 'deviates', key) < rateOf(owner) * weight ? drawn(key) : undefined;
    },
    latencyMs: ({ key }) => 1 + Math.floor(4 * fraction(seed, 'latency', key)),
  };
};
