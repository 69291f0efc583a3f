import { expect } from 'chai';
import { CRASHES, exhaust, FAILURES, PAUSES, readsOnly, seededPlan } from './explore.ts';
import { runWorld } from './run.ts';
import { SMALL } from './smallWorlds.ts';
import { worldOf } from './worlds.ts';

/** Seeds in which a rule was broken once. */
const BROKEN_ONCE = [173, 180, 255, 5368, 659_728, 1_500_077, 912345872, 306800109, 430000038];
const HOUR = 3_600_000;

/** Schedules that are tried of a world that has too many. */
const RUNS_MAX = 50;

const worlds = (start: string, healMs: number) =>
  SMALL.filter(({ name }) => name.startsWith(start)).map((world) => ({ ...world, healMs }));

describe('the simulation of worlds that have found something', () => {
  for (const seed of BROKEN_ONCE)
    it(`finds nothing in seed ${String(seed)} any more`, async () => {
      const [world, plan] = [worldOf(seed), seededPlan(seed)];
      const { findings } = await runWorld({ world, plan, seed, isWanted: () => false, audits: true });
      expect(findings).to.deep.equal([]);
    });
});

describe('the simulation of small worlds', function () {
  // Of some worlds every step is tried, which takes minutes where a machine has others to do for.
  this.timeout(900_000);
  // Each world is around one question that the release before answered wrong.
  for (const { name } of SMALL)
    it(`finds nothing in the small world "${name}" in its first schedules`, async () => {
      const world = { ...SMALL.find((one) => one.name === name)!, healMs: HOUR };
      const bound = {
        deviations: 1,
        crashes: 1,
        kinds: [...PAUSES, ...FAILURES, ...CRASHES],
        isLeftOut: readsOnly,
      };
      const wanted = { isWanted: () => true, until: Infinity, runsMax: 10 };
      expect((await exhaust(world, bound, wanted)).found?.finding).to.equal(undefined);
    });

  for (const world of [...worlds('tenant erased', 3 * HOUR), ...worlds('credits sent', HOUR)])
    it(`finds nothing in "${world.name}", wherever a process dies`, async () => {
      const bound = { deviations: 1, crashes: 1, kinds: CRASHES, isLeftOut: readsOnly };
      const { found, isComplete } = await exhaust(world, bound, { isWanted: () => true, until: Infinity });
      expect([found?.finding, ...(found?.deviations ?? [])]).to.deep.equal([undefined]);
      expect(isComplete).to.equal(true);
    });

  for (const world of worlds('days of', 60 * HOUR))
    it(`finds nothing in "${world.name}", wherever a process dies or stands still`, async () => {
      const bound = { deviations: 1, crashes: 1, kinds: [...CRASHES, ...PAUSES], isLeftOut: readsOnly };
      const wanted = { isWanted: () => true, until: Infinity, runsMax: RUNS_MAX };
      const { found, runs, isComplete } = await exhaust(world, bound, wanted);
      expect([found?.finding, ...(found?.deviations ?? [])]).to.deep.equal([undefined]);
      expect(isComplete || runs >= RUNS_MAX).to.equal(true);
    });
});
