import { expect } from 'chai';
import { CRASHES, exhaust, PAUSES, readsOnly } from './explore.ts';
import { SMALL } from './worlds.ts';

const HOUR = 3_600_000;

/** Schedules that are tried of a world that has too many. */
const RUNS_MAX = 150;

const worlds = (start: string, healMs: number) =>
  SMALL.filter(({ name }) => name.startsWith(start)).map((world) => ({ ...world, healMs }));

describe('the simulation of small worlds', () => {
  for (const world of worlds('tenant erased', 3 * HOUR))
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
