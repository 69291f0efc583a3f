import { expect } from 'chai';
import { payingSeed } from './paying.ts';

const SEEDS = 25;

describe('the simulation of top-ups', () => {
  it('is the same to the step for the same seed', async () => {
    const shown = async () => {
      const { steps, events, charges } = await payingSeed(3);
      return { steps, charges, events: events.map(({ id }) => id) };
    };
    expect(await shown()).to.deep.equal(await shown());
  });

  it(`finds no charge too many, too high or lost in seeds 1 to ${String(SEEDS)}`, async () => {
    const outcomes = new Map<string, number>();
    let charges = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await payingSeed(seed);
      expect(outcome.findings, `SIM_SEED=${String(seed)}`).to.deep.equal([]);
      charges += outcome.charges;
      for (const [name, count] of outcome.outcomes) outcomes.set(name, (outcomes.get(name) ?? 0) + count);
    }
    expect(charges).to.be.above(SEEDS);
    expect([...outcomes.keys()]).to.include.members(['charged', 'not_due', 'limit', 'waits', 'declined']);
  });
});
