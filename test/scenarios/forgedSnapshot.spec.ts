import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { account } from '../../domain/account/account.ts';
import { accountStream } from '../../domain/account/messages.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { Snapshot } from '../../domain/kernel/recorded.ts';
import { accountCodec, accountSnapshots, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { foldForward, nothingYet, snapshotOf } from '../../src/writer/streamFold.ts';
import { contextOver } from '../../src/service/composition.ts';
import { openParts } from '../../src/parts/parts.ts';
import { prepareTables } from '../../src/parts/tables.ts';
import { configFrom } from '../../src/config.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { memorySnapshots } from '../support/logs/memorySnapshots.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

/** The table in which earlier releases kept snapshots. */
const FORMER_TABLE = `
create table if not exists snapshots (
  stream text not null,
  reducer_version integer not null,
  revision bigint not null,
  hash text not null,
  state text not null,
  state_hash text not null,
  primary key (stream, reducer_version)
)`;

const FORGE = `
insert into snapshots (stream, reducer_version, revision, hash, state, state_hash) values ($1, $2, $3, $4, $5, $6)
on conflict (stream, reducer_version) do update set revision = excluded.revision, hash = excluded.hash,
  state = excluded.state, state_hash = excluded.state_hash`;

describe('snapshots forged in the read-model database', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  /** The service's account writer over this folder, as a start opens it. */
  const onService = async <T>(work: (accounts: AccountWriter) => Promise<T>): Promise<T> => {
    const config = configFrom({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' });
    const parts = await openParts(config, { lockLost: () => undefined, redisOutage: () => undefined });
    try {
      await prepareTables(config, parts.sql);
      const accounts = contextOver(config, parts, { logger: pino({ level: 'silent' }) }).accounts;
      const result = await work(accounts);
      await accounts.close();
      return result;
    } finally {
      await parts.close();
    }
  };

  /** What the account is in truth, but with another balance: in all else as the service writes it. */
  const forgery = async (balance: number): Promise<Snapshot> => {
    const log = openSqliteEventLog({ path: join(folder.path, 'events.db'), readOnly: true });
    const rules = { initialState: account.initialState, evolve: account.evolve, codec: accountCodec };
    const source = { rules, store: log, stream: accountStream('rich') };
    const folded = await foldForward(source, nothingYet(account.initialState));
    await log.close();
    const state = { ...folded.state, balance: asCredits(balance) };
    return snapshotOf(source.stream, { ...folded, state }, accountSnapshots(memorySnapshots()))!;
  };

  const forge = async (balance: number): Promise<void> => {
    const { stream, reducer_version, revision, hash, state, state_hash } = await forgery(balance);
    const { sql } = await pgliteSql(join(folder.path, 'read-models'));
    await sql.script(FORMER_TABLE);
    const values = [stream, reducer_version, revision, hash, JSON.stringify(state), state_hash];
    await sql.query(FORGE, values);
    await sql.close();
  };

  it('decide nothing after a restart: a clawback of 5,000 on a balance of 560 is refused', async () => {
    await onService((accounts) => accounts.execute(adjustment('rich', 560)));
    await forge(10_000);
    const outcome = await onService((accounts) => accounts.execute(adjustment('rich', -5_000)));
    expect(outcome).to.deep.include({
      kind: 'rejected',
      rejection: { code: 'insufficient_balance', available_credits: 560 },
    });
  });

  it('are not even kept: the table of earlier releases is dropped at start', async () => {
    await forge(10_000);
    await onService(() => Promise.resolve());
    const { sql } = await pgliteSql(join(folder.path, 'read-models'));
    const [row] = await sql.query(`select to_regclass('public.snapshots') is null as gone`);
    await sql.close();
    expect(row).to.deep.equal({ gone: true });
  });
});
