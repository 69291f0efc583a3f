import { expect } from 'chai';
import fc from 'fast-check';
import { decodeAny } from '../../domain/catalogue.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf, type Projector } from '../../projections/engine/table.ts';
import { erasedOfJobs } from '../../projections/documents.ts';
import { evaluationsOfDocument } from '../../projections/evaluations.ts';
import { artifactsEverOf, heldByTenant, jobsEverOf, runsEverOf } from '../../projections/held.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { jobsLearningFrom } from '../../projections/trainingJobs.ts';
import { emptySql } from '../support/emptySql.ts';
import { belongingAnswers } from './belongings.ts';
import type { Standing } from './book.ts';
import { fraction } from './chance.ts';
import { seededPlan } from './explore.ts';
import { listsOf } from './lists.ts';
import { TENANT } from './process.ts';
import { readModel } from './readModel.ts';
import { runWorld, type Outcome } from './run.ts';
import { listsBySql, type ListsBySql, TAKEN } from './sqlLists.ts';
import { randomWorld, type World } from './worlds.ts';

const HOUR = 3_600_000;

/** The tables of all read models, empty. Queries read from this schema. */
const SCHEMA = 'read';

const prepared = async (sql: Sql): Promise<void> => {
  await sql.script(`create schema ${SCHEMA}`);
  for (const { tables } of READ_MODELS) await sql.script(ddlOf(tables, SCHEMA));
};

const emptied = (sql: Sql, models: readonly Projector[]): Promise<void> =>
  sql.script(
    models.flatMap(({ tables }) => tables.map(({ name }) => `delete from ${SCHEMA}.${name}`)).join(';'),
  );

const decoded = (events: readonly RecordedEvent[]): readonly ProjectedEvent[] =>
  events.map((recorded) => ({ ...recorded, ...decodeAny(recorded) }));

/** Goes on with a batch, as the engine does. */
const applied = async (sql: Sql, model: Projector, batch: readonly ProjectedEvent[]): Promise<void> => {
  const events = batch.filter(({ type }) => model.eventTypes.includes(type));
  if (events.length > 0) await sql.transaction((tx) => model.apply(tx, { schema: SCHEMA, events }));
};

/** Projects a log from nothing, and begins a new batch after each event for which `endsBatch` says so. */
const projected = async (
  sql: Sql,
  model: Projector,
  {
    events,
    endsBatch,
  }: { readonly events: readonly ProjectedEvent[]; readonly endsBatch: (at: number) => boolean },
): Promise<string> => {
  await emptied(sql, [model]);
  let batch: ProjectedEvent[] = [];
  for (const [at, event] of events.entries()) {
    batch.push(event);
    if (!endsBatch(at) && at < events.length - 1) continue;
    await applied(sql, model, batch);
    batch = [];
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
    balance: Number(row['balance_credits']),
    held: Number(row['held_credits']),
    freeUsed: Number(row['free_pages_used']),
    freeHeld: Number(row['free_pages_held']),
  };
};

/** Read models whose rows depend on where a log is cut into batches, each with how it was cut. */
const cutsThatDiffer = async (
  sql: Sql,
  log: readonly RecordedEvent[],
  seed: number,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const model of READ_MODELS) {
    const events = decoded(log).filter(({ type }) => model.eventTypes.includes(type));
    const one = await projected(sql, model, { events, endsBatch: () => true });
    const some = await projected(sql, model, { events, endsBatch: (at) => fraction(seed, 'cut', at) < 0.3 });
    const whole = await projected(sql, model, { events, endsBatch: () => false });
    if (one !== whole) found.push(`${model.name}: one by one and in one batch`);
    else if (one !== some) found.push(`${model.name}: one by one and at random cuts`);
  }
  return found;
};

/** Read models that the lists of workers are made of. */
const LISTED = [
  'balances',
  'usage_events',
  'operations',
  'training_jobs',
  'batches',
  'evaluations',
  'documents',
  'webhooks',
  'open_claims',
  'api_keys',
  'saved_configs',
  'master_tables',
  'deployments',
  'artifacts',
];
const MODELS = READ_MODELS.filter(({ name }) => LISTED.includes(name));

type Lists = ReturnType<typeof listsOf>;
/** Asks the same of both. */
type Ask = (question: string, of: (lists: Lists | ListsBySql) => unknown) => Promise<void>;

