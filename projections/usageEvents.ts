import {
  isWorkCompleted,
  isWorkFailed,
  isWorkRequested,
  operationOfKind,
  type UsageData,
  WORK_COMPLETED,
  WORK_FAILED,
  WORK_REQUESTED,
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../domain/workEvents.ts';
import { ratedOperation } from '../domain/account/messages.ts';
import { pick, type Projector, type Row, rowReader, table } from './engine/table.ts';
import { bulk, type BulkRow, inserting } from './engine/bulk.ts';
import { type ProjectedEvent, type SqlRow, type SqlTx, tenantOf } from './engine/ports.ts';
import { listing, telling } from './engine/query.ts';

/** Measured work, one row an extraction or conversion. The ledger has what it was billed. */
export const usageEvents = table({
  name: 'usage_events',
  key: ['id'],
  columns: {
    id: 'sorted',
    kind: 'text',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'text',
    task_id: 'text',
    document_id: 'text',
    document_sha256: 'text',
    mode: 'text',
    billing_type: 'text',
    model: 'text',
    ocr_model: 'text?',
    pages: 'int8',
    free_pages: 'int8?',
    hold_id: 'text?',
    api_key_id: 'text',
    state: 'text',
    problem_code: 'text?',
    duration_ms: 'int8?',
    requested_at: 'text',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(document_id)', `(requested_at) where state = 'running'`],
  fillfactor: 80,
});

/** Extractions and conversions that were burned and whose usage event is missing. */
export const unrecordedWork = table({
  name: 'unrecorded_work',
  key: ['operation_id'],
  columns: {
    operation_id: 'sorted',
    operation: 'text',
    tenant_id: 'sorted',
    pages: 'int8',
    free_pages: 'int8',
    status: 'text',
    duration_ms: 'int8',
    burned_at: 'sorted',
  },
  indexes: ['(burned_at)'],
});

const burn = inserting(unrecordedWork, { firstStands: true });
type Burned = Row<typeof unrecordedWork>;

const burnsIn = (event: ProjectedEvent): readonly Burned[] => {
  if (event.type !== 'CreditsBurned' || event.data.delivered === undefined) return [];
  const { operation_id, operation, pages, free_pages, delivered, created_at } = event.data;
  const { status, duration_ms } = delivered;
  const tenant_id = tenantOf(event);
  return [
    { operation_id, operation, tenant_id, pages, free_pages, status, duration_ms, burned_at: created_at },
  ];
};

const completedIn = (event: ProjectedEvent): readonly string[] =>
  isWorkCompleted(event) ? [idOf(event.data)] : [];

/** A burn opens a row, the usage event closes it: mostly both are in one batch, and nothing is written. */
const followBurns = async (tx: SqlTx, schema: string, events: readonly ProjectedEvent[]): Promise<void> => {
  const completed = new Set(events.flatMap(completedIn));
  const burns = events.flatMap(burnsIn);
  const open = burns.filter(({ operation_id }) => !completed.has(operation_id));
  for (const { operation_id } of burns) completed.delete(operation_id);
  await burn(tx, schema, open);
  if (completed.size > 0)
    await tx.query(`delete from ${schema}.unrecorded_work where operation_id = any($1::text[])`, [
      [...completed],
    ]);
};

const request = inserting(usageEvents, { firstStands: true });
/** Pages that are null stay as they were. */
const finished = bulk({
  ...pick(usageEvents.columns, 'id', 'state', 'free_pages', 'problem_code', 'duration_ms', 'finished_at'),
  pages: 'int8?',
});

/** A row that what follows in the same batch may still change. */
type UsageEventRow = { -readonly [Name in keyof Row<typeof usageEvents>]: Row<typeof usageEvents>[Name] };
type Requested = Extract<ProjectedEvent, { type: WorkRequestedType }>;

/** Written out, not spread: there is one for every operation. */
const requestOf = ({ data, position }: Requested): UsageEventRow => ({
  id: idOf(data),
  kind: workOfUsage(data).kind,
  tenant_id: data.tenant_id,
  position,
  project_id: data.project_id,
  task_id: data.task_id,
  document_id: data.document_id,
  document_sha256: data.document_sha256,
  mode: data.mode,
  billing_type: data.billing_type,
  model: data.model,
  ocr_model: data.ocr_model,
  pages: data.pages,
  free_pages: null,
  hold_id: data.hold_id,
  api_key_id: data.api_key_id,
  state: 'running',
  problem_code: null,
  duration_ms: null,
  requested_at: data.requested_at,
  finished_at: null,
});

const settled = bulk(pick(usageEvents.columns, 'id', 'billing_type', 'hold_id'));

interface Begun {
  readonly requests: ReadonlyMap<string, UsageEventRow>;
  /** What the burn says of requests of earlier batches. */
  readonly burns: readonly BulkRow<typeof settled>[];
}

/**
 * The billing type and the hold are those of the burn: a request whose own key was never used, or whose hold
 * expired, was held again after its event was written.
 */
const begunIn = (events: readonly ProjectedEvent[]): Begun => {
  const requests = new Map<string, UsageEventRow>();
  const burns = new Map<string, BulkRow<typeof settled>>();
  for (const event of events) {
    if (isWorkRequested(event)) {
      const id = idOf(event.data);
      // What the log says of work before it was asked for changes nothing, wherever a batch begins.
      burns.delete(id);
      if (!requests.has(id)) requests.set(id, requestOf(event));
    }
    if (event.type !== 'CreditsBurned' || event.data.hold_id === null) continue;
    const { operation_id: id, billing_type, hold_id } = event.data;
    const request = requests.get(id);
    if (request === undefined) burns.set(id, { id, billing_type, hold_id });
    else {
      request.billing_type = billing_type;
      request.hold_id = hold_id;
    }
  }
  return { requests, burns: [...burns.values()] };
};

type Finish = BulkRow<typeof finished>;
type Completed = Extract<ProjectedEvent, { type: WorkCompletedType }>;
type Failed = Extract<ProjectedEvent, { type: WorkFailedType }>;

const idOf = (data: UsageData): string => workOfUsage(data).id;

const completion = ({ data }: Completed): Finish => ({
  id: idOf(data),
  state: data.status,
  pages: data.pages,
  free_pages: data.free_pages,
  problem_code: null,
  duration_ms: data.duration_ms,
  finished_at: data.completed_at,
});

const failure = ({ data }: Failed): Finish => ({
  id: idOf(data),
  state: 'failed',
  pages: null,
  free_pages: null,
  problem_code: data.code,
  duration_ms: null,
  finished_at: data.failed_at,
});

const outcomes = (event: ProjectedEvent): readonly Finish[] => {
  if (isWorkCompleted(event)) return [completion(event)];
  if (isWorkFailed(event)) return [failure(event)];
  return [];
};

/** Ends the requests of the batch themselves: no row is written twice. What is left ends those of earlier batches. */
const endedLater = (
  events: readonly ProjectedEvent[],
  requests: ReadonlyMap<string, UsageEventRow>,
): readonly Finish[] => {
  // The last outcome of each: one statement must not meet a row twice.
  const later = new Map<string, Finish>();
  for (const event of events)
    for (const end of outcomes(event)) {
      const request = requests.get(end.id);
      if (request === undefined || event.position < request.position) later.set(end.id, end);
      else Object.assign(request, end, { pages: end.pages ?? request.pages });
    }
  return [...later.values()];
};

const SETTLE = (schema: string) => `
  update ${schema}.usage_events e set billing_type = u.billing_type, hold_id = u.hold_id
  from ${settled.source()}
  where e.id = u.id and (e.billing_type, e.hold_id) is distinct from (u.billing_type, u.hold_id)`;

const FINISH = (schema: string) => `
  update ${schema}.usage_events e
  set state = u.state, pages = coalesce(u.pages, e.pages), free_pages = u.free_pages,
    problem_code = u.problem_code, duration_ms = u.duration_ms, finished_at = u.finished_at
  from ${finished.source()} where e.id = u.id`;

/** Work on documents, running and done. */
export const usageEventsProjector: Projector = {
  name: 'usage_events',
  version: 6,
  eventTypes: ['CreditsBurned', ...WORK_REQUESTED, ...WORK_COMPLETED, ...WORK_FAILED],
  tables: [usageEvents, unrecordedWork],
  apply: async (tx, { schema, events }) => {
    const { requests, burns } = begunIn(events);
    const ended = endedLater(events, requests);
    // Before the requests of this batch: what comes before a request changes nothing of it.
    if (burns.length > 0) await tx.query(SETTLE(schema), settled.values(burns));
    if (ended.length > 0) await tx.query(FINISH(schema), finished.values(ended));
    await request(tx, schema, [...requests.values()]);
    await followBurns(tx, schema, events);
  },
};

const readUnrecorded = rowReader(unrecordedWork.columns);

/** Burned work on a document without its usage event. */
const unrecordedOf = (row: SqlRow) => {
  const work = readUnrecorded(row);
  return {
    ...work,
    operation: ratedOperation.parse(work.operation),
    status: work.status === 'partial' ? ('partial' as const) : ('success' as const),
  };
};

/** Burned before an instant and still without a usage event, oldest first. */
export const unrecordedWorkBefore = listing(
  'select * from read.unrecorded_work where burned_at < $1 order by burned_at, operation_id limit $2',
  (before: string, limit: number) => [before, limit],
  unrecordedOf,
);

const readAbandoned = rowReader(pick(usageEvents.columns, 'id', 'kind', 'tenant_id', 'pages', 'hold_id'));

/** Work is listed if it was asked for earlier. */
interface AbandonedBefore {
  readonly held: string;
  /** Of work that is not billed: no hold tells whether it is still done. */
  readonly unheld: string;
}

/**
 * Work that was asked for before an instant, and has neither an open hold nor a burn nor an end, oldest first: its
 * process died. Work of operations is closed by their workers.
 */
export const abandonedWorkBefore = listing(
  `select u.id, u.kind, u.tenant_id, u.pages, u.hold_id from read.usage_events u
   where u.state = 'running' and u.requested_at < case when u.hold_id is null then $2 else $1 end
     and not exists (select 1 from read.open_holds h where h.tenant_id = u.tenant_id and h.operation_id = u.id)
     and not exists (select 1 from read.unrecorded_work w where w.operation_id = u.id)
     and not exists (select 1 from read.operations o where o.work_id = u.id)
   order by u.requested_at, u.id limit $3`,
  ({ held, unheld }: AbandonedBefore, limit: number) => [held, unheld, limit],
  (row) => {
    const { id: operation_id, kind, tenant_id, pages, hold_id } = readAbandoned(row);
    const operation = operationOfKind(kind);
    return { operation_id, operation, tenant_id, pages, hold_id };
  },
);

/**
 * Extractions and conversions of a document, and the operations that they are; `is_open`: they wait, run or
 * are not billed yet. Operations that have not begun have no usage event.
 */
export const workOnDocument = listing(
  `select e.id as work_id, o.operation_id,
     (o.operation_id is not null and o.finished_at is null) or e.state = 'running' as is_open
   from read.usage_events e left join read.operations o on o.work_id = e.id where e.document_id = $1
   union select work_id, operation_id, true from read.operations where finished_at is null and document_id = $1`,
  (documentId: string) => [documentId],
  rowReader({ work_id: 'sorted', operation_id: 'sorted?', is_open: 'boolean' }),
);

/** Work that figures are computed from: a tenant's newest, so that a long history does not cost the database's time. */
export const OUTCOMES_OF = 10_000;
/** Failures that are reported. */
const FAILURES_MAX = 20;

interface OutcomesQuery {
  readonly tenant_id: string;
  /** Instants, both inclusive; undefined: from the first, or to the last. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** $1: the tenant, $2 and $3: when it was asked for. */
const LATEST = `
  with latest as (
    select * from read.usage_events where tenant_id = $1 order by position desc limit ${String(OUTCOMES_OF)}
  ), asked as (
    select * from latest where requested_at >= coalesce($2, '') and ($3::text is null or requested_at <= $3)
  )`;

const valuesOf = ({ tenant_id, from, to }: OutcomesQuery) => [tenant_id, from ?? null, to ?? null];

const figures = telling(
  `${LATEST}
  select count(*) filter (where state = 'success') as succeeded, count(*) filter (where state = 'partial') as partial,
    count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'running') as running,
    coalesce(sum(pages) filter (where state in ('success', 'partial')), 0)::int8 as pages,
    percentile_disc(0.5) within group (order by duration_ms) as median_ms,
    percentile_disc(0.95) within group (order by duration_ms) as p95_ms,
    (select min(requested_at) from latest having count(*) = ${String(OUTCOMES_OF)}) as counted_from
  from asked`,
  valuesOf,
  rowReader({
    succeeded: 'int8',
    partial: 'int8',
    failed: 'int8',
    running: 'int8',
    pages: 'int8',
    median_ms: 'int8?',
    p95_ms: 'int8?',
    counted_from: 'text?',
  }),
);

const readFailure = rowReader(
  pick(
    usageEvents.columns,
    'id',
    'kind',
    'document_id',
    'pages',
    'problem_code',
    'requested_at',
    'finished_at',
  ),
);

const failures = listing(
  `${LATEST}
  select id, kind, document_id, pages, problem_code, requested_at, finished_at from asked
  where state = 'failed' order by position desc limit ${String(FAILURES_MAX)}`,
  valuesOf,
  (row) => {
    const { id, kind, finished_at, requested_at, problem_code, ...members } = readFailure(row);
    return {
      id,
      operation: operationOfKind(kind),
      ...members,
      problem_code: problem_code ?? 'internal_error',
      failed_at: finished_at ?? requested_at,
    };
  },
);

/** What became of a tenant's work on documents, how long they took (ms), and which failed last. */
export const outcomesOfTenant = (sql: SqlTx) => async (asked: OutcomesQuery) => ({
  ...(await figures(sql)(asked)),
  failures: await failures(sql)(asked),
});
