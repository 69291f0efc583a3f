import { expect } from 'chai';
import { systemTimers } from '../../adapters/local/local.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { openSqliteEventLog, type SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { type TempFolder, tempFolder } from '../../engine/test/support/tempFolder.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { rebuildReadModels, rebuildThroughOutages } from '../../projections/engine/rebuild.ts';
import type { FillPart } from '../../projections/engine/spreading.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { partsInThreads } from '../../src/operator/rebuildInThreads.ts';
import { logFileIn } from '../../src/parts/stores.ts';
import { dumpAll, wipe } from '../../test/support/projecting.ts';
import { writeTradingLog } from './tradingLog.ts';

const url = process.env['DATABASE_URL'];

if (url === undefined) {
  describe('a rebuild in threads on PostgreSQL', () => {
    it('runs when DATABASE_URL names a server');
  });
} else {
  describe('a rebuild in threads on PostgreSQL', () => {
    let folder: TempFolder;
    let sql: Sql;
    let feed: SqliteEventLog;
    before(async () => {
      folder = tempFolder();
      sql = postgresSql({ url });
      await wipe(sql);
      await writeTradingLog(
        { path: logFileIn(folder.path), events: 3_000, tenants: 40, seed: 7 },
        () => undefined,
      );
      feed = openSqliteEventLog({ path: logFileIn(folder.path), readOnly: true });
    });
    after(async () => {
      await feed.close();
      await wipe(sql);
      await sql.close();
      folder.remove();
    });

    it('makes the rows that one makes, though sessions of its threads are ended amid it', async () => {
      const deps = { sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
      await rebuildReadModels(deps);
      const rows = await dumpAll(sql);
      await wipe(sql);
      const threads = partsInThreads({
        dataDir: folder.path,
        databaseUrl: url,
        eventStoreUrl: undefined,
        s3: undefined,
      });
      let ended = 0;
      // Only where each part has committed rows is there something from which each read model goes on.
      const begun = new Set<number>();
      const ending: FillPart = (part, watched) =>
        threads(part, {
          ...watched,
          onProgress: (progress) => {
            watched.onProgress(progress);
            begun.add(part.worker);
            if (ended > 0 || begun.size < 3) return;
            ended += 1;
            void sql.query(
              `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
                 and pid <> pg_backend_pid() and state <> 'idle'`,
            );
          },
        });
      const outages: string[] = [];
      const rebuilt = await rebuildThroughOutages(
        { ...deps, fillPart: ending },
        { shares: 3, batchMax: 200, onOutage: ({ name }) => outages.push(name) },
      );
      expect([ended, outages[0]]).to.deep.equal([1, 'SqlUnavailable']);
      expect(
        rebuilt.some(({ resumedFrom }) => resumedFrom !== null),
        'all began anew',
      ).to.equal(true);
      expect(await dumpAll(sql)).to.deep.equal(rows);
    });
  });
}
