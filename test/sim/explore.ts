import { chance, fraction } from './chance.ts';
import { type CallPlace, type Deviation, type Plan, type Taken } from './scheduler.ts';
import { changeOf } from './terms.ts';
import { runWorld, type Outcome } from './run.ts';
import type { Finding, World } from './worlds.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What may be done to a call, where every schedule up to a bound is looked at. */
export const PAUSES: readonly Deviation[] = [
  { kind: 'pause', ms: 2_000 },
  { kind: 'pause', ms: 70_000 },
  { kind: 'pause', ms: 12 * MINUTE },
  { kind: 'pause', ms: 26 * HOUR },
];
export const CRASHES: readonly Deviation[] = [
  { kind: 'kill', after: false },
  { kind: 'kill', after: true },
];
export const FAILURES: readonly Deviation[] = [
  { kind: 'fail', ms: 0 },
  { kind: 'fail', ms: 31_000 },
  { kind: 'lost' },
  { kind: 'late', ms: 5_000 },
  { kind: 'slow', ms: 31_000 },
];

/** What an operator may do between any two steps. */
export const CHANGES: readonly Deviation[] = [
  { kind: 'rate', mode: 'standard', billing: 'full_service', credits: 400 } as const,
  { kind: 'rate', mode: 'standard', billing: 'full_service', credits: 3 } as const,
  { kind: 'free pages', pages: 1 } as const,
].map((change) => ({ kind: 'change', change }));

/** Calls that only read what is late anyway: to stop at one is to stop at the next call. */
const READS_ONLY = /^(lists|objects.list|registry|log.head|post)/;
export const readsOnly = (label: string): boolean => READS_ONLY.test(label);

/** Where deviations are, by the key of their call. */
export type Deviations = ReadonlyMap<string, Deviation>;

/** Calls that take a millisecond each, but for those that deviate. */
const planOf = (deviations: Deviations): Plan => ({
  deviation: ({ key }) => deviations.get(key),
  latencyMs: () => 1,
});

const latencyOf =
  (seed: number) =>
  ({ key, label }: CallPlace): number => {
    const r = fraction(seed, 'latency', key);
    if (label.startsWith('work')) return 5 + Math.floor(r * r * 2_000);
    if (r < 0.8) return 1 + Math.floor(r * 4);
    return r < 0.97 ? 5 + Math.floor(r * 30) : 100 + Math.floor(fraction(seed, 'long', key) * 900);
  };

/** How long things last, ms, from a seed: from seconds to two days. */
const lengthOf = (seed: number, key: string): number =>
  [2_000, 15_000, 70_000, 4 * MINUTE, 12 * MINUTE, 2 * HOUR, 26 * HOUR, 50 * HOUR][
    chance(seed, 'length', key) % 8
  ] ?? 2_000;

const drawn = (seed: number, key: string, label: string): Deviation => {
  const r = fraction(seed, 'kind', key);
  const ms = lengthOf(seed, key);
  if (fraction(seed, 'changes', key) < 0.25) return { kind: 'change', change: changeOf(seed, key) };
  if (label.startsWith('lists') && r < 0.5) return { kind: 'stale', ms: Math.min(ms, 4 * MINUTE) };
  if (r < 0.4) return { kind: 'pause', ms };
  if (r < 0.55) return { kind: 'kill', after: fraction(seed, 'after', key) < 0.5 };
  if (r < 0.7) return { kind: 'fail', ms: fraction(seed, 'hangs', key) < 0.5 ? 0 : Math.min(ms, 4 * MINUTE) };
  if (r < 0.8) return { kind: 'lost' };
  if (r < 0.9) return { kind: 'late', ms: Math.min(ms, 12 * MINUTE) };
  return { kind: 'slow', ms: Math.min(ms, 4 * MINUTE) };
};

/** A plan that follows from a seed: a few deviations, more at calls that change something. */
export const seededPlan = (seed: number): Plan => {
  const rate = [0.002, 0.006, 0.015, 0.03][chance(seed, 'rate') % 4] ?? 0.006;
  const weightOf = (label: string): number => {
    if (/^(log.append|objects.put|objects.remove|work)/.test(label)) return 3;
    return label.startsWith('lists') ? 0.2 : 1;
  };
  return {
    deviation: ({ key, label }) =>
      fraction(seed, 'deviates', key) < rate * weightOf(label) ? drawn(seed, key, label) : undefined,
    latencyMs: latencyOf(seed),
  };
};

/** The same plan with these deviations and no others. */
export const replanned = (seed: number, deviations: Deviations): Plan => ({
  deviation: ({ key }) => deviations.get(key),
  latencyMs: latencyOf(seed),
});

export const deviationsIn = (taken: readonly Taken[]): Deviations =>
  new Map(taken.map(({ place, deviation }) => [place.key, deviation]));

/** What was tried until something was found, or the budget was used. */
export interface Search {
  readonly runs: number;
  readonly steps: number;
  /** Credits that were paid for work. */
  readonly burned: number;
  readonly found:
    | { readonly finding: Finding; readonly deviations: Deviations; readonly outcome: Outcome }
    | undefined;
  /** Every schedule within the bound was looked at. */
  readonly isComplete: boolean;
}

export interface Wanted {
  readonly isWanted: (finding: Finding) => boolean;
  /** Real time, as `performance.now` tells it, until which it may go on. */
  readonly until: number;
  readonly runsMax?: number;
}

