import { pick, type Projector, rowReader, table, textOf } from './engine/table.ts';
import { finding, listing, type Page, telling } from './engine/query.ts';
import { pagingOfTagged, tagsColumn, tagTable, taggingIn } from './engine/tagged.ts';
import { moveQueue, QUEUE_INDEXES, QUEUED, queueLists } from './queue.ts';
import { bulk, inserting, updating } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';
import { NO_END, isRated, ratedOperation } from '../domain/account/messages.ts';
import type { Tags } from '../domain/kernel/tags.ts';
import { sortBy, sortsBy } from './engine/sorts.ts';

/**
 * What has not ended, by its kind and how it stands: operations, batches, training jobs, and the reviews that can be
 * decided at `now`, of all tenants.
 */
export const openWorkByStatus = listing(
  `select 'operations' as kind, status, count(*) as count from read.operations
     where finished_at is null group by status
   union all select 'batches', case when cancelled_at is not null then 'cancelling'
       when started_at is null then 'queued' else 'running' end as status, count(*) from read.batches
     where finished_at is null group by 2
   union all select 'training_jobs', status, count(*) from read.training_jobs
     where finished_at is null group by status
   union all select 'reviews', case when r.lease_until > $1 then 'leased' else 'open' end, count(*)
     from read.reviews r join read.operations o on o.operation_id = r.operation_id
       left join read.documents d on d.document_id = o.document_id
     where r.decided_at is null and r.kept_until > $1 and d.erased_at is null group by 2
   order by 1, 2`,
  (now: string) => [now],
  rowReader({ kind: 'text', status: 'text', count: 'int8' }),
);

/**
 * Operations as they stand. `ready_at`: from when on a worker may claim it, or until when its lease is. What it cost
 * is null until it was burned.
 */
export const operations = table({
  name: 'operations',
  key: ['operation_id'],
  columns: {
    operation_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    /** Those that it was accepted with. */
    tags: 'jsonb?',
    kind: 'text',
    work_id: 'sorted',
    document_id: 'sorted',
    /** Of a file that came with the request; 0 for uploads, and for operations of older releases. */
    file_bytes: 'int8',
    pages: 'int8',
    status: 'text',
    attempt: 'int4',
    ready_at: 'sorted',
    expires_at: 'sorted',
    problem_code: 'text?',
    hold_id: 'sorted?',
    /** Always false: replicas of the release before still name it (ADR 17). */
    hold_closed: 'boolean',
    credits_charged: 'int8?',
    free_pages: 'int8?',
    balance_after: 'int8?',
    charged_at: 'text?',
    accepted_at: 'sorted',
    started_at: 'text?',
    finished_at: 'text?',
    /** The batch that the parts of a stack become. */
    then_batch_id: 'sorted?',
  },
  indexes: [
    '(tenant_id, position desc)',
    '(work_id)',
    '(then_batch_id) where then_batch_id is not null',
    ...QUEUE_INDEXES,
  ],
});

/** Tags of operations. */
export const operationTags = tagTable('operation_tags');

const accept = inserting(operations, { firstStands: true });
const tag = taggingIn(operationTags);
const follow = updating(operations, 'operation_id', 'then_batch_id');
const charged = bulk(
  pick(operations.columns, 'work_id', 'credits_charged', 'free_pages', 'balance_after', 'charged_at'),
);

/** A burn names the extraction or conversion that an operation is. */
const CHARGE = (schema: string) => `
  update ${schema}.operations o
  set credits_charged = u.credits_charged, free_pages = u.free_pages, balance_after = u.balance_after,
    charged_at = u.charged_at
  from ${charged.source()} where o.work_id = u.work_id`;

const acceptedRow = ({ data, position }: ProjectedEventOf<'OperationAccepted'>) => ({
  ...data,
  file_bytes: data.file_bytes ?? 0,
  tags: tagsColumn(data),
  ...QUEUED,
  position,
  ready_at: data.accepted_at,
  credits_charged: null,
  free_pages: null,
  balance_after: null,
  charged_at: null,
  then_batch_id: null,
});