/** Answers in no order. */
const UNORDERED =
  /^(?:webhooks due|removed|work on|belongings|artifacts|jobs ever|runs ever|learning|keeping|erased of)/;
const textIn = (value: unknown): string => JSON.stringify(value);
const shownAs = (question: string, answer: unknown): unknown => {
  if (answer instanceof Set) return [...(answer as ReadonlySet<string>)].sort();
  if (!UNORDERED.test(question) || !Array.isArray(answer)) return answer;
  return [...(answer as readonly unknown[])].sort((a, b) => (textIn(a) < textIn(b) ? -1 : 1));
};

/** When and how much is asked for. */
interface Asked {
  readonly now: string;
  readonly limit: number;
}

const askQueues = async (ask: Ask, { now, limit }: Asked): Promise<void> => {
  for (const kind of ['operations', 'jobs'] as const) {
    await ask(`${kind} waiting`, (one) => one[kind].waiting(now, limit));
    await ask(`${kind} running`, (one) => one[kind].running(limit));
    await ask(`${kind} expired`, (one) => one[kind].expired(now, limit));
    await ask(`${kind} unsettled`, (one) => one[kind].unsettled('', limit));
    await ask(`${kind} orphans`, (one) => one[kind].orphans(now, limit));
  }
  await ask('long operations', ({ operations }) => operations.longRunning(1, limit));
};

const askBatches = async (ask: Ask, ids: readonly string[], { now, limit }: Asked): Promise<void> => {
  for (const open of [1, 50]) await ask('to begin', ({ batches }) => batches.toBegin(open, limit, []));
  await ask('documents left', ({ batches }) => batches.left(now, limit, []));
  const some = ids.slice(0, 1);
  await ask('to begin but one', ({ batches }) => batches.toBegin(50, limit, some));
  await ask('documents left but one', ({ batches }) => batches.left(now, limit, some));
  await ask('to cancel', ({ batches }) => batches.toCancel(limit));
  await ask('to end', ({ batches }) => batches.toEnd(limit));
  await ask('to score', ({ batches }) => batches.toScore(limit, []));
  for (const tenant of [TENANT, 'u'])
    await ask('open batches', ({ batches }) => batches.openOfTenant(tenant));
  for (const id of ids) await ask('progress', ({ batches }) => batches.progress(id));
};

const askWebhooks = async (ask: Ask, ids: readonly string[], { now, limit }: Asked): Promise<void> => {
  await ask('webhooks due', ({ webhooks }) => webhooks.webhooks(now, ids.slice(1, 2)));
  await ask('removed', ({ webhooks }) => webhooks.removed(ids));
  const size = { piece: 2, pieces: limit };
  for (const tenant_id of [null, TENANT, 'u'])
    await ask('prunable', ({ webhooks }) => webhooks.prunable({ before: now, now, tenant_id }, size));
  for (const tenant of [TENANT, 'u']) await ask('webhooks', ({ webhooks }) => webhooks.idsOf(tenant));
  for (const id of ids) {
    await ask('deliveries due', ({ webhooks }) => webhooks.due(id, now, limit));
    await ask('failing since', ({ webhooks }) => webhooks.failingSince(id));
  }
};

const askAccounts = async (ask: Ask, { now, limit }: Asked): Promise<void> => {
  await ask('abandoned', ({ accounts }) => accounts.abandonedBefore({ held: now, unheld: now }, limit));
  await ask('expired holds', ({ accounts }) => accounts.expiredHolds(now, limit));
  await ask('open claims', ({ accounts }) => accounts.openClaimsBefore(now, limit));
  await ask('open transfers', ({ accounts }) => accounts.openTransfersBefore(now, limit));
  await ask('unrecorded', ({ accounts }) => accounts.unrecordedBefore(now, limit));
  for (const tenant of [TENANT, 'u'])
    await ask('open operations', ({ accounts }) => accounts.openOperationsOf(tenant, []));
};

const askDocuments = async (ask: Ask, names: readonly string[], position: bigint): Promise<void> => {
  await ask('any erased', ({ documents }) => documents.anyErased());
  await ask('erased', ({ documents }) => documents.erasedAmong(names));
  await ask('awaited', ({ documents }) => documents.awaitedOf(names));
  for (const tenant_id of [TENANT, 'u'])
    await ask('held', ({ documents }) => documents.heldBy({ tenant_id, position }));
  for (const name of names) await ask('work on', ({ documents }) => documents.workOn(name));
};

