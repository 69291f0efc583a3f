import { expect } from 'chai';
import { seededRandom } from '../../engine/test/support/random.ts';
import { FAULTS } from './faults.ts';
import { tally } from './figures.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { auditFleet, expectBooks, loadFleet, untilNothingHeld, type LoadResult } from './run.ts';

const SEED = Number(process.env['FLEET_SEED'] ?? 20261121);
const MINUTES = 60_000;

/** A short run of `npm run test:fleet`: every fault once. */
describe(`a fleet of processes while its parts are killed, seed ${SEED}`, function () {
  this.timeout(8 * MINUTES);
  let fleet: Fleet;
  let result: LoadResult;
  const counted = tally();

  before(async () => {
    fleet = await startFleet({ apis: 2, projectors: 2, workers: 1 });
    result = await loadFleet(fleet, {
      seconds: 0,
      untilStruck: true,
      callers: 4,
      faults: FAULTS,
      faultEveryMs: 500,
      random: seededRandom(SEED),
      onSeen: counted.add,
    });
  });
  after(async () => {
    const codes = await fleet.stop();
    expect(Object.values(codes), 'exit codes after SIGTERM').to.satisfy((all: unknown[]) =>
      all.every((code) => code === 0),
    );
  });

  it('was struck, and came back each time', () => {
    expect(result.struck.map(({ name }) => name)).to.deep.equal(FAULTS.map(({ name }) => name));
    for (const { name, writesMs, readsMs } of result.struck) {
      expect(writesMs, `writes after ${name}`).to.be.lessThan(Infinity);
      expect(readsMs, `reads after ${name}`).to.be.lessThan(Infinity);
    }
  });

  it('answered nobody with a defect, and refused nothing that it had accepted', () => {
    expect(counted.count()).to.be.greaterThan(50);
    expect(result.traffic.wrong).to.deep.equal([]);
  });

  it('holds no credits of processes that are gone', async () => {
    await untilNothingHeld(fleet, result.traffic.tenants);
  });

  it('has the balances that its callers were told, on every replica', () =>
    expectBooks(fleet, result.traffic));

  it('passes the audit', async () => {
    const { text, code } = await auditFleet(fleet);
    expect(code, text).to.equal(0);
  });
});
