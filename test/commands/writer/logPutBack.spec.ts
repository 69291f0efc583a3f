import { expect } from 'chai';
import Database from 'libsql';
import { join } from 'node:path';
import { copyEventLog, openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { openEventStoreDb, type EventStoreDb } from '../../../adapters/eventstoredb/eventStoreDb.ts';
import { account } from '../../../domain/account/account.ts';
import { accountStream } from '../../../domain/account/messages.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { accountCodec, type AccountWriter, accountWriter } from '../../../src/writer/accountWriter.ts';
import { asProblem } from '../../../src/server/app.ts';
import { until } from '../../../engine/test/support/until.ts';
import { startEsdbDouble, type EsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { adjustment } from '../../support/money/accountCommands.ts';

const STREAM = accountStream('t');

/** What the log says of the account; throws when its chain is broken. */
const balanceIn = async (log: EventStore): Promise<number> => {
  const events = await eventsOf(log, STREAM);
  return events.map(accountCodec.decode).reduce(account.evolve, account.initialState).balance;
};

const given = async (writer: AccountWriter, credits: number): Promise<void> => {
  const command = adjustment('t', credits);
  await until(async () => {
    const { kind } = await writer.execute(command);
    return kind === 'done';
  });
};

/** What a route would answer a command with. */
const answerTo = (writer: AccountWriter, credits: number): Promise<string> =>
  writer.execute(adjustment('t', credits)).then(
    ({ kind }) => kind,
    (error: unknown) => asProblem(error)?.code ?? String(error),
  );

describe('an account of a log that was put back to an older copy, in a process that remembers more', () => {
  for (const refuseFeatures of [false, true])
    describe(refuseFeatures ? 'by single appends' : 'by batch appends', () => {
      let double: EsdbDouble;
      let logs: readonly [EventStoreDb, EventStoreDb];
      let early: AccountWriter;
      const opened: AccountWriter[] = [];
      const writerOn = (log: EventStoreDb): AccountWriter => {
        const writer = accountWriter({ store: log, random: () => 0, appendTimeoutMs: 200 });
        opened.push(writer);
        return writer;
      };
      beforeEach(async () => {
        double = await startEsdbDouble();
        double.faults.refuseFeatures = refuseFeatures;
        const [connectionString, appendTimeoutMs] = [double.connectionString, 150];
        logs = [
          openEventStoreDb({ connectionString, appendTimeoutMs }),
          openEventStoreDb({ connectionString, appendTimeoutMs }),
        ];
        early = writerOn(logs[0]);
        await given(early, 100);
      });
      afterEach(async () => {
        await Promise.all(opened.splice(0).map((writer) => writer.close()));
        await Promise.all(logs.map((log) => log.close()));
        await double.close();
      });

      it('gets nothing of the lost log, though the revision is the expected one', async () => {
        const copied = double.log.all().length;
        const late = writerOn(logs[1]);
        await given(late, 10);
        await given(late, 20);
        double.goBack(copied);
        early.forget('all');
        await given(early, 1);
        await given(early, 2);

        expect(await answerTo(late, 30)).to.equal('not_ready');
        expect(await balanceIn(logs[0])).to.equal(103);
        expect(await answerTo(late, 40)).to.equal('not_ready');
        late.forget('all');
        await given(late, 50);
        await given(early, 3);
        expect(await balanceIn(logs[0])).to.equal(156);
      });

      it('gets nothing that was on its way when the log went away, either', async () => {
        const copied = double.log.all().length;
        const late = writerOn(logs[1]);
        await given(late, 10);
        double.faults.nextAppend({ kind: 'silence' });
        const answer = answerTo(late, 20);
        await until(() => double.faults.left() === 0);
        double.goBack(copied);
        const there = double.log.stream(STREAM).length;
        double.log.append(STREAM, there - 1, [OTHER]);

        expect(await answer).to.equal('not_ready');
        expect(double.log.stream(STREAM)).to.have.lengthOf(there + 1);
      });

      it('goes on where the log is still the one that it was', async () => {
        const late = writerOn(logs[1]);
        await given(late, 10);
        double.closeConnections();
        await given(late, 20);
        double.closeConnections();
        await given(early, 30);
        expect(await balanceIn(logs[0])).to.equal(160);
      });
    });
});

describe('an account of an embedded log that another copy was put in place of, while the process runs', () => {
  it('gets nothing of the lost log, though the revision is the expected one', async () => {
    const folder = tempFolder();
    const [path, copy] = [join(folder.path, 'events.db'), join(folder.path, 'copy.db')];
    const log = openSqliteEventLog({ path });
    const writer = accountWriter({ store: log, random: () => 0 });
    await given(writer, 100);
    await copyEventLog(path, copy, new AbortController().signal);
    const elsewhere = openSqliteEventLog({ path: copy });
    const other = accountWriter({ store: elsewhere, random: () => 0 });
    await given(other, 1);
    await elsewhere.close();
    await given(writer, 10);

    const database = new Database(path);
    database.exec(`attach '${copy}' as copy; begin immediate; delete from events;
      insert into events select * from copy.events; commit; detach copy`);
    database.close();
    expect(await answerTo(writer, 20)).to.equal('not_ready');
    writer.forget('all');
    await given(writer, 30);
    expect(await balanceIn(log)).to.equal(131);
    await writer.close();
    await log.close();
    folder.remove();
  });
});

const OTHER = {
  id: '00000000-0000-4000-8000-000000000001',
  type: 'CreditsAdjusted',
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from('{"hash":"another"}'),
};
