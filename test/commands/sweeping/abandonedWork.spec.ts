import { expect } from 'chai';
import { decodeAny } from '../../../domain/catalogue.ts';
import { extractionStream } from '../../../domain/workEvents.ts';
import { balancesProjector } from '../../../projections/balances.ts';
import type { ProjectedEvent, Sql } from '../../../projections/engine/ports.ts';
import { ddlOf } from '../../../projections/engine/table.ts';
import { operationsProjector } from '../../../projections/operations.ts';
import { abandonedWorkBefore, usageEventsProjector } from '../../../projections/usageEvents.ts';
import { unfinishedSweeper } from '../../../src/commands/usageLog.ts';
import {
  asked,
  death,
  type Delivery,
  delivery,
  extract,
  keyed,
  laterBy,
  type Process,
} from '../../support/delivery.ts';
import { emptySql } from '../../support/emptySql.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';

const SERVICE = { caller: { key_id: 's', role: 'service' } } as const;

describe('work of a service key whose process died', () => {
  let sql: Sql;
  let bench: Delivery;
  let projected = 0;
  before(async () => {
    sql = await emptySql();
  });
  beforeEach(async () => {
    bench = await delivery();
    projected = 0;
    await sql.script('drop schema if exists read cascade; create schema read');
    for (const { tables } of [balancesProjector, operationsProjector, usageEventsProjector])
      await sql.script(ddlOf(tables, 'read'));
  });
  afterEach(() => bench.dispose());
  after(() => sql.close());

  const stored = async (id: string): Promise<ProjectedEvent[]> =>
    (await eventsOf(bench.store, extractionStream(id))).map((recorded) => ({
      ...recorded,
      ...decodeAny(recorded),
    }));

  /** A sweep of a new process, which sees the events of the work. */
  const sweep = async (id: string): Promise<number> => {
    const on: Process = bench.process();
    const events = (await stored(id)).slice(projected);
    projected += events.length;
    await sql.transaction((tx) => usageEventsProjector.apply(tx, { schema: 'read', events }));
    const { usage_events } = await unfinishedSweeper({
      facts: {
        ...on.facts,
        finish: () => Promise.resolve({ model_calls: 0, work_ends: 0, left: 0 }),
      } as never,
      accounts: on.accounts,
      store: bench.store,
      clock: on.clock,
      checkLog: () => Promise.resolve(),
      unrecordedBefore: () => Promise.resolve([]),
      abandonedBefore: abandonedWorkBefore(sql),
    }).sweep();
    return usage_events;
  };

  for (const request of [asked(1, SERVICE), { ...keyed(1), ...SERVICE }]) {
    const named = request.idempotency === null ? 'without' : 'with';
    it(`has failed once no caller can wait for it, ${named} an idempotency key`, async () => {
      const on = bench.process();
      const end = death();
      let id = '';
      const usage: Process['usage'] = {
        ...on.usage,
        requested: (work) => {
          id = work.bill.operation_id;
          return on.usage.requested(work);
        },
      };
      // The result is stored by now, and only the end is missing.
      const dying = extract({ ...on, usage, facts: { record: end.here } }, request);
      await Promise.race([dying, end.happened]);
      expect((await stored(id)).map(({ type }) => type)).to.deep.equal(['ExtractionRequested']);

      bench.time.now = laterBy(bench.time.now, 2);
      expect(await sweep(id), 'its caller may still wait').to.equal(0);
      bench.time.now = laterBy(bench.time.now, 1);
      expect(await sweep(id)).to.equal(1);
      const [, ended] = await stored(id);
      expect(ended).to.include({ type: 'ExtractionFailed' });
      expect(ended?.data).to.include({ code: 'internal_error' });
      expect(await sweep(id), 'it ended').to.equal(0);
    });
  }
});
