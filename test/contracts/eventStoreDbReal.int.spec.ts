import { expect } from 'chai';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { eventLogContract } from './eventLog.contract.ts';
import { snapshotStoreContract } from './snapshotStore.contract.ts';

const url = process.env['EVENTSTORE_URL'];

if (url === undefined || url === '') {
  describe('real EventStoreDB', () => {
    it('runs the contract when EVENTSTORE_URL names a server; it is not set', () => {
      expect(url ?? '').to.equal('');
    });
  });
} else {
  const open = () => {
    const log = openEventStoreDb({ connectionString: url });
    return Promise.resolve({ log, close: () => log.close() });
  };
  eventLogContract('contract, real EventStoreDB', open);
  snapshotStoreContract('snapshots, real EventStoreDB', open);
}