/** What tenants keep beside documents. */
const askBelongings = async (
  sql: Sql,
  same: (question: string, is: unknown, due: unknown) => void,
  { events, position }: { readonly events: readonly ProjectedEvent[]; readonly position: bigint },
): Promise<void> => {
  const answers = belongingAnswers(events);
  const documents = events.flatMap(({ type, data }) => {
    if (type === 'EvaluationSetPublished') return data.examples.map(({ document_id }) => document_id);
    if (type === 'BatchAccepted') return data.document_ids;
    return type === 'TrainingJobCreated' ? (data.document_ids ?? []) : [];
  });
  const jobs = events.flatMap(({ type, data }) => (type === 'TrainingJobCreated' ? [data.job_id] : []));
  for (const tenant_id of [TENANT, 'u']) {
    const upTo = { tenant_id, position };
    const held = await heldByTenant(sql)(upTo);
    same(
      'belongings held',
      answers.heldBy(upTo),
      held.filter(({ kind }) => !TAKEN.has(kind)),
    );
    const learned = answers.learnedBy(upTo);
    same('artifacts', learned.artifacts, await artifactsEverOf(sql)(upTo));
    same('jobs ever', learned.jobs, await jobsEverOf(sql)(upTo));
    same('runs ever', learned.runs, await runsEverOf(sql)(upTo));
    for (const document_id of new Set(documents))
      for (const open of [true, false]) {
        const document = { document_id, tenant_id };
        const due = await jobsLearningFrom(sql)([document], { open });
        same('learning', answers.learningFrom(document, { open }), due);
      }
  }
  for (const id of new Set(documents))
    same('keeping', answers.keeping(id), await evaluationsOfDocument(sql)(id));
  same('erased of jobs', answers.erasedOfJobs(jobs), await erasedOfJobs(sql)(jobs));
};

/** A log, and what is asked after so many thousandths of it. */
interface Reading {
  readonly seed: number;
  /** Nothing of this type was written: more waits than otherwise. */
  readonly without: string;
  readonly cuts: readonly { readonly share: number; readonly lateMs: number; readonly limit: number }[];
}

const MINUTE = 60_000;
const LEFT_OUT = [
  'nothing',
  'nothing',
  'CreditsBurned',
  'HoldReleased',
  'ExtractionCompleted',
  'ExtractionFailed',
  'OperationStarted',
  'OperationSucceeded',
  'TrainingJobSucceeded',
  'BatchEnded',
  'EvaluationScored',
  'EvaluationScored',
  'WebhookDeliveryAttempted',
  'BatchDocumentsBegun',
  'DocumentErased',
  'CreditsGranted',
];
const READING: fc.Arbitrary<Reading> = fc.record({
  seed: fc.nat(2 ** 31),
  without: fc.constantFrom(...LEFT_OUT),
  cuts: fc.array(
    fc.record({
      share: fc.integer({ min: 1, max: 1_000 }),
      lateMs: fc.constantFrom(-MINUTE, 0, 1, 1_000, 12 * MINUTE, HOUR, 30 * HOUR),
      limit: fc.constantFrom(1, 2, 3, 50),
    }),
    { minLength: 5, maxLength: 7 },
  ),
});

/** A log in which credits have left one tenant and have not arrived at the other yet. */
const TRANSFERS_OPEN: Reading = {
  seed: 829_353_581,
  without: 'HoldReleased',
  cuts: [{ share: 108, lateMs: 1, limit: 1 }],
};

const run = (seed: number, world = randomWorld(seed)): Promise<Outcome> =>
  runWorld({
    world: { ...world, healMs: HOUR },
    plan: seededPlan(seed),
    seed,
    isWanted: () => false,
    audits: false,
  });

/** Those who take part in three worlds, so that lists have more than an entry; `measures`: all batches are runs. */
const crowd = (seed: number, measures: boolean): World => ({
  ...randomWorld(seed),
  balance: 5_000,
  others: [{ id: 'u', balance: 2_000, plan: 'paid' }],
  actors: [0, 1, 2].flatMap((more) =>
    randomWorld(seed + more).actors.map((actor) => {
      if (!('key' in actor)) return actor;
      const key = `${actor.key} ${String(more)}`;
      return measures && actor.kind === 'batch' ? { ...actor, key, measured: true } : { ...actor, key };
    }),
  ),
});