const chargeOf = ({ data }: ProjectedEventOf<'CreditsBurned'>) => ({
  work_id: data.operation_id,
  credits_charged: data.credits,
  free_pages: data.free_pages,
  balance_after: data.balance_after,
  charged_at: data.created_at,
});

/** Operations: the queue as workers look at it, and what each cost. */
export const operationsProjector: Projector = {
  name: 'operations',
  version: 6,
  eventTypes: [
    'OperationAccepted',
    'OperationStarted',
    'OperationProgressed',
    'OperationSucceeded',
    'OperationFailed',
    'OperationCancelled',
    'CreditsBurned',
  ],
  tables: [operations, operationTags],
  apply: async (tx, { schema, events }) => {
    const burns = only(events, 'CreditsBurned').filter(({ data }) => isRated(data.operation));
    const accepted = only(events, 'OperationAccepted');
    await accept(tx, schema, accepted.map(acceptedRow));
    await tag(
      tx,
      schema,
      accepted.map(({ data }) => ({ ...data, work: data.operation_id })),
    );
    await moveQueue(tx, { table: `${schema}.operations`, key: 'operation_id' }, events);
    const parted = only(events, 'OperationSucceeded').flatMap(({ data: { operation_id, then_batch_id } }) =>
      then_batch_id === undefined ? [] : [{ operation_id, then_batch_id }],
    );
    await follow(tx, schema, parted);
    if (burns.length > 0) await tx.query(CHARGE(schema), charged.values(burns.map(chargeOf)));
  },
};

/** Splits whose parts, as they were told or decided, are no batch yet; of an erased document they become none. */
const PARTS_OWED = `
  select w.operation_id, w.tenant_id from (
    select operation_id, tenant_id, then_batch_id from read.operations where then_batch_id is not null
    union all
    select operation_id, tenant_id, then_batch_id from read.reviews where then_batch_id is not null
  ) w join read.operations o on o.operation_id = w.operation_id
    left join read.documents d on d.document_id = o.document_id
  where d.erased_at is null
    and not exists (select 1 from read.batches b where b.batch_id = w.then_batch_id)`;

/** What workers ask about operations. Their holds have no end; those of older releases are told by their ID. */
export const operationLists = queueLists({
  table: 'operations',
  key: 'operation_id',
  workKey: 'work_id',
  keyOfHold: `'op_' || substr(h.operation_id, 5)`,
  isHold: `h.operation in (${ratedOperation.options.map((name) => `'${name}'`).join(', ')})
    and (h.expires_at = '${NO_END}' or left(h.hold_id, 8) = 'hold_op_')`,
  owing: PARTS_OWED,
  nameOf: rowReader(pick(operations.columns, 'operation_id', 'tenant_id')),
});

/** Operations that somebody works on and that have more than so many pages, the one that waits longest first. */
export const longRunningOperations = listing(
  `select operation_id, tenant_id from read.operations
   where finished_at is null and status = 'running' and pages > $1 order by position limit $2`,
  (pagesMax: number, limit: number) => [pagesMax, limit],
  rowReader(pick(operations.columns, 'operation_id', 'tenant_id')),
);

/**
 * Operations of a tenant that have not ended: how many, and the bytes of the files that came with them. `known`: those
 * of `ids` that are here at all, separated by blanks.
 */
export const openOperationsOfTenant = telling(
  `select count(*) filter (where finished_at is null) as count,
     coalesce(sum(file_bytes) filter (where finished_at is null), 0)::int8 as bytes,
     string_agg(operation_id, ' ') filter (where operation_id = any($2::text[])) as known
   from read.operations where tenant_id = $1 and (finished_at is null or operation_id = any($2::text[]))`,
  (tenantId: string, ids: readonly string[]) => [tenantId, ids],
  rowReader({ count: 'int8', bytes: 'int8', known: 'text?' }),
);

