import { expect } from 'chai';
import { projectingSeed, type ProjectingOutcome } from './projecting.ts';

/** Seeds that are tried each time. */
const SEEDS = Array.from({ length: 16 }, (_, at) => at + 1);

/** How many steps the real database takes is not told by the seed. */
const shownOf = ({ endedAt, taken, notices }: ProjectingOutcome) => ({
  ...{ endedAt, notices: [...notices] },
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
    ]);
  });
});
