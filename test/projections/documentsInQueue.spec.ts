import { expect } from 'chai';
import { decodeAny } from '../../domain/catalogue.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf } from '../../projections/engine/table.ts';
import { documentsInQueue, operationsProjector } from '../../projections/operations.ts';
import { seededPlan } from '../sim/explore.ts';
import { runWorld } from '../sim/run.ts';
import { randomWorld } from '../sim/worlds.ts';
import { emptySql } from '../support/emptySql.ts';

const SEED = 2;
const ENDS = ['OperationSucceeded', 'OperationFailed', 'OperationCancelled'];

describe('documents that operations work on', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await sql.script('create schema read');
    await sql.script(ddlOf(operationsProjector.tables, 'read'));
  });
  after(() => sql.close());

  it('are those of operations that have not ended, after each event', async () => {
    const plan = seededPlan(SEED);
    const { events } = await runWorld({ world: randomWorld(SEED), plan, seed: SEED, audits: false });
    const due = new Map<string, string>();
    const all = new Set<string>();
    let changes = 0;
    for (const recorded of events) {
      if (!(operationsProjector.eventTypes as readonly string[]).includes(recorded.type)) continue;
      const event = { ...recorded, ...decodeAny(recorded) } as ProjectedEvent;
      await sql.transaction((tx) => operationsProjector.apply(tx, { schema: 'read', events: [event] }));
      const data = event.data as { readonly operation_id?: string; readonly document_id?: string };
      if (event.type === 'OperationAccepted') due.set(event.data.operation_id, event.data.document_id);
      else if (ENDS.includes(event.type)) due.delete(data.operation_id ?? '');
      else continue;
      changes += 1;
      for (const id of due.values()) all.add(id);
      const found = await documentsInQueue(sql)([...all, 'doc_of_nobody']);
      expect([...found].sort()).to.deep.equal([...new Set(due.values())].sort());
    }
    expect(changes).to.be.above(1);
  });
});