/** Documents that the log names, and work. */
const namesIn = (events: readonly ProjectedEvent[]): readonly string[] => [
  ...new Set(
    events.flatMap(({ type, data }) => {
      if (type === 'ExtractionRequested') return [data.extraction_id, data.document_id];
      return type === 'DocumentRegistered' ? [data.document_id] : [];
    }),
  ),
];

/** Without keys that were issued again: here a name has one secret in each try; in the product no two are the same. */
const onceIssued = (log: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const hashes = new Set<unknown>();
  return log.filter(({ type, data }) => {
    if (type !== 'ApiKeyIssued') return true;
    const hash = (data as Readonly<Record<string, unknown>>)['key_hash'];
    const isFirst = !hashes.has(hash);
    hashes.add(hash);
    return isFirst;
  });
};

/** Projects a log as far as each cut, and asks everything there. */
const compared = async (
  sql: Sql,
  { seed, cuts, without }: Reading,
  asked: Map<string, number>,
): Promise<void> => {
  const written = (await run(seed, crowd(seed, without === 'EvaluationScored'))).events;
  const log = onceIssued(written).filter(({ type }) => type !== without);
  const events = decoded(log);
  await emptied(sql, MODELS);
  const inMemory = readModel(() => log);
  const bySql = listsBySql(sql);
  for (const { share, lateMs, limit } of [...cuts].sort((a, b) => a.share - b.share)) {
    const end = Math.ceil((share / 1_000) * log.length);
    for (const model of MODELS) await applied(sql, model, events.slice(inMemory.applied(), end));
    inMemory.advance(end);
    const rows = inMemory.rows();
    const lists = listsOf(rows);
    const same = (question: string, is: unknown, due: unknown): void => {
      const [shown, wanted] = [shownAs(question, is), shownAs(question, due)];
      expect(shown, `${question} at ${String(end)}`).to.deep.equal(wanted);
      if (textIn(wanted) !== '[]') asked.set(question, (asked.get(question) ?? 0) + 1);
    };
    const ask: Ask = async (question, of) => {
      same(question, of(lists), await of(bySql));
    };
    const [last] = events.slice(end - 1, end);
    const at = {
      now: new Date(Date.parse(last?.metadata['recorded_at'] as string) + lateMs).toISOString(),
      limit,
    };
    await askQueues(ask, at);
    await askBatches(ask, [...rows.batches.keys()], at);
    await askWebhooks(ask, [...rows.webhooks.keys()], at);
    await askAccounts(ask, at);
    const position = events[Math.max(0, Math.ceil((end * limit) / 50) - 1)]?.position ?? 0n;
    await askBelongings(sql, same, { events: events.slice(0, end), position });
    await askDocuments(ask, namesIn(events.slice(0, end)), BigInt(Math.ceil((end * limit) / 50)));
  }
};

describe('read models of simulated logs', () => {
  let sql: Sql;
  before(async () => {
    sql = await emptySql();
    await prepared(sql);
  });
  after(() => sql.close());

  it('tell workers the same in memory as by SQL, of any log at any moment', async () => {
    const asked = new Map<string, number>();
    const same = fc.asyncProperty(READING, (reading) => compared(sql, reading, asked));
    // The reading of a past finding comes first. A finding is told as it is: to make it smaller takes minutes.
    await fc.assert(same, { numRuns: 40, examples: [[TRANSFERS_OPEN]], endOnFailure: true });
    expect(asked.size, 'questions with an answer that says something').to.be.above(20);
  });

  it('have the balances and free pages that the book has, however a log is cut', async () => {
    const model = READ_MODELS.find(({ name }) => name === 'balances')!;
    for (const seed of [2, 9, 32]) {
      const { events, standings } = await run(seed);
      for (const share of [1, 0.3, 0]) {
        const endsBatch = (at: number) => fraction(seed, 'cut', at) < share;
        await projected(sql, model, { events: decoded(events), endsBatch });
        for (const [tenant, due] of standings)
          expect(await standingIn(sql, tenant), `${tenant}, seed ${String(seed)}`).to.deep.equal(due);
      }
    }
  });

  it('have the same rows however a log is cut', async () => {
    for (const seed of [1, 7, 9]) {
      const { events } = await run(seed);
      expect(await cutsThatDiffer(sql, events, seed)).to.deep.equal([]);
    }
  });
});