/** Those of the documents that an operation is to work on which has not ended. */
export const documentsInQueue = listing(
  `select distinct document_id from read.operations
   where finished_at is null and document_id = any($1::text[])`,
  (documentIds: readonly string[]) => [documentIds],
  (row) => textOf(row, 'document_id'),
);

/** All operations that wait for a worker: how many, and when the oldest was accepted (null: there is none). */
export const waitingOperations = telling(
  `select count(*) as count, min(accepted_at) as oldest_at from read.operations
   where finished_at is null and status = 'queued'`,
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);

/** What an operation cost, and when; null members before it was burned, undefined for one that is not known. */
export const costOfOperation = finding(
  'select credits_charged, free_pages, balance_after, charged_at from read.operations where operation_id = $1',
  (operationId: string) => [operationId],
  rowReader(pick(operations.columns, 'credits_charged', 'free_pages', 'balance_after', 'charged_at')),
);

/** Which operations of a tenant to list. */
interface OperationsQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  /** Tags that it must have. */
  readonly tag?: Tags | undefined;
  /** Inclusive. */
  readonly accepted_after?: string | undefined;
  /** Reviews expire by it. */
  readonly now: string;
}

/** As callers see it: what a person has to look at has not simply succeeded, until it is too late to look. */
const STATUS = `case
    when r.review_id is null then o.status
    when r.rejection is not null then 'failed'
    when r.decided_at is null and (r.kept_until <= $7 or d.erased_at is not null) then o.status
    when r.decided_at is null then 'needs_review'
    when r.absent is not null then 'partial'
    else 'succeeded'
  end`;
const PROBLEM = `case when r.rejection is not null then 'review_rejected' else o.problem_code end`;
const SHOWN = Object.keys(operations.columns)
  .map((column) => {
    if (column === 'status') return `${STATUS} as status`;
    return column === 'problem_code' ? `${PROBLEM} as problem_code` : `o.${column}`;
  })
  .join(', ');

const CHOSEN = `from (
    select ${SHOWN} from read.operations o left join read.reviews r on r.operation_id = o.operation_id
      left join read.documents d on d.document_id = o.document_id
    where o.tenant_id = $1
  ) operations
  where tenant_id = $1
    and ($2::text is null or status = $2)
    and ($3::text is null or kind = $3)
    and ($4::text is null or project_id = $4)
    and ($5::text is null or task_id = $5)
    and ($6::text is null or accepted_at >= $6)`;

const readListed = rowReader(
  pick(
    operations.columns,
    'operation_id',
    'tenant_id',
    'project_id',
    'task_id',
    'kind',
    'document_id',
    'pages',
    'status',
    'problem_code',
    'credits_charged',
    'accepted_at',
    'started_at',
    'finished_at',
  ),
);

/** A tenant's operations, newest first, and how many there are in all. */
export const operationsOfTenant = pagingOfTagged(
  {
    name: 'operations',
    chosen: CHOSEN,
    tags: operationTags,
    id: 'operation_id',
    sorts: {
      ...sortsBy(operations.columns, 'operation_id', 'document_id', 'project_id', 'task_id', 'pages'),
      operation: sortBy(operations.columns, 'kind'),
      ...sortsBy(operations.columns, 'status', 'problem_code'),
      credits_used: sortBy(operations.columns, 'credits_charged'),
      ...sortsBy(operations.columns, 'accepted_at', 'started_at', 'finished_at'),
    },
    searched: {
      columns: ['operation_id', 'document_id', 'project_id', 'task_id', 'kind', 'status', 'problem_code'],
    },
    values: (query: OperationsQuery) => [
      query.tenant_id,
      query.status ?? null,
      query.kind ?? null,
      query.project_id ?? null,
      query.task_id ?? null,
      query.accepted_after ?? null,
      query.now,
    ],
  },
  readListed,
);
