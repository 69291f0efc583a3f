import { pick, type Projector, rowReader, table, textOf, wholeOf } from './engine/table.ts';
import { pagingOfTagged, tagsColumn, tagTable, taggingIn } from './engine/tagged.ts';
import { operationIdOfDocument } from '../domain/batch.ts';
import type { Tags } from '../domain/kernel/tags.ts';
import { inserting, updating } from './engine/bulk.ts';
import { only, type ProjectedEventOf, type SqlRow } from './engine/ports.ts';
import { finding, listing, type Page, telling } from './engine/query.ts';
import { sortBy, sortsBy } from './engine/sorts.ts';

/** Batches as they stand. What came of one is null until it has ended. */
export const batches = table({
  name: 'batches',
  key: ['batch_id'],
  columns: {
    batch_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    /** Those that it was accepted with. */
    tags: 'jsonb?',
    kind: 'text',
    documents: 'int4',
    begun: 'int4',
    expires_at: 'sorted',
    accepted_at: 'sorted',
    started_at: 'text?',
    cancelled_at: 'text?',
    finished_at: 'text?',
    succeeded: 'int4?',
    partial: 'int4?',
    failed: 'int4?',
    cancelled: 'int4?',
    pages: 'int8?',
    credits_charged: 'int8?',
  },
  indexes: ['(tenant_id, position desc)', '(position) where finished_at is null'],
});

/** Documents of batches by their place in the list. What became of one its operation says, where there is one. */
export const batchDocuments = table({
  name: 'batch_documents',
  rowsOf: 'batch_id in (select batch_id from {schema}.batches where tenant_id = $1)',
  key: ['batch_id', 'index'],
  columns: {
    batch_id: 'sorted',
    index: 'int4',
    document_id: 'sorted',
    operation_id: 'sorted',
    begun_at: 'sorted?',
    /** Why no operation came of it. */
    problem_code: 'text?',
  },
});

/** Tags of batches. */
export const batchTags = tagTable('batch_tags');

const accept = inserting(batches, { firstStands: true });
const tag = taggingIn(batchTags);
const list = inserting(batchDocuments, { firstStands: true });
const begin = updating(batches, 'batch_id', 'begun');
const start = updating(batches, 'batch_id', 'started_at');
const cancel = updating(batches, 'batch_id', 'cancelled_at');
const end = updating(
  batches,
  'batch_id',
  'finished_at',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
  'pages',
  'credits_charged',
);
const beginDocument = updating(batchDocuments, 'batch_id', 'index', 'begun_at');
const refuseDocument = updating(batchDocuments, 'batch_id', 'index', 'problem_code');

type Accepted = ProjectedEventOf<'BatchAccepted'>;
type Begun = ProjectedEventOf<'BatchDocumentsBegun'>;

const NOTHING_YET = {
  begun: 0,
  started_at: null,
  cancelled_at: null,
  finished_at: null,
  succeeded: null,
  partial: null,
  failed: null,
  cancelled: null,
  pages: null,
  credits_charged: null,
};

const rowOf = ({ data, position }: Accepted) => ({
  ...data,
  ...NOTHING_YET,
  tags: tagsColumn(data),
  position,
  documents: data.document_ids.length,
});

const documentsOf = ({ data: { batch_id, tenant_id, document_ids } }: Accepted) =>
  document_ids.map((document_id, index) => ({
    batch_id,
    index,
    document_id,
    begun_at: null,
    problem_code: null,
    operation_id: operationIdOfDocument({ tenant_id, batch_id, index }),
  }));

/** One row a batch: the last says how many are begun. */
const furthest = (events: readonly Begun[]) => [
  ...new Map(
    events.map(({ data: { batch_id, first, count } }) => [batch_id, { batch_id, begun: first + count }]),
  ).values(),
];

const begunDocuments = ({ data: { batch_id, first, count, begun_at } }: Begun) =>
  Array.from({ length: count }, (_, at) => ({ batch_id, index: first + at, begun_at }));

