import type { Sql } from '../../projections/engine/ports.ts';
import { type Projector, table } from '../../projections/engine/table.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { bookkeeper } from '../support/money/billingHistory.ts';
import { type MemoryLog, memoryLog } from '../support/logs/memoryLog.ts';
import { runnerOn, wipe, type RunnerSetup } from '../support/projecting.ts';

export interface CounterHooks {
  /** Holds every batch up until it resolves. */
  readonly gate?: () => Promise<void>;
  /** Fails the batch that has such a usage ID. */
  readonly poison?: (usageId: string) => boolean;
}

/** A read model that counts burns, and remembers which version wrote each row. */
export const counter = (name: string, version = 1, { gate, poison }: CounterHooks = {}): Projector => ({
  name,
  version,
  eventTypes: ['CreditsBurned'],
  tables: [table({ name, key: ['id'], columns: { id: 'text', made_by: 'int4' } })],
  apply: async (tx, { schema, events }) => {
    await gate?.();
    const ids = events.flatMap((event) => (event.type === 'CreditsBurned' ? [event.data.usage_id] : []));
    await tx.query(`insert into ${schema}.${name} select u, $2 from unnest($1::text[]) u`, [ids, version]);
    const bad = ids.find((id) => poison?.(id) === true);
    if (bad !== undefined) throw new Error(`${bad} is poison`);
  },
});

/** What a spec of burns has: afresh for each test. */
export interface Burning {
  readonly log: MemoryLog;
  /** Burns so often; gives the position of the last event. */
  readonly burn: (times: number) => bigint;
}

/**
 * Registers the hooks of specs of burns: `sql` is wiped and the log empty before each test, and runners that
 * were made here stop after it.
 */
export const burningOn = (sql: () => Sql, begin: (burning: Burning) => void) => {
  let runners: ProjectionRunner[] = [];
  beforeEach(async () => {
    await wipe(sql());
    const log = memoryLog();
    const books = bookkeeper(log, 't1');
    const burn = (times: number): bigint => {
      for (let n = 0; n < times; n += 1) books.charge(1);
      return log.events().at(-1)!.position;
    };
    begin({ log, burn });
  });
  afterEach(async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
    runners = [];
  });
  return {
    runnerOn: (on: Sql, feed: MemoryLog, setup: RunnerSetup): ProjectionRunner => {
      const runner = runnerOn(on, feed, setup);
      runners.push(runner);
      return runner;
    },
  };
};
