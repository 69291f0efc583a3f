import { expect } from 'chai';
import { seededRandom } from '../../engine/test/support/random.ts';
import { FAULTS, OLDER_COPY } from './faults.ts';
import { tally } from './figures.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { auditFleet, expectSameBooks, loadFleet, untilNothingHeld, type LoadResult } from './run.ts';

const SEED = Number(process.env['FLEET_SEED'] ?? 20261122);
const MINUTES = 60_000;

/** As the short run of `npm run test:fleet`, with the one fault that loses what was acknowledged. */
describe(`a fleet whose event store is put back to an older copy, seed ${SEED}`, function () {
  this.timeout(8 * MINUTES);
  let fleet: Fleet;
  let result: LoadResult;
  const counted = tally();
  const faults = [OLDER_COPY, FAULTS[0]!, OLDER_COPY];

  before(async () => {
    fleet = await startFleet({ apis: 2, projectors: 2, workers: 1 }, { REBUILD_DIVERGED: 'auto' });
    result = await loadFleet(fleet, {
      seconds: 0,
      untilStruck: true,
      callers: 4,
      faults,
      faultEveryMs: 500,
      random: seededRandom(SEED),
      onSeen: counted.add,
    });
  });
  after(() => fleet.stop());

  it('notices on every replica, refuses meanwhile, and comes back by itself', () => {
    expect(result.struck.map(({ name }) => name)).to.deep.equal(faults.map(({ name }) => name));
    for (const { name, writesMs, readsMs } of result.struck) {
      expect(writesMs, `writes after ${name}`).to.be.lessThan(Infinity);
      expect(readsMs, `reads after ${name}`).to.be.lessThan(Infinity);
    }
  });

  it('answered nobody with a defect', () => {
    expect(counted.count()).to.be.greaterThan(20);
    expect(result.traffic.wrong).to.deep.equal([]);
  });

  it('has the same books on every replica, and they are those of the log', async () => {
    await untilNothingHeld(fleet, result.traffic.tenants);
    await expectSameBooks(fleet, result.traffic);
    const { text, code } = await auditFleet(fleet);
    expect(code, text).to.equal(0);
  });
});