export interface Bound {
  /** Pauses and failures together. */
  readonly deviations: number;
  readonly crashes: number;
  readonly kinds: readonly Deviation[];
  /** Calls of which nothing is expected: by their label. */
  readonly isLeftOut?: (label: string) => boolean;
}

interface Open {
  readonly deviations: Deviations;
  /** Calls up to the last deviation. */
  readonly after: number;
}

/** A schedule with one deviation more, for each call after the last one. */
const extended = (
  { deviations, after }: Open,
  places: readonly CallPlace[],
  bound: Bound,
): readonly Open[] => {
  const crashes = [...deviations.values()].filter(({ kind }) => kind === 'kill').length;
  const kinds = bound.kinds.filter(({ kind }) => kind !== 'kill' || crashes < bound.crashes);
  return places.flatMap(({ key, label }, at) =>
    at < after || bound.isLeftOut?.(label) === true
      ? []
      : kinds.map((kind) => ({ deviations: new Map([...deviations, [key, kind]]), after: at + 1 })),
  );
};

/** Runs one schedule, and gives its calls too. */
const tried = async (world: World, deviations: Deviations, isWanted: Wanted['isWanted']) => {
  const places: CallPlace[] = [];
  const { latencyMs } = planOf(deviations);
  const deviation: Plan['deviation'] = (place) => {
    places.push(place);
    return deviations.get(place.key);
  };
  const outcome = await runWorld({ world, plan: { latencyMs, deviation }, seed: world.name, isWanted });
  return { outcome, places, finding: outcome.findings.find(isWanted) };
};

/**
 * All schedules of a small world that differ from the plain one by so many deviations, those with few first: each is
 * run from its start, and its calls after the last deviation are where the next one may be (delay-bounded search).
 */
export const exhaust = async (world: World, bound: Bound, wanted: Wanted): Promise<Search> => {
  const { isWanted, until, runsMax = Infinity } = wanted;
  let open: readonly Open[] = [{ deviations: new Map(), after: 0 }];
  let [runs, steps, burned] = [0, 0, 0];
  for (let depth = 0; depth <= bound.deviations; depth += 1) {
    const next: Open[] = [];
    for (const one of open) {
      if (realNow() > until || runs >= runsMax)
        return { runs, steps, burned, found: undefined, isComplete: false };
      const { outcome, places, finding } = await tried(world, one.deviations, isWanted);
      [runs, steps, burned] = [runs + 1, steps + outcome.steps, burned + outcome.burned];
      const { deviations } = one;
      if (finding !== undefined)
        return { runs, steps, burned, found: { finding, deviations, outcome }, isComplete: false };
      if (depth < bound.deviations) next.push(...extended(one, places, bound));
    }
    open = next;
  }
  return { runs, steps, burned, found: undefined, isComplete: true };
};

/** The clock of the machine, which no simulation touches. */
const realNow = performance.now.bind(performance);
export const inSeconds = (seconds: number): number => realNow() + seconds * 1000;
export { realNow };

/** One seed after another, until something is found. */
export const seeds = async (
  worldOf: (seed: number) => World,
  { from, count }: { readonly from: number; readonly count: number },
  { isWanted, until }: Wanted,
): Promise<Search & { readonly seed: number }> => {
  let [runs, steps, burned] = [0, 0, 0];
  for (let seed = from; seed < from + count && realNow() < until; seed += 1) {
    const outcome = await runWorld({ world: worldOf(seed), plan: seededPlan(seed), seed, isWanted });
    [runs, steps, burned] = [runs + 1, steps + outcome.steps, burned + outcome.burned];
    const finding = outcome.findings.find(isWanted);
    if (finding !== undefined) {
      const found = { finding, deviations: deviationsIn(outcome.taken), outcome };
      return { runs, steps, burned, found, isComplete: false, seed };
    }
  }
  return { runs, steps, burned, found: undefined, isComplete: false, seed: from + runs };
};

/** Leaves out deviations and actors as long as the same rule is broken. */
export const shrunk = async (
  {
    world,
    seed,
    deviations,
  }: { readonly world: World; readonly seed: number; readonly deviations: Deviations },
  { isWanted, until }: Wanted,
): Promise<{
  readonly world: World;
  readonly deviations: Deviations;
  readonly outcome: Outcome | undefined;
}> => {
  let least = { world, deviations, outcome: undefined as Outcome | undefined };
  const isStill = async (one: World, those: Deviations): Promise<boolean> => {
    const outcome = await runWorld({ world: one, plan: replanned(seed, those), seed, isWanted });
    if (!outcome.findings.some(isWanted)) return false;
    least = { world: one, deviations: those, outcome };
    return true;
  };
  await isStill(world, deviations);
  for (let goesOn = true; goesOn && realNow() < until;) {
    goesOn = false;
    for (const key of [...least.deviations.keys()]) {
      const fewer = new Map(least.deviations);
      fewer.delete(key);
      if (await isStill(least.world, fewer)) goesOn = true;
    }
    for (const actor of [...least.world.actors]) {
      const actors = least.world.actors.filter((one) => one !== actor);
      if (actors.length > 0 && (await isStill({ ...least.world, actors }, least.deviations))) goesOn = true;
    }
  }
  return least;
};
