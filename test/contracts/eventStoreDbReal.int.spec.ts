import { expect } from 'chai';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { eventLogContract } from './eventLog.contract.ts';

const url = process.env['EVENTSTORE_URL'];

if (url === undefined || url === '') {
  describe('real EventStoreDB', () => {
    it('runs the contract when EVENTSTORE_URL names a server; it is not set', () => {
      expect(url ?? '').to.equal('');
    });
  });
} else {
  eventLogContract('contract, real EventStoreDB', () => {
    const log = openEventStoreDb({ connectionString: url });
    return Promise.resolve({ log, close: () => log.close() });
  });
}
