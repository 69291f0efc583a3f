import { expect } from 'chai';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { emptySql } from '../support/emptySql.ts';
import {
  CRASHES,
  deviationsIn,
  exhaust,
  FAILURES,
  PAUSES,
  readsOnly,
  replanned,
  seededPlan,
  seeds,
} from './explore.ts';
import type { Standing } from './book.ts';
import { runWorld, type Outcome } from './run.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/ports/log.ts';
import {
  batchesToBegin,
  batchesToEnd,
  documentsLeft,
  openBatchesOfTenant,
  operationsToCancel,
  progressOfBatch,
} from '../../projections/batches.ts';
import { expiredHolds } from '../../projections/balances.ts';
import { ddlOf, type Projector } from '../../projections/engine/table.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import { openClaimsBefore } from '../../projections/openClaims.ts';
import { openOperationsOfTenant, operationLists } from '../../projections/operations.ts';
import { listsOn } from '../../projections/queue.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { jobLists } from '../../projections/trainingJobs.ts';
import { abandonedWorkBefore, unrecordedWorkBefore } from '../../projections/usageEvents.ts';
import { dueDeliveries, webhooksDue } from '../../projections/deliveries.ts';
import { failingSince, prunableDeliveries, webhookIdsOfTenant } from '../../projections/webhooks.ts';
import { TENANT } from './process.ts';
import { listsOf } from './lists.ts';
import { readModel } from './readModel.ts';
import { fraction } from './chance.ts';
import { EPOCH_MS } from './scheduler.ts';
import { burstWorld, randomWorld, SMALL } from './worlds.ts';

/** The tables of all read models, empty. Queries read from this schema. */
const SCHEMA = 'read';

const prepared = async (sql: Sql): Promise<void> => {
  await sql.script(`create schema ${SCHEMA}`);
  for (const { tables } of READ_MODELS) await sql.script(ddlOf(tables, SCHEMA));
};

const emptied = async (sql: Sql, { tables }: Projector): Promise<void> => {
  for (const { name } of tables) await sql.query(`delete from ${SCHEMA}.${name}`);
};

const eventsFor = ({ eventTypes }: Projector, events: readonly RecordedEvent[]): readonly ProjectedEvent[] =>
  events
    .filter(({ type }) => (eventTypes as readonly string[]).includes(type))
    .map((recorded) => ({ ...recorded, ...decodeAny(recorded) }));

/** Projects a log from nothing, and begins a new batch after each event for which `endsBatch` says so. */
const projected = async (
  sql: Sql,
  model: Projector,
  {
    events,
    endsBatch,
  }: { readonly events: readonly RecordedEvent[]; readonly endsBatch: (at: number) => boolean },
): Promise<string> => {
  await emptied(sql, model);
  const own = eventsFor(model, events);
  let batch: ProjectedEvent[] = [];
  for (const [at, event] of own.entries()) {
    batch.push(event);
    if (!endsBatch(at) && at < own.length - 1) continue;
    const now = batch;
    batch = [];
    await sql.transaction((tx) => model.apply(tx, { schema: SCHEMA, events: now }));
  }
  return JSON.stringify(await dumpReadModel(sql, model, SCHEMA), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
};

/** What the read model of balances says of an account. */
const standingIn = async (sql: Sql, tenant: string): Promise<Standing> => {
  const [row = {}] = await sql.query(
    `select balance_credits, held_credits, free_pages_used, free_pages_held
     from ${SCHEMA}.balances where tenant_id = $1`,
    [tenant],
  );
  return {
    ...{ balance: Number(row['balance_credits']), held: Number(row['held_credits']) },
    ...{ freeUsed: Number(row['free_pages_used']), freeHeld: Number(row['free_pages_held']) },
  };
};

/** Read models whose rows depend on where a log is cut into batches, each with how it was cut. */
const cutsThatDiffer = async (
  sql: Sql,
  events: readonly RecordedEvent[],
  seed: number,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const model of READ_MODELS) {
    const one = await projected(sql, model, { events, endsBatch: () => true });
    const some = await projected(sql, model, { events, endsBatch: (at) => fraction(seed, 'cut', at) < 0.3 });
    const whole = await projected(sql, model, { events, endsBatch: () => false });
    if (one !== whole) found.push(`${model.name}: one by one and in one batch`);
    else if (one !== some) found.push(`${model.name}: one by one and at random cuts`);
  }
  return found;
};

