import { join } from 'node:path';
import { cpSync } from 'node:fs';
import { expect } from 'chai';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import type { Sql, SqlTx } from '../../projections/engine/ports.ts';
import type { ReadTable } from '../../projections/engine/table.ts';
import { generations } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import {
  EXPECTED_MODELS,
  snapshotLines,
  snapshotStore,
  withSnapshot,
} from '../../src/audit/compareReadModels.ts';
import { runAudit, type AuditReport } from '../../src/audit/runAudit.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { history, RICH } from './auditedHistory.ts';

const TABLES: readonly (ReadTable & { readonly model: string })[] = READ_MODELS.flatMap(
  ({ name: model, tables }) => tables.map((table) => ({ ...table, model })),
);
const EXPECTED = new Set(EXPECTED_MODELS.flatMap(({ tables }) => tables.map(({ name }) => name)));

/** Another value of the same type, in SQL. */
const CHANGED: Readonly<Record<string, (column: string) => string>> = {
  text: (column) => `coalesce(${column}, '') || 'x'`,
  bigint: (column) => `coalesce(${column}, 0) + 1`,
  integer: (column) => `coalesce(${column}, 0) + 1`,
  smallint: (column) => `coalesce(${column}, 0) + 1`,
  numeric: (column) => `coalesce(${column}, 0) + 1`,
  boolean: (column) => `not coalesce(${column}, false)`,
  jsonb: (column) => `coalesce(${column}, '{}'::jsonb) || '[1]'::jsonb`,
};

describe('what the auditor expects of the read models', () => {
  it('is written down for every table, and for no other', () => {
    expect([...EXPECTED].sort()).to.deep.equal(TABLES.map(({ name }) => name).sort());
  });
});

