import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { sqlContract } from './sql.contract.ts';

sqlContract('embedded Postgres in memory', async () => (await pgliteSql(null)).sql);

describe('embedded Postgres in a folder', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'quire-pglite-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('keeps rows over a close and a reopening', async () => {
    const folder = join(root, 'read-models');
    const first = await pgliteSql(folder);
    expect(first.recreated).to.equal(null);
    await first.sql.script('create table kept (n int8); insert into kept values (5)');
    await first.sql.close();
    expect(existsSync(join(folder, 'quire.open'))).to.equal(false);

    const second = await pgliteSql(folder);
    expect(second.recreated).to.equal(null);
    expect(await second.sql.query('select n from kept')).to.deep.equal([{ n: 5n }]);
    await second.sql.close();
  });

  it('makes a folder anew that does not open, and says so', async () => {
    const folder = join(root, 'read-models');
    await (await pgliteSql(folder)).sql.close();
    await writeFile(join(folder, 'global', 'pg_control'), 'torn');

    const { sql, recreated } = await pgliteSql(folder);
    expect(recreated).to.match(/^it did not open: /);
    expect(await sql.query('select 1 as one')).to.deep.equal([{ one: 1 }]);
    await sql.close();
    expect(await readdir(root)).to.include('read-models.broken');
  });

  it('makes a folder anew that was open when the machine went down', async () => {
    const folder = join(root, 'read-models');
    const first = await pgliteSql(folder);
    await first.sql.script('create table lost (n int8)');
    await first.sql.close();
    await writeFile(join(folder, 'quire.open'), 'another-boot');

    const { sql, recreated } = await pgliteSql(folder);
    expect(recreated).to.equal('it was open when the operating system went down');
    expect(await sql.query(`select to_regclass('lost') as found`)).to.deep.equal([{ found: null }]);
    await sql.close();
  });

  it('refuses work after it was closed', async () => {
    const { sql } = await pgliteSql(null);
    await sql.close();
    let failure: unknown;
    await sql.query('select 1').catch((error: unknown) => (failure = error));
    expect(failure).to.be.instanceOf(SqlUnavailable);
  });
});
