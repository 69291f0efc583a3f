import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../projections/readModels.ts';
import { emptySql } from '../support/emptySql.ts';

/** From the compiled spec to the sources. */
const GOLDEN = fileURLToPath(new URL('../../../test/golden/readModels/columns.json', import.meta.url));

/** `table.column` and its type. */
type Columns = Readonly<Record<string, string>>;
/** Columns of the views, by read model and version: every version that was ever released. */
type Golden = Readonly<Record<string, Readonly<Record<string, Columns>>>>;

const served = async (): Promise<Golden> => {
  const sql = await emptySql();
  await prepareReadModels(sql, READ_MODELS);
  const rows = await sql.query(
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = 'read' order by table_name, column_name`,
  );
  await sql.close();
  return Object.fromEntries(
    READ_MODELS.map(({ name, version, tables }) => {
      const own = rows.filter(({ table_name }) => tables.some((table) => table.name === table_name));
      const columns = own.map((row) => [
        `${String(row['table_name'])}.${String(row['column_name'])}`,
        String(row['data_type']),
      ]);
      return [name, { [String(version)]: Object.fromEntries(columns) as Columns }];
    }),
  );
};

describe('the columns of the read models', () => {
  let golden: Golden;
  let now: Golden;
  before(async () => {
    now = await served();
    golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Golden;
    if (process.env['WRITE_GOLDEN'] !== '1') return;
    golden = Object.fromEntries(
      [...new Set([...Object.keys(golden), ...Object.keys(now)])]
        .sort()
        .map((name) => [name, { ...golden[name], ...now[name] }]),
    );
    writeFileSync(GOLDEN, `${JSON.stringify(golden, null, 2)}\n`);
  });

  for (const { name, version } of READ_MODELS)
    it(`of ${name} version ${String(version)} are as they were released`, () => {
      expect(
        now[name]?.[String(version)],
        'raise the version of a read model that changes, and run this spec with WRITE_GOLDEN=1',
      ).to.deep.equal(golden[name]?.[String(version)]);
    });

  it('are never fewer than those of the version before, which replicas of the last release still name', () => {
    for (const [name, versions] of Object.entries(golden)) {
      const ordered = Object.keys(versions).sort((a, b) => Number(a) - Number(b));
      ordered.slice(1).forEach((version, at) => {
        const before = versions[ordered[at] ?? ''];
        expect(versions[version], `${name} ${version}`).to.include({ ...before });
      });
    }
  });

  it('belong to read models that are here, or that are known to have been dropped', () => {
    const known = [...READ_MODELS.map(({ name }) => name), ...DROPPED_READ_MODELS];
    expect(known).to.include.members(Object.keys(golden));
  });
});
