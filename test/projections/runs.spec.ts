import { expect } from 'chai';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { runById, runsProjector } from '../../projections/runs.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { emptySql } from '../support/emptySql.ts';

const AT = '2026-01-31T08:00:0';
const OF = { tenant_id: 'acme', project_id: 'default', task_id: 'default', api_key_id: 'key_1' };
const [run_id, operation_id, document_id] = ['ext_1', 'op_1', 'doc_1'];

/** A person cancels work that a worker has begun, and the worker records its end a moment later. */
const HISTORY = (
  [
    [
      'OperationAccepted',
      {
        ...OF,
        operation_id,
        document_id,
        work_id: run_id,
        kind: 'extract',
        mode: 'standard',
        pages: 1,
        accepted_at: `${AT}0.000Z`,
      },
    ],
    [
      'ExtractionRequested',
      {
        ...OF,
        extraction_id: run_id,
        document_id,
        mode: 'standard',
        model: null,
        pages: 1,
        requested_at: `${AT}1.000Z`,
      },
    ],
    ['OperationCancelled', { tenant_id: 'acme', operation_id, cancelled_at: `${AT}2.000Z` }],
    [
      'ExtractionFailed',
      { tenant_id: 'acme', extraction_id: run_id, code: 'request_aborted', failed_at: `${AT}3.000Z` },
    ],
  ] as const
).map(([type, data], at) => ({ type, data, position: BigInt(at + 1) }) as unknown as ProjectedEvent);

describe('runs', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
  });
  after(() => sql.close());

  it('are as the last event in the log says, however the events fall into batches', async () => {
    await sql.script('create schema read');
    for (const { tables } of READ_MODELS) await sql.script(ddlOf(tables, 'read'));
    const found = new Set<string>();
    for (let cuts = 0; cuts < 2 ** (HISTORY.length - 1); cuts += 1) {
      await sql.script('truncate read.runs; truncate read.run_tags');
      let batch: ProjectedEvent[] = [];
      for (const [at, event] of HISTORY.entries()) {
        batch.push(event);
        if (at < HISTORY.length - 1 && ((cuts >> at) & 1) === 0) continue;
        const events = batch;
        await sql.transaction((tx) => runsProjector.apply(tx, { schema: 'read', events }));
        batch = [];
      }
      const run = await runById(sql)({ id: operation_id, now: `${AT}9.000Z` });
      found.add(`${String(run?.status)} at ${String(run?.finished_at)}`);
    }
    expect([...found]).to.deep.equal([`cancelled at ${AT}3.000Z`]);
  });
});
