import { expect } from 'chai';
import fc from 'fast-check';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { batchesProjector } from '../../projections/batches.ts';
import { evaluationsProjector, runsToScore } from '../../projections/evaluations.ts';
import { emptySql } from '../support/emptySql.ts';

const SET = { set_id: 'set_1', tenant_id: 'acme' };
const AT = '2026-11-28T08:00:00.000Z';

const eventAt = (position: number, type: string, data: object): ProjectedEvent =>
  ({ stream: '', position: BigInt(position), metadata: {}, type, data }) as unknown as ProjectedEvent;

const published = (position: number, version: number, documents: readonly string[]) =>
  eventAt(position, 'EvaluationSetPublished', {
    ...SET,
    version,
    project_id: 'p',
    task_id: 't',
    set_name: null,
    fingerprint: '',
    examples: documents.map((document_id) => ({ document_id, expected_sha256: 'a' })),
    created_at: AT,
    published_at: AT,
  });
const reduced = (position: number, version: number, ...document_ids: readonly string[]) =>
  eventAt(position, 'EvaluationSetReduced', { ...SET, version, document_ids, published_at: AT });

describe('read models of sets and runs', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    const tables = [...evaluationsProjector.tables, ...batchesProjector.tables];
    await sql.script(`create schema read; create schema rm; ${ddlOf(tables, 'rm')}`);
    for (const { name } of tables) await sql.script(`create view read.${name} as select * from rm.${name}`);
  });
  after(() => sql.close());

  const apply = (events: readonly ProjectedEvent[]) =>
    sql.transaction((tx) => evaluationsProjector.apply(tx, { schema: 'rm', events }));
  const rows = () => sql.query('select version, documents, position::text from rm.evaluation_sets');

  it('count what is left of a set, wherever a batch of events is cut', async () => {
    const events = [
      published(1, 1, ['doc_1', 'doc_2', 'doc_3', 'doc_4']),
      reduced(2, 2, 'doc_1'),
      reduced(3, 3, 'doc_2', 'doc_3'),
      published(4, 4, ['doc_4', 'doc_5', 'doc_6']),
      reduced(5, 5, 'doc_5'),
    ];
    const left = [4, 3, 1, 3, 2];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (first, upTo) => {
          await sql.script('delete from rm.evaluation_sets; delete from rm.evaluation_documents');
          const cut = Math.min(first, upTo);
          for (const part of [events.slice(0, cut), events.slice(cut, upTo), events.slice(cut, upTo)])
            if (part.length > 0) await apply(part);
          const row = { version: upTo, documents: left[upTo - 1], position: String(upTo) };
          expect(await rows()).to.deep.equal([row]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('give one run of each tenant to score before a second of any, and none of those that are left out', async () => {
    const run = (n: number, tenant_id: string) =>
      `('evr_${String(n)}', 'bat_${String(n)}', '${tenant_id}', ${String(n)})`;
    const runs = [1, 2, 3, 4].map((n) => run(n, 'large')).concat(run(5, 'small'));
    await sql.script(
      `create table r (run_id text, batch_id text, tenant_id text, position numeric, scored_at text);
       insert into r values ${runs.map((one) => one.replace(')', ', null)')).join(', ')};
       drop view read.evaluation_runs; create view read.evaluation_runs as select * from r;
       drop view read.batches; create view read.batches as
         select batch_id, '${AT}' as finished_at, null::text as cancelled_at from r`,
    );
    const ids = async (limit: number, except: readonly string[]) =>
      (await runsToScore(sql)(limit, except)).map(({ run_id }) => run_id);
    expect(await ids(2, [])).to.deep.equal(['evr_1', 'evr_5']);
    expect(await ids(20, [])).to.deep.equal(['evr_1', 'evr_5', 'evr_2', 'evr_3', 'evr_4']);
    expect(await ids(2, ['evr_1', 'evr_2', 'evr_5'])).to.deep.equal(['evr_3', 'evr_4']);
  });
});
