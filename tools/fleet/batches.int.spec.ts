import { expect } from 'chai';
import { startFleet, type Fleet } from './fleet.ts';
import { auditFleet, openShop } from './run.ts';
import { runBatch, type BatchRun } from './batches.ts';

const MINUTES = 60_000;
const DOCUMENTS = 40;
const KILLS = 3;

/** A short run of `npm run test:batch`. */
describe('a batch whose workers are killed', function () {
  this.timeout(8 * MINUTES);
  let fleet: Fleet;
  let run: BatchRun;

  before(async () => {
    fleet = await startFleet({ apis: 1, projectors: 1, workers: 2 }, { HEAVY_CONCURRENCY: '16' });
    const [tenant] = await openShop(fleet, 1);
    if (tenant === undefined) throw new Error('there is no tenant');
    run = await runBatch(fleet, tenant, { documents: DOCUMENTS, killEveryMs: 1_500, killsMax: KILLS });
  });
  after(() => fleet.stop());

  it('ends with each document done once, billed once, and answered in its place', () => {
    expect(run.kills).to.equal(KILLS);
    expect(run.wrong).to.deep.equal([]);
    expect(run.lines).to.have.lengthOf(DOCUMENTS);
  });

  it('passes the audit', async () => {
    const { text, code } = await auditFleet(fleet);
    expect(code, text).to.equal(0);
  });
});
