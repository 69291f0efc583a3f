import { join } from 'node:path';
import { expect } from 'chai';
import { systemTimers } from '../../../adapters/local/local.ts';
import { openEventStoreDb } from '../../../adapters/eventstoredb/eventStoreDb.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import { balancesProjector } from '../../../projections/balances.ts';
import { SqlUnavailable, type Sql } from '../../../projections/engine/ports.ts';
import { rebuildReadModels, rebuildThroughOutages } from '../../../projections/engine/rebuild.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { adjustment } from '../../support/money/accountCommands.ts';
import { startEsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { dumpAll } from '../../support/projecting.ts';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { emptySql } from '../../support/emptySql.ts';

const EVENTS = 3_000;
const PROJECTORS = [balancesProjector];

describe('a rebuild through outages', () => {
  let folder: TempFolder;
  let double: Awaited<ReturnType<typeof startEsdbDouble>>;
  let log: ReturnType<typeof openEventStoreDb>;
  let sql: Sql;
  beforeEach(async () => {
    folder = tempFolder();
    double = await startEsdbDouble({ file: join(folder.path, 'log') });
    log = openEventStoreDb({ connectionString: double.connectionString, readTimeoutMs: 2_000 });
    sql = await emptySql();
    const writer = accountWriter({ store: log });
    const numbers = Array.from({ length: EVENTS }, (_, n) => n);
    for (let from = 0; from < EVENTS; from += 1_000)
      await Promise.all(
        numbers.slice(from, from + 1_000).map((n) => writer.execute(adjustment('acme', 1, String(n)))),
      );
    await writer.close();
  });
  afterEach(async () => {
    await log.close();
    await double.close();
    await sql.close();
    folder.remove();
  });

  const deps = (on: Sql) => ({
    sql: on,
    feed: log,
    projectors: PROJECTORS,
    decode: decodeAny,
    timers: systemTimers,
  });

  /** The rows of a rebuild that nothing disturbed. */
  const undisturbed = async () => {
    const other = await emptySql();
    await rebuildReadModels(deps(other));
    const dumped = await dumpAll(other, PROJECTORS);
    await other.close();
    return dumped;
  };

  it('goes on where it stood when the event store has started again', async () => {
    const outages: string[] = [];
    let closed: Promise<void> | undefined;
    const { port } = double;
    const [rebuilt] = await rebuildThroughOutages(deps(sql), {
      batchMax: 50,
      onProgress: () => {
        closed ??= double.close();
      },
      onOutage: (error) => {
        outages.push(error.name);
        if (outages.length > 1) return;
        void (closed ?? Promise.resolve()).then(async () => {
          double = await startEsdbDouble({ port, file: join(folder.path, 'log') });
        });
      },
    });
    expect(outages[0]).to.equal('LogUnavailable');
    expect(rebuilt?.resumedFrom, 'it began anew').to.be.a('bigint');
    expect(await dumpAll(sql, PROJECTORS)).to.deep.equal(await undisturbed());
  });

  it('goes on where it stood when the database has started again', async () => {
    let transactions = 0;
    const restarting: Sql = {
      ...sql,
      transaction: (work) => {
        transactions += 1;
        if (transactions > 8 && transactions < 12)
          return Promise.reject(new SqlUnavailable('scripted: the server restarts'));
        return sql.transaction(work);
      },
    };
    const outages: string[] = [];
    const [rebuilt] = await rebuildThroughOutages(deps(restarting), {
      batchMax: 50,
      onOutage: (error) => outages.push(error.name),
    });
    expect(outages).to.include('SqlUnavailable');
    expect(rebuilt?.resumedFrom, 'it began anew').to.be.a('bigint');
    expect(await dumpAll(sql, PROJECTORS)).to.deep.equal(await undisturbed());
  });
});
