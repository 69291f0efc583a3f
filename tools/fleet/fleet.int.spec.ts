import { expect } from 'chai';
import { seededRandom } from '../../engine/test/support/random.ts';
import { FAULTS, startFleet, OLDER_COPY, type Fleet } from './fleet.ts';
import {
  tally,
  auditFleet,
  expectBooks,
  loadFleet,
  untilNothingHeld,
  expectSameBooks,
  type LoadResult,
} from './run.ts';

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

const OLDER_SEED = Number(process.env['FLEET_SEED'] ?? 20261122);

/** As the short run of `npm run test:fleet`, with the one fault that loses what was acknowledged. */
describe(`a fleet whose event store is put back to an older copy, seed ${OLDER_SEED}`, function () {
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
      random: seededRandom(OLDER_SEED),
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