/** What the read models answer, by SQL and by the fold in memory, at some instants. */
const answersBoth = async (
  sql: Sql,
  events: readonly RecordedEvent[],
  instants: readonly string[],
): Promise<readonly { readonly question: string; readonly bySql: unknown; readonly inMemory: unknown }[]> => {
  for (const model of READ_MODELS) await projected(sql, model, { events, endsBatch: () => true });
  const rows = readModel(() => events);
  rows.advance();
  const { operations, jobs, batches, webhooks, accounts } = listsOf(rows.rows());
  const ids = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id);
  const answers: { question: string; bySql: unknown; inMemory: unknown }[] = [];
  const ask = async (question: string, bySql: Promise<unknown>, inMemory: unknown): Promise<void> => {
    answers.push({ question, bySql: await bySql, inMemory });
  };
  const named = (name: 'operation_id' | 'job_id') => (some: readonly object[]) =>
    some.map((one) => (one as Record<string, unknown>)[name]);
  const queues = [
    {
      name: 'operations',
      bySql: listsOn(operationLists, sql),
      inMemory: operations,
      idsOf: named('operation_id'),
    },
    { name: 'jobs', bySql: listsOn(jobLists, sql), inMemory: jobs, idsOf: named('job_id') },
  ];
  for (const now of instants) {
    for (const { name, bySql, inMemory, idsOf } of queues) {
      await ask(`${name} waiting`, bySql.waiting(now, 5).then(idsOf), ids(inMemory.waiting(now, 5)));
      await ask(`${name} expired`, bySql.expired(now, 5).then(idsOf), ids(inMemory.expired(now, 5)));
      await ask(`${name} orphans`, bySql.orphans(now, 5).then(idsOf), ids(inMemory.orphans(now, 5)));
    }
    await ask('abandoned', abandonedWorkBefore(sql)(now, 5), accounts.abandonedBefore(now, 5));
    await ask('expired holds', expiredHolds(sql)(now, 5), accounts.expiredHolds(now, 5));
    await ask('open claims', openClaimsBefore(sql)(now, 5), accounts.openClaimsBefore(now, 5));
    await ask('unrecorded', unrecordedWorkBefore(sql)(now, 5), accounts.unrecordedBefore(now, 5));
    await ask('documents left', documentsLeft(sql)(now, 5), batches.left(now, 5));
    await ask(
      'webhooks due',
      webhooksDue(sql)(now, []).then((some) => [...some].sort()),
      [...webhooks.webhooks(now, [])].sort(),
    );
    const size = { piece: 2, pieces: 3 };
    for (const tenant_id of [null, TENANT, 'another']) {
      const what = { before: now, now, tenant_id };
      await ask('prunable', prunableDeliveries(sql)(what, size), webhooks.prunable(what, size));
    }
    for (const id of rows.rows().webhooks.keys()) {
      const short = (some: readonly { readonly delivery_id: string }[]) =>
        some.map(({ delivery_id }) => delivery_id);
      await ask(
        'deliveries due',
        dueDeliveries(sql)(id, now, 4).then(short),
        short(webhooks.due(id, now, 4)),
      );
    }
  }
  for (const { name, bySql, inMemory, idsOf } of queues) {
    await ask(`${name} unsettled`, bySql.unsettled('', 5).then(idsOf), ids(inMemory.unsettled('', 5)));
    const marks = (some: readonly { readonly mark: string }[]) => some.map(({ mark }) => mark);
    await ask(`${name} running`, bySql.running(5).then(marks), marks(inMemory.running(5)));
  }
  await ask(
    'open operations',
    openOperationsOfTenant(sql)(TENANT, []),
    accounts.openOperationsOf(TENANT, []),
  );
  await ask('to begin', batchesToBegin(sql)(50, 5), batches.toBegin(50, 5));
  await ask('to cancel', operationsToCancel(sql)(5), batches.toCancel(5));
  await ask('to end', batchesToEnd(sql)(5), batches.toEnd(5));
  await ask('open batches', openBatchesOfTenant(sql)(TENANT), batches.openOfTenant(TENANT));
  await ask(
    'webhooks',
    webhookIdsOfTenant(sql)(TENANT).then((some) => [...some].sort()),
    [...webhooks.idsOf(TENANT)].sort(),
  );
  for (const id of rows.rows().batches.keys())
    await ask('progress', progressOfBatch(sql)(id), batches.progress(id));
  for (const id of rows.rows().webhooks.keys())
    await ask('failing since', failingSince(sql)(id), webhooks.failingSince(id));
  return answers;
};

/** Seeds that are tried each time. */
const FIXED = { from: 1, count: 40 };
/** Seeds in which a rule was broken once. */
const BROKEN_ONCE = [173, 180, 255, 5368, 659_728, 1_500_077, 912345872, 306800109];
const HOUR = 3_600_000;

const run = (seed: number, audits = true): Promise<Outcome> =>
  runWorld({ world: randomWorld(seed), plan: seededPlan(seed), seed, isWanted: () => false, audits });

const shownOf = ({ events, steps, findings }: Outcome) => ({
  steps,
  findings: findings.map(({ id, text, step }) => `${id} ${text} ${String(step)}`),
  events: events.map(({ id, type }) => `${type} ${id}`),
});