describe('the audit of read models', () => {
  let folder: TempFolder;
  let sql: Sql;
  const schemas = new Map<string, string>();

  before(async () => {
    folder = tempFolder();
    cpSync(await history(), folder.path, { recursive: true });
    ({ sql } = await pgliteSql(join(folder.path, 'read-models')));
    for (const { name, schema, serves } of await generations(sql)) if (serves) schemas.set(name, schema);
  });
  after(async () => {
    await sql.close();
    folder.remove();
  });

  const schemaOf = (model: string): string => schemas.get(model) ?? '';

  const audit = async (): Promise<AuditReport> => {
    const feed = openSqliteEventLog({ path: join(folder.path, 'events.db'), readOnly: true });
    try {
      return await withSnapshot(sql, READ_MODELS, async (snapshot) => {
        const { report } = await runAudit({ feed, dense: true, snapshot, keep: 1_000 });
        return report;
      });
    } finally {
      await feed.close();
    }
  };

  /** Changes a table, audits, and puts the rows back. */
  const auditAfter = async (table: string, change: (tx: SqlTx) => Promise<void>): Promise<AuditReport> => {
    await sql.script(`drop table if exists kept; create table kept as select * from ${table}`);
    await change(sql);
    const report = await audit();
    await sql.script(`delete from ${table}; insert into ${table} select * from kept; drop table kept`);
    return report;
  };

  const columnsOf = (schema: string, table: string) =>
    sql.query(
      `select column_name as name, data_type as type from information_schema.columns
       where table_schema = $1 and table_name = $2 order by ordinal_position`,
      [schema, table],
    );

  it('finds nothing in what the service projected', async () => {
    const report = await audit();
    expect(report.findings).to.deep.equal([]);
    expect(report.read_models).to.have.length(READ_MODELS.length);
    expect(report.checks.find(({ check }) => check === 'read_models')?.checked).to.be.greaterThan(30);
  });

  it('names a document that is erased and is not said to be, and one that is not and is', async () => {
    const table = `${schemaOf('documents')}.documents`;
    for (const [erased, back] of [
      ['is not null', `null, file_name = 'name'`],
      ['is null', `'2026-01-01T00:00:00.000Z', file_name = null`],
    ] as const) {
      const row = `ctid = (select min(ctid) from ${table} where erased_at ${erased} and removed_at is null)`;
      const [gone] = await sql.query(`select document_id from ${table} where ${row}`);
      const report = await auditAfter(table, (tx) =>
        tx.script(`update ${table} set erased_at = ${back} where ${row}`),
      );
      const found = report.findings.map(({ key, column }) => `${key ?? ''} ${column ?? ''}`);
      expect(found).to.include.members([`${String(gone?.['document_id'])} erased_at`]);
      expect(
        found.every((one) => /(erased_at|file_name)$/.test(one)),
        found.join(),
      ).to.equal(true);
    }
  });

  for (const { name, key, model } of TABLES.filter((table) => EXPECTED.has(table.name)))
    describe(name, () => {
      const table = () => `${schemaOf(model)}.${name}`;
      const aRow = () => `ctid = (select min(ctid) from ${table()})`;

      it('has rows in the history, or these specs show nothing', async () => {
        const [row] = await sql.query(`select count(*) as rows from ${table()}`);
        expect(Number(row?.['rows'])).to.be.greaterThan(0);
      });

      it('names the row and the columns that were changed', async () => {
        const columns = (await columnsOf(schemaOf(model), name))
          .map((column) => [String(column['name']), String(column['type'])] as const)
          .filter(([column]) => !key.includes(column));
        const change = (changed: typeof columns) => {
          const values = changed.map(([column, type]) => `${column} = ${CHANGED[type]?.(column) ?? type}`);
          return auditAfter(table(), (tx) =>
            tx.script(`update ${table()} set ${values.join()} where ${aRow()}`),
          );
        };
        const isTenant = ([column]: readonly [string, string]) => column === 'tenant_id';
        // A row of another tenant is wrong as a whole, so the tenant is changed alone.
        for (const changed of [columns.filter((one) => !isTenant(one)), columns.filter(isTenant)]) {
          if (changed.length === 0) continue;
          const { findings } = await change(changed);
          const found = findings.filter((finding) => finding.check === 'read_models');
          expect([...new Set(found.map((finding) => finding.table))]).to.deep.equal([name]);
          const named = found.map((finding) => finding.column).sort();
          if (!changed.some(isTenant)) expect(named).to.deep.equal(changed.map(([column]) => column).sort());
        }
      });

      it('names a row that is missing', async () => {
        const [gone] = await sql.query(`select * from ${table()} where ${aRow()}`);
        const report = await auditAfter(table(), (tx) => tx.script(`delete from ${table()} where ${aRow()}`));
        const named = key.map((column) => String(gone?.[column])).join(' ');
        expect(report.findings.map((finding) => [finding.table, finding.key])).to.deep.equal([[name, named]]);
        expect(report.findings[0]?.message).to.contain('missing');
        if (typeof gone?.['tenant_id'] === 'string')
          expect(report.findings[0]?.tenant_id).to.equal(gone['tenant_id']);
      });

      it('names a row too many', async () => {
        const columns = await columnsOf(schemaOf(model), name);
        const changes = columns
          .map((column) => [String(column['name']), String(column['type'])] as const)
          .filter(([column, type]) => type !== 'boolean' && (column !== 'tenant_id' || key.length === 1))
          .filter(([column]) => key.includes(column) || column.endsWith('_id') || column.endsWith('_hash'))
          .map(
            ([column, type]) =>
              `'${column}', ${type === 'text' ? `r.${column} || 'x'` : `coalesce(r.${column}, 0) + 1000`}`,
          );
        const extra =
          `select (jsonb_populate_record(r, jsonb_build_object(${changes.join(', ')}))).* from ` +
          `${table()} r where r.${aRow()}`;
        const report = await auditAfter(table(), (tx) => tx.script(`insert into ${table()} ${extra}`));
        const found = report.findings.filter((finding) => finding.table === name);
        expect(found.map(({ message }) => message).join()).to.contain('not in the events');
        expect(report.findings).to.have.length(found.length);
      });
    });

  it('finds the end of a log that was cut off behind what the read models have applied', async () => {
    const moved = `update projections.registry set position = position + 100 where name = 'ledger' and serves`;
    await sql.script(moved);
    const report = await audit();
    await sql.script(moved.replace('+', '-'));
    expect(report.findings.map(({ message }) => message).join()).to.contain('Read model ledger');
  });

  it('compares each read model at its own checkpoint', async () => {
    const behind = `select position from projections.registry where name = 'balances'`;
    const [row] = await sql.query(behind);
    const set = (position: bigint) =>
      sql.query(`update projections.registry set position = $1 where name = 'balances'`, [position]);
    await set(1n);
    const report = await audit();
    await set(row?.['position'] as bigint);
    const tables = new Set(report.findings.map(({ table }) => table));
    expect([...tables].sort()).to.deep.equal(['balances', 'open_holds']);
  });

  it('comes to the same from a snapshot that was sent as lines', async () => {
    const feed = openSqliteEventLog({ path: join(folder.path, 'events.db'), readOnly: true });
    const balances = `${schemaOf('balances')}.balances`;
    await sql.script(`update ${balances} set used_credits = used_credits + 7 where tenant_id = '${RICH}'`);
    const direct = await audit();
    const lines = await withSnapshot(sql, READ_MODELS, async (snapshot) => {
      const sent: string[] = [];
      for await (const line of snapshotLines(snapshot)) sent.push(line);
      return sent;
    });
    const received = tempFolder();
    const receive = async (texts: readonly string[]) => {
      const store = snapshotStore(received.path);
      for (const text of texts) await store.write(text);
      return store.finish();
    };
    const { report } = await runAudit({ feed, dense: true, snapshot: await receive(lines), keep: 1_000 });
    expect(report.findings).to.deep.equal(direct.findings);
    expect(report.findings.map(({ column }) => column)).to.deep.equal(['used_credits']);
    for (const cut of [lines.slice(0, -1), [...lines.slice(0, -3), ...lines.slice(-2)], []]) {
      const failure: unknown = await receive(cut).catch((error: unknown) => error);
      expect(String(failure)).to.contain('not whole');
    }
    received.remove();
    await feed.close();
    await sql.script(`update ${balances} set used_credits = used_credits - 7 where tenant_id = '${RICH}'`);
  });
});
