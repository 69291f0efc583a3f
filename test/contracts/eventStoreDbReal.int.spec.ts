import { expect } from 'chai';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { frontDoor } from '../support/esdbDouble/frontDoor.ts';
import { cutReadsContract } from './cutReads.contract.ts';
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

  // One server only: a cluster is reached at the addresses that its members tell, beside the door.
  cutReadsContract('reads that are cut short, real EventStoreDB', async () => {
    const behind = new URL(url);
    const port = behind.port === '' ? 2113 : Number(behind.port);
    const door = await frontDoor(0, { host: behind.hostname, port });
    behind.hostname = 'localhost';
    behind.port = String(door.port);
    const connectionString = behind.href;
    const log = openEventStoreDb({ connectionString, appendTimeoutMs: 500, readTimeoutMs: 1_000 });
    const close = async () => {
      await log.close();
      await door.close();
    };
    return { log, door, close };
  });
}