/** Batches, and the place of each of their documents. */
export const batchesProjector: Projector = {
  name: 'batches',
  version: 2,
  eventTypes: [
    'BatchAccepted',
    'BatchDocumentsBegun',
    'BatchDocumentsRefused',
    'BatchCancelled',
    'BatchEnded',
  ],
  tables: [batches, batchDocuments, batchTags],
  apply: async (tx, { schema, events }) => {
    const accepted = only(events, 'BatchAccepted');
    const begun = only(events, 'BatchDocumentsBegun');
    const refused = only(events, 'BatchDocumentsRefused').flatMap(({ data: { batch_id, refused: some } }) =>
      some.map(({ index, code: problem_code }) => ({ batch_id, index, problem_code })),
    );
    const started = begun
      .filter(({ data }) => data.first === 0)
      .map(({ data: { batch_id, begun_at: started_at } }) => ({ batch_id, started_at }));
    const ended = only(events, 'BatchEnded').map(({ data }) => ({ ...data, finished_at: data.ended_at }));
    await accept(tx, schema, accepted.map(rowOf));
    await list(tx, schema, accepted.flatMap(documentsOf));
    await tag(
      tx,
      schema,
      accepted.map(({ data }) => ({ ...data, work: data.batch_id })),
    );
    await begin(tx, schema, furthest(begun));
    await start(tx, schema, started);
    await beginDocument(tx, schema, begun.flatMap(begunDocuments));
    await refuseDocument(tx, schema, refused);
    await cancel(
      tx,
      schema,
      only(events, 'BatchCancelled').map(({ data }) => data),
    );
    await end(tx, schema, ended);
  },
};

/**
 * What became of each document of the batches `b` that are chosen. Work that is done and not paid for yet is
 * running still; what was not begun when its batch was cancelled is cancelled.
 */
const outcomes = (chosen: string): string => `
  select d.batch_id, d.index, d.operation_id, o.pages, o.credits_charged, case
      when o.operation_id is null and d.problem_code is not null
        then case when d.problem_code = 'cancelled' then 'cancelled' else 'failed' end
      when o.operation_id is null
        then case when d.begun_at is null and b.cancelled_at is not null then 'cancelled' else 'queued' end
      when o.status in ('succeeded', 'partial') and o.hold_id is not null and o.credits_charged is null
        then 'running'
      else o.status
    end as status
  from read.batches b join read.batch_documents d on d.batch_id = b.batch_id
    left join read.operations o on o.operation_id = d.operation_id
  where ${chosen}`;

const STATUSES = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const;

/** How many documents have which outcome. */
export type BatchCounts = Readonly<Record<(typeof STATUSES)[number], number>>;

const countsIn = (row: SqlRow): BatchCounts =>
  Object.fromEntries(STATUSES.map((status) => [status, wholeOf(row, status)])) as BatchCounts;

/** What was delivered, and what was paid for it. */
const progressIn = (row: SqlRow) => ({
  counts: countsIn(row),
  pages: wholeOf(row, 'pages'),
  credits_charged: wholeOf(row, 'credits_charged'),
});
export type BatchProgress = ReturnType<typeof progressIn>;

const COUNTED = [
  ...STATUSES.map((status) => `count(*) filter (where status = '${status}') as ${status}`),
  `coalesce(sum(pages) filter (where status in ('succeeded', 'partial')), 0)::int8 as pages`,
  `coalesce(sum(credits_charged), 0)::int8 as credits_charged`,
].join(', ');

/** How far a batch is. */
export const progressOfBatch = finding(
  `select ${COUNTED} from (${outcomes('b.batch_id = $1')}) documents`,
  (batchId: string) => [batchId],
  progressIn,
);

/** A batch, and whose it is. */
const nameColumns = pick(batches.columns, 'batch_id', 'tenant_id');

/**
 * Batches with documents to begin, but `except`, and how many of theirs are begun and have not ended: the oldest of
 * each tenant, then the second of each.
 */
export const batchesToBegin = listing(
  `select batch_id, tenant_id, open from (
     select b.batch_id, b.tenant_id, b.position,
       (select count(*) from read.batch_documents d left join read.operations o on o.operation_id = d.operation_id
         where d.batch_id = b.batch_id and d.begun_at is not null
           and case when o.operation_id is null then d.problem_code is null else o.finished_at is null end) as open,
       row_number() over (partition by b.tenant_id order by b.position) as turn
     from read.batches b
     where b.finished_at is null and b.cancelled_at is null and b.begun < b.documents
       and b.batch_id <> all($3::text[])
   ) waiting where open < $1 order by turn, position limit $2`,
  (openMax: number, limit: number, except: readonly string[]) => [openMax, limit, except],
  (row) => ({ ...rowReader(nameColumns)(row), open: wholeOf(row, 'open') }),
);

/**
 * Documents begun before `before` without an outcome, but `except`: they wait, or the worker that began them may have
 * died. Those of a cancelled batch wait for nothing.
 */