describe('the simulation of queued work', () => {
  it('is the same to the step for the same seed, also by the deviations that it took', async () => {
    const one = await run(9);
    expect(shownOf(await run(9))).to.deep.equal(shownOf(one));
    const again = replanned(9, deviationsIn(one.taken));
    expect(one.taken).not.to.be.empty;
    const told = await runWorld({ world: randomWorld(9), plan: again, seed: 9, isWanted: () => false });
    expect(shownOf(told)).to.deep.equal(shownOf(one));
  });

  it('is the same whatever timers of the machine do meanwhile', async () => {
    const alone = await run(9, false);
    // As another file of specs in the same process may leave one behind.
    const stray = setInterval(() => void setImmediate(() => undefined), 1);
    const beside = await run(9, false);
    clearInterval(stray);
    expect(shownOf(beside)).to.deep.equal(shownOf(alone));
  });

  it('leaves the time of the machine as it was', async () => {
    const clocks = () => [
      Object.getOwnPropertyDescriptors(Date)['now'],
      Object.getOwnPropertyDescriptors(Math)['random'],
      Object.getOwnPropertyDescriptor(performance, 'now'),
      Object.getOwnPropertyDescriptor(globalThis, 'setTimeout'),
    ];
    const before = clocks();
    await run(1, false);
    expect(clocks()).to.deep.equal(before);
  });

  it('finds nothing in a world in which all goes well, however many days pass', async () => {
    for (const name of ['operation', 'operation cancelled', 'own key', 'call', 'batch']) {
      const world = SMALL.find((one) => one.name === name)!;
      const plan = { deviation: () => undefined, latencyMs: () => 1 };
      const { findings, endedAt } = await runWorld({ world, plan, seed: name, isWanted: () => false });
      expect(findings, name).to.be.empty;
      expect(endedAt).to.be.above(60 * HOUR);
    }
  });

  it(`finds nothing in seeds ${String(FIXED.from)} to ${String(FIXED.count)}`, async () => {
    const { found, seed } = await seeds(randomWorld, FIXED, { isWanted: () => true, until: Infinity });
    expect(found?.finding, `SIM_SEED=${String(seed)}`).to.equal(undefined);
  });

  // Appends of one account in a row, not waited for, broke about every third of such worlds (ADR 53).
  it('finds nothing where processes write to one account in the same moment', async () => {
    const wanted = { isWanted: () => true, until: Infinity };
    const { found, seed } = await seeds(burstWorld, FIXED, wanted);
    expect(found?.finding, `burst ${String(seed)}`).to.equal(undefined);
  });

  it('finds nothing in seeds that have found something', async () => {
    for (const seed of BROKEN_ONCE) expect((await run(seed)).findings, String(seed)).to.deep.equal([]);
  });

  // Each world is around one question that the release before answered wrong.
  for (const { name } of SMALL)
    it(`finds nothing in the small world "${name}" in its first schedules`, async () => {
      const world = { ...SMALL.find((one) => one.name === name)!, healMs: HOUR };
      const bound = {
        deviations: 1,
        crashes: 1,
        kinds: [...PAUSES, ...FAILURES, ...CRASHES],
        isLeftOut: readsOnly,
      };
      const wanted = { isWanted: () => true, until: Infinity, runsMax: 30 };
      expect((await exhaust(world, bound, wanted)).found?.finding).to.equal(undefined);
    });
});

describe('read models of simulated logs', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await prepared(sql);
  });
  after(() => sql.close());

  it('answer in memory as they do by SQL', async () => {
    for (const seed of [2, 7, 15, 32]) {
      const { events, endedAt } = await run(seed, false);
      const instants = [0.001, 0.1, 12, 30].map((hours) => new Date(EPOCH_MS + hours * HOUR).toISOString());
      const last = new Date(EPOCH_MS + endedAt).toISOString();
      const half = events.slice(0, Math.ceil(events.length / 2));
      for (const log of [half, events])
        for (const { question, bySql, inMemory } of await answersBoth(sql, log, [...instants, last]))
          expect(inMemory, `${question}, seed ${String(seed)}`).to.deep.equal(bySql);
    }
  });

  it('have the balances and free pages that the book has, however a log is cut', async () => {
    const model = READ_MODELS.find(({ name }) => name === 'balances')!;
    for (const seed of [2, 9, 32]) {
      const { events, standings } = await run(seed, false);
      for (const share of [1, 0.3, 0]) {
        const endsBatch = (at: number) => fraction(seed, 'cut', at) < share;
        await projected(sql, model, { events, endsBatch });
        for (const [tenant, due] of standings)
          expect(await standingIn(sql, tenant), `${tenant}, seed ${String(seed)}`).to.deep.equal(due);
      }
    }
  });

  it('have the same rows however a log is cut', async () => {
    for (const seed of [1, 7, 9]) {
      const { events } = await run(seed, false);
      expect(await cutsThatDiffer(sql, events, seed)).to.deep.equal([]);
    }
  });
});
