import { expect } from 'chai';
import { pgliteSql } from '../../adapters/embedded/pgliteSql.ts';
import { SNAPSHOTS_DDL, sqlSnapshots } from '../../adapters/postgres/snapshots.ts';
import type { Snapshot } from '../../domain/ports/snapshotStore.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { ACCOUNT_REDUCER_VERSION } from '../../src/commands/accountSnapshot.ts';
import { accountWriter } from '../../src/commands/accountWriter.ts';
import { adjustment } from '../support/accountCommands.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';

const snapshot = (revision: bigint, reducer_version = 1): Snapshot => ({
  stream: 'account-t',
  revision,
  hash: `hash ${revision}`,
  reducer_version,
  state: { balance: Number(revision), text: '\u001f "ä"' },
  state_hash: 'state hash',
});

describe('snapshots on SQL', () => {
  let sql: Sql;
  before(async function () {
    this.timeout(60_000);
    ({ sql } = await pgliteSql(null));
    await sql.script(SNAPSHOTS_DDL);
    await sql.script(SNAPSHOTS_DDL);
  });
  beforeEach(() => sql.query('delete from snapshots'));
  after(() => sql.close());

  it('gives back what was saved', async () => {
    await sqlSnapshots(sql).save(snapshot(7n));
    expect(await sqlSnapshots(sql).load('account-t', 1)).to.deep.equal(snapshot(7n));
    expect(await sqlSnapshots(sql).load('account-other', 1)).to.equal(undefined);
  });

  it('never replaces a newer one, and keeps reducer versions apart', async () => {
    const store = sqlSnapshots(sql);
    for (const revision of [5n, 9n, 7n]) await store.save(snapshot(revision));
    await store.save(snapshot(3n, 2));
    expect((await store.load('account-t', 1))?.revision).to.equal(9n);
    expect((await store.load('account-t', 2))?.revision).to.equal(3n);
  });

  it('serves a writer, which does without them as well', async () => {
    const store = memoryEventStore();
    const snapshots = sqlSnapshots(sql);
    const writer = accountWriter({ store, snapshots, snapshotEveryEvents: 5 });
    for (let n = 0; n < 20; n += 1) await writer.execute(adjustment('t', 1));
    await writer.close();
    expect(await snapshots.load('account-t', ACCOUNT_REDUCER_VERSION)).to.not.equal(undefined);
    expect((await accountWriter({ store, snapshots }).stateOf('t')).balance).to.equal(20);
    await sql.query('delete from snapshots');
    expect((await accountWriter({ store, snapshots }).stateOf('t')).balance).to.equal(20);
  });
});
