import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pgliteSql } from '../../adapters/pglite/sql.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import { parsed } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';

/** From the compiled spec in dist/test/projections to the sources. */
const GOLDEN = fileURLToPath(new URL('../../../test/golden/readModels/tables.json', import.meta.url));

/** By `name@version` of a read model: its tables, each in lines. */
type Golden = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const SCHEMA = `rm\\_%`;

/** Columns in their order, then constraints, indexes and storage options, as the catalog words them. */
const LINES = `
  with tables as (
    select c.oid, n.nspname as schema, c.relname as name, c.reloptions
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname like '${SCHEMA}'
  )
  select t.name, 0 as part, lpad(a.attnum::text, 3, '0') as place,
    a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || coalesce(' collate ' || co.collname, '')
      || case when a.attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    join pg_type y on y.oid = a.atttypid
    left join pg_collation co on co.oid = a.attcollation and a.attcollation <> y.typcollation
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  union all
  select t.name, 1, o.conname, o.conname || ' ' || pg_get_constraintdef(o.oid)
  from tables t join pg_constraint o on o.conrelid = t.oid and o.contype <> 'n'
  union all
  select t.name, 2, i.relname, replace(pg_get_indexdef(x.indexrelid), t.schema || '.', '')
  from tables t join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
  union all
  select t.name, 3, o, o from tables t cross join unnest(t.reloptions) as o
  order by 1, 2, 3`;

const madeOn = async (sql: Sql): Promise<Golden> => {
  await prepareReadModels(sql, READ_MODELS);
  const rows = await sql.query(LINES);
  const linesOf = (table: string) =>
    rows.filter(({ name }) => name === table).map(({ line }) => String(line));
  return Object.fromEntries(
    READ_MODELS.map(({ name, version, tables }) => [
      `${name}@${String(version)}`,
      Object.fromEntries(tables.map((table) => [table.name, linesOf(table.name)])),
    ]),
  );
};

/** Columns that an index has although updates change them: lists are in their order, or choose by them. */
const FOLLOWED = ['payment_lines.payout_id', 'usage_documents.last_position', 'margin_lots.is_open'];

describe('the tables of the read models', () => {
  it('leave room in their pages for updates that no index has to follow', () => {
    const followed = READ_MODELS.flatMap(({ tables }) => tables)
      .filter(({ fillfactor }) => fillfactor !== undefined)
      .flatMap(({ name, columns, indexes = [] }) =>
        Object.entries(columns)
          .filter(([, column]) => parsed(column).merge !== undefined)
          .filter(([column]) => indexes.some((index) => new RegExp(`\\b${column}\\b`).test(index)))
          .map(([column]) => `${name}.${column}`),
      );
    expect(followed).to.have.members(FOLLOWED);
  });

  let golden: Golden;
  let now: Golden;
  before(async () => {
    const { sql } = await pgliteSql(null);
    now = await madeOn(sql);
    await sql.close();
    if (process.env['WRITE_GOLDEN'] === '1') writeFileSync(GOLDEN, `${JSON.stringify(now, null, 2)}\n`);
    golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Golden;
  });

  for (const { name, version, tables } of READ_MODELS)
    for (const table of tables)
      it(`${table.name} is as version ${String(version)} of ${name} was released`, () => {
        const key = `${name}@${String(version)}`;
        expect(now[key]?.[table.name]).to.have.length.above(1);
        expect(
          now[key]?.[table.name],
          'a read model whose tables change gets a new version: raise it, and run this spec with WRITE_GOLDEN=1',
        ).to.deep.equal(golden[key]?.[table.name]);
      });
});
