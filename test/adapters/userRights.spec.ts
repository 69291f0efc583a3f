import { expect } from 'chai';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { rightsMissing } from '../../adapters/eventstoredb/readiness.ts';
import { LogLoginRefused } from '../../domain/ports/log.ts';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';

describe('the rights of a user of EventStoreDB', () => {
  let double: EsdbDouble;
  beforeEach(async () => (double = await startEsdbDouble()));
  afterEach(() => double.close());

  const missing = async () => {
    const log = openEventStoreDb({ connectionString: double.connectionString, readTimeoutMs: 5_000 });
    try {
      return await rightsMissing(log, double.connectionString, AbortSignal.timeout(10_000));
    } finally {
      await log.close();
    }
  };

  it('are all there for an admin, and nothing is written to see it', async () => {
    const before = [...double.log.all()].length;
    expect(await missing()).to.deep.equal([]);
    expect([...double.log.all()]).to.have.length(before);
  });

  it('are not asked for where the user or the password is not known', async () => {
    double.faults.refuseLogin = true;
    const failure = await missing().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(LogLoginRefused);
  });

  for (const refuseFeatures of [false, true])
    it(`are named one by one, with ${refuseFeatures ? 'single' : 'batched'} appends`, async () => {
      double.faults.refuseFeatures = refuseFeatures;
      const denied = ['read $all', 'read $quire', 'append account-quire_doctor', 'append $seals'];
      for (const right of denied) double.faults.denied.add(right);
      expect(await missing()).to.deep.equal([
        'read $all',
        'subscribe to $all',
        'read $quire',
        'append to account-…',
        'append to $seals',
      ]);
    });
});
