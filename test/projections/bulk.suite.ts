import { expect } from 'chai';
import { bulk, jsonText, records } from '../../projections/engine/bulk.ts';
import type { Sql } from '../../projections/engine/ports.ts';

const COLUMNS = { id: 'int8', name: 'text?', flag: 'boolean?', data: 'jsonb?', empty: 'text?' } as const;

const NAMES = [
  'a',
  null,
  'NULL',
  'null',
  '',
  ' ',
  '"',
  '\\',
  '\\"',
  '(x,y)',
  '{}',
  ',',
  "it's",
  'b\nc',
  '漢🙂',
  'nul\u0000',
];

/** Rows reach their columns whatever characters they hold. */
export const bulkSuite = (name: string, open: () => Promise<Sql>) => {
  describe(`rows as parameters of one statement on ${name}`, () => {
    let sql: Sql;
    const rows = NAMES.map((text, i) => ({
      id: 2n ** 60n + BigInt(i),
      name: text,
      flag: i % 3 === 0 ? null : i % 3 === 1,
      data: i % 4 === 0 ? null : jsonText({ text }),
      empty: null,
    }));
    const stored = rows.map((row, i) => {
      const text = row.name?.replace('\0', '\uFFFD') ?? null;
      return { ...row, name: text, data: i % 4 === 0 ? null : { text } };
    });

    before(async () => {
      sql = await open();
      await sql.script(`drop schema if exists bulk_suite cascade; create schema bulk_suite;
        create table bulk_suite.t (id int8, name text, flag boolean, data jsonb, empty text)`);
    });
    after(async () => {
      await sql.query('drop schema bulk_suite cascade');
      await sql.close();
    });

    it('as an array a column', async () => {
      const columns = bulk(COLUMNS);
      const text = `select ${columns.names} from ${columns.source()}`;
      expect(await sql.query(text, columns.values(rows))).to.deep.equal(stored);
      expect(await sql.query(text, columns.values([]))).to.deep.equal([]);
    });

    it('as an array of records', async () => {
      const columns = records(COLUMNS);
      const text = `select ${columns.names} from ${columns.source('bulk_suite.t')}`;
      expect(await sql.query(text, columns.values(rows))).to.deep.equal(stored);
      expect(await sql.query(text, columns.values([]))).to.deep.equal([]);
    });
  });
};
