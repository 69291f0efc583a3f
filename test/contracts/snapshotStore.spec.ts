import { expect } from 'chai';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { openEventStoreDb, type EventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import type { SnapshotNotice } from '../../src/writer/decideBatch.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { snapshotStoreContract } from './snapshotStore.contract.ts';

describe('snapshots beside the log', () => {
  snapshotStoreContract('contract, embedded', () => {
    const folder = tempFolder();
    const log = openSqliteEventLog({ path: `${folder.path}/events.db` });
    const close = async () => {
      await log.close();
      folder.remove();
    };
    return Promise.resolve({ log, close });
  });

  for (const refuseFeatures of [false, true])
    snapshotStoreContract(
      `contract, EventStoreDB, ${refuseFeatures ? 'single' : 'batch'} appends`,
      async () => {
        const double = await startEsdbDouble();
        double.faults.refuseFeatures = refuseFeatures;
        const log = openEventStoreDb({ connectionString: double.connectionString });
        const close = async () => {
          await log.close();
          await double.close();
        };
        return { log, close };
      },
    );

  describe('embedded', () => {
    const folder = tempFolder();
    const path = `${folder.path}/events.db`;
    after(() => folder.remove());

    it('outlive the process, and a reader beside it writes none', async () => {
      const first = openSqliteEventLog({ path });
      const writer = accountWriter({ store: first, snapshots: first.snapshots, snapshotEveryEvents: 1 });
      await writer.execute(adjustment('t', 7));
      await writer.close();
      await first.close();
      const reader = openSqliteEventLog({ path, readOnly: true });
      const kept = await reader.snapshots.load('account-t');
      expect(kept?.state['balance']).to.equal(7);
      const refused = await reader.snapshots.save(kept!).catch((error: unknown) => String(error));
      expect(refused).to.include('reading only');
      await reader.close();
    });

    it('are refused by a log that is closed', async () => {
      const log = openSqliteEventLog({ path });
      const kept = await log.snapshots.load('account-t');
      await log.close();
      const refused = await log.snapshots.save(kept!).catch((error: unknown) => String(error));
      expect(refused).to.include('closed');
    });
  });

  describe('EventStoreDB', () => {
    let double: EsdbDouble;
    let log: EventStoreDb;
    beforeEach(async () => {
      double = await startEsdbDouble();
      log = openEventStoreDb({ connectionString: double.connectionString });
    });
    afterEach(async () => {
      await log.close();
      await double.close();
    });

    const lived = async (adjustments: number) => {
      const notices: SnapshotNotice[] = [];
      const writer = accountWriter({
        store: log,
        snapshots: log.snapshots,
        snapshotEveryEvents: 2,
        hooks: { onSnapshot: (notice) => notices.push(notice) },
      });
      for (let n = 0; n < adjustments; n += 1)
        expect((await writer.execute(adjustment('t', 1))).kind).to.equal('done');
      await writer.close();
      return notices;
    };

    it('keeps one per account: the stream is limited before its first event', async () => {
      await lived(9);
      expect(double.log.stream('accountSnapshot-t').length).to.be.greaterThan(1);
      expect(double.log.visible('accountSnapshot-t')).to.have.length(1);
      const kinds = double.log
        .all()
        .flatMap(({ stream, type }) => (stream.includes('Snapshot') ? [type] : []));
      expect(kinds.slice(0, 2)).to.deep.equal(['$metadata', 'AccountSnapshot']);
    });

    for (const [what, streams] of [
      ['snapshots', /^accountSnapshot-/],
      ['limits of streams', /^\$\$/],
    ] as const)
      it(`costs a user that may not write ${what} the cache alone`, async () => {
        double.faults.refuseAppendsTo = streams;
        const notices = await lived(6);
        expect(notices).to.not.be.empty;
        for (const { kind, reason } of notices) expect([kind, reason]).to.deep.equal(['unsaved', 'refused']);
        expect(double.log.stream('accountSnapshot-t')).to.deep.equal([]);
        expect((await accountWriter({ store: log, snapshots: log.snapshots }).stateOf('t')).balance).to.equal(
          6,
        );
      });
  });
});