export const documentsLeft = listing(
  `select b.batch_id, b.tenant_id, b.cancelled_at, d.index from read.batches b
     join read.batch_documents d on d.batch_id = b.batch_id
   where b.finished_at is null and d.problem_code is null
     and (b.cancelled_at is not null and d.begun_at is not null
       or d.begun_at < $1 and b.batch_id <> all($3::text[])
         and b.batch_id || '/' || d.index::text <> all($3::text[]))
     and not exists (select 1 from read.operations o where o.operation_id = d.operation_id)
   order by d.begun_at, b.batch_id, d.index limit $2`,
  (before: string, limit: number, except: readonly string[]) => [before, limit, except],
  rowReader({
    ...nameColumns,
    ...pick(batches.columns, 'cancelled_at'),
    ...pick(batchDocuments.columns, 'index'),
  }),
);

/** Operations of cancelled batches that nobody has started. */
export const operationsToCancel = listing(
  `select o.operation_id, b.tenant_id from read.batches b
     join read.batch_documents d on d.batch_id = b.batch_id
     join read.operations o on o.operation_id = d.operation_id
   where b.finished_at is null and b.cancelled_at is not null and o.status = 'queued' and o.attempt = 0
   order by o.position limit $1`,
  (limit: number) => [limit],
  rowReader({ operation_id: 'text', tenant_id: 'text' }),
);

/** Batches whose documents all have their outcome, and that are not said to have ended. */
export const batchesToEnd = listing(
  `select b.batch_id, b.tenant_id from read.batches b
   where b.finished_at is null and (b.cancelled_at is not null or b.begun = b.documents)
     and not exists (select 1 from (${outcomes('b.finished_at is null')}) d
       where d.batch_id = b.batch_id and d.status in ('queued', 'running'))
   order by b.position limit $1`,
  (limit: number) => [limit],
  rowReader(nameColumns),
);

/** Those of the documents that a batch names which has not ended. */
export const awaitedDocuments = listing(
  `select distinct d.document_id from read.batches b join read.batch_documents d on d.batch_id = b.batch_id
   where b.finished_at is null and d.document_id = any($1::text[])`,
  (documentIds: readonly string[]) => [documentIds],
  (row) => textOf(row, 'document_id'),
);

/** All batches that have not ended: how many, and when the oldest was accepted (null: there is none). */
export const openBatchesSummary = telling(
  'select count(*) as count, min(accepted_at) as oldest_at from read.batches where finished_at is null',
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);

/** Batches of a tenant that have not ended. */
export const openBatchesOfTenant = listing(
  'select batch_id from read.batches where tenant_id = $1 and finished_at is null order by position',
  (tenantId: string) => [tenantId],
  (row) => textOf(row, 'batch_id'),
);

/** Which batches of a tenant to list. */
interface BatchesQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  /** Tags that it must have. */
  readonly tag?: Tags | undefined;
  /** Inclusive. */
  readonly accepted_after?: string | undefined;
}

const STATUS = `case
    when finished_at is not null then case when cancelled_at is null then 'ended' else 'cancelled' end
    when cancelled_at is not null then 'cancelling'
    when begun > 0 then 'running'
    else 'queued'
  end`;

const CHOSEN = `from (select *, ${STATUS} as status from read.batches) batches
  where tenant_id = $1
    and ($2::text is null or status = $2)
    and ($3::text is null or project_id = $3)
    and ($4::text is null or task_id = $4)
    and ($5::text is null or accepted_at >= $5)`;

const listed = rowReader({
  ...pick(
    batches.columns,
    'batch_id',
    'tenant_id',
    'project_id',
    'task_id',
    'kind',
    'documents',
    'begun',
    'accepted_at',
    'started_at',
    'finished_at',
    'pages',
    'credits_charged',
  ),
  status: 'text',
});

/** A tenant's batches, newest first, and how many there are in all. */
export const batchesOfTenant = pagingOfTagged(
  {
    name: 'batches',
    chosen: CHOSEN,
    tags: batchTags,
    id: 'batch_id',
    sorts: {
      ...sortsBy(batches.columns, 'batch_id', 'project_id', 'task_id'),
      operation: sortBy(batches.columns, 'kind'),
      status: { by: '(status collate "C")', as: 'text' },
      ...sortsBy(batches.columns, 'documents', 'accepted_at', 'started_at', 'finished_at'),
      pages_done: sortBy(batches.columns, 'pages'),
      credits_used: sortBy(batches.columns, 'credits_charged'),
    },
    searched: { columns: ['batch_id', 'project_id', 'task_id', 'kind', 'status'] },
    values: (query: BatchesQuery) => [
      query.tenant_id,
      query.status ?? null,
      query.project_id ?? null,
      query.task_id ?? null,
      query.accepted_after ?? null,
    ],
  },
  listed,
);
