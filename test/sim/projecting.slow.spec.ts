import { expect } from 'chai';
import { seededPlan } from './explore.ts';
import { differingIn } from './logCopies.ts';
import { projectingSeed, type ProjectingOutcome } from './projecting/projecting.ts';
import { runWorld } from './run.ts';
import { worldOf } from './worlds.ts';

/** Seeds that are tried each time. */
const SEEDS = Array.from({ length: 16 }, (_, at) => at + 1);

/** Some of their worlds copy the log. */
const SEEDS_COPIED = Array.from({ length: 20 }, (_, at) => at + 1);

/** How many steps the real database takes is not told by the seed. */
const shownOf = ({ endedAt, taken, notices }: ProjectingOutcome) => ({
  endedAt,
  notices: [...notices],
  taken: taken.map(({ place, deviation }) => `${place.key} ${deviation.kind}`),
});

describe('read models that processes keep up with a log', () => {
  it('are the same for the same seed', async () => {
    expect(shownOf(await projectingSeed(2))).to.deep.equal(shownOf(await projectingSeed(2)));
  });

  it('have every event once and in order, whatever dies, stands still or is rebuilt beside traffic', async () => {
    const told = new Map<string, number>();
    for (const seed of SEEDS) {
      const { findings, notices } = await projectingSeed(seed);
      expect(findings, `seed ${String(seed)}`).to.deep.equal([]);
      for (const [kind, count] of notices) told.set(kind, (told.get(kind) ?? 0) + count);
    }
    // Each of these took part.
    expect([...told.keys()]).to.include.members([
      'promoted',
      'aside',
      'rebuilt by hand',
      'diverged',
      'failed',
      'parked',
      'tenant rebuilt',
    ]);
  });

  it('have the rows of the log where they are made of a copy of it, whatever stopped the copy', async () => {
    const copied = SEEDS_COPIED.map((seed) => ({ seed, world: worldOf(seed) })).filter(({ world }) =>
      world.actors.some(({ kind }) => kind === 'copy'),
    );
    let count = 0;
    for (const { seed, world } of copied) {
      const { copies } = await runWorld({ world, plan: seededPlan(seed), seed, audits: false });
      count += copies.length;
      for (const copy of copies) expect(await differingIn(copy), `seed ${String(seed)}`).to.deep.equal([]);
    }
    expect(count).to.be.at.least(3);
  });
});
