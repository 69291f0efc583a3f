import {
  omit,
  pick,
  type Projector,
  type Row,
  rowReader,
  table,
  textOf,
  wholeOf,
  wholeOrNull,
} from './engine/table.ts';
import { pagingOfTagged, tagsColumn, tagTable, taggingIn } from './engine/tagged.ts';
import type { Tags } from '../domain/kernel/tags.ts';
import { moveQueue, QUEUE_INDEXES, QUEUED, queueLists } from './queue.ts';
import { inserting, updating } from './engine/bulk.ts';
import { only, type ProjectedEventOf, type SqlTx } from './engine/ports.ts';
import { finding, listing, type Page } from './engine/query.ts';
import { sortBy, sortsBy } from './engine/sorts.ts';

/**
 * Training jobs as they stand. `ready_at`: from when on a worker may claim it, or until when its lease is.
 * `credits_charged`: null until the job was charged.
 */
export const trainingJobs = table({
  name: 'training_jobs',
  key: ['job_id'],
  columns: {
    job_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    /** Those that it was accepted with. */
    tags: 'jsonb?',
    name: 'text?',
    status: 'text',
    attempt: 'int4',
    ready_at: 'sorted',
    expires_at: 'sorted',
    artifact_id: 'text?',
    problem_code: 'text?',
    hold_id: 'sorted?',
    /** Always false: replicas of the release before still name it (ADR 17). */
    hold_closed: 'boolean',
    credits: 'int8',
    credits_charged: 'int8?',
    created_at: 'text',
    started_at: 'text?',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', ...QUEUE_INDEXES],
});

/** The documents of a job's examples: which uploads must be kept; '' for a job that does not say which. */
export const trainingDocuments = table({
  name: 'training_documents',
  key: ['document_id', 'job_id'],
  columns: { document_id: 'sorted', job_id: 'sorted', tenant_id: 'sorted' },
});

/** Tags of training jobs. */
export const trainingTags = tagTable('training_tags');

const create = inserting(trainingJobs, { firstStands: true });
const tag = taggingIn(trainingTags);
const learn = inserting(trainingDocuments, { firstStands: true });
const publish = updating(trainingJobs, 'job_id', 'artifact_id');
const charge = updating(trainingJobs, 'job_id', 'credits_charged');

const createdRow = ({ data, position }: ProjectedEventOf<'TrainingJobCreated'>) => ({
  ...data,
  ...QUEUED,
  position,
  ready_at: data.created_at,
  artifact_id: null,
  credits_charged: null,
  tags: tagsColumn(data),
});

const documentsOf = ({
  data: { job_id, tenant_id, document_ids = [''] },
}: ProjectedEventOf<'TrainingJobCreated'>): readonly Row<typeof trainingDocuments>[] =>
  document_ids.map((document_id) => ({ document_id, job_id, tenant_id }));

/** Training jobs: the queue as workers look at it, and whether each was paid for. */
export const trainingJobsProjector: Projector = {
  name: 'training_jobs',
  version: 4,
  eventTypes: [
    'TrainingJobCreated',
    'TrainingJobStarted',
    'TrainingJobProgressed',
    'TrainingJobSucceeded',
    'TrainingJobFailed',
    'TrainingJobCancelled',
    'CreditsBurned',
  ],
  tables: [trainingJobs, trainingDocuments, trainingTags],
  apply: async (tx, { schema, events }) => {
    const jobs = only(events, 'TrainingJobCreated');
    const burns = only(events, 'CreditsBurned').filter(({ data }) => data.operation === 'training');
    await create(tx, schema, jobs.map(createdRow));
    await learn(tx, schema, jobs.flatMap(documentsOf));
    await tag(
      tx,
      schema,
      jobs.map(({ data }) => ({ ...data, work: data.job_id })),
    );
    await moveQueue(tx, { table: `${schema}.training_jobs`, key: 'job_id' }, events);
    await publish(
      tx,
      schema,
      only(events, 'TrainingJobSucceeded').map(({ data }) => data),
    );
    await charge(
      tx,
      schema,
      burns.map(({ data }) => ({ job_id: data.operation_id, credits_charged: data.credits })),
    );
  },
};

/** What workers ask about training jobs. */
export const jobLists = queueLists({
  table: 'training_jobs',
  key: 'job_id',
  workKey: 'job_id',
  keyOfHold: 'h.operation_id',
  isHold: `h.operation = 'training'`,
  nameOf: rowReader(pick(trainingJobs.columns, 'job_id', 'tenant_id')),
});

/** Credits that a job was charged; null before, undefined for a job that is not known. */
export const chargeOfJob = finding(
  'select credits_charged from read.training_jobs where job_id = $1',
  (jobId: string) => [jobId],
  (row) => wholeOrNull(row, 'credits_charged'),
);

/** How many jobs have not ended, by their status. */
export const openJobsByStatus = (sql: SqlTx) => async (): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql.query(
    'select status, count(*) as n from read.training_jobs where finished_at is null group by status',
  );
  return new Map(rows.map((row) => [textOf(row, 'status'), wholeOf(row, 'n')]));
};

/** A document, and whose it is. */
interface DocumentName {
  readonly document_id: string;
  readonly tenant_id: string;
}

/**
 * The training jobs that were given some documents as examples. A job that does not say which counts for all
 * of its tenant. `open`: jobs that have not ended alone. `since`: and those that ended then or later.
 */
export const jobsLearningFrom = listing(
  `select distinct u.document_id, t.job_id, t.tenant_id
   from unnest($1::text[], $2::text[]) as u(document_id, tenant_id)
   join read.training_documents t on t.document_id in (u.document_id, '') and t.tenant_id = u.tenant_id
   join read.training_jobs j on j.job_id = t.job_id
   where not $3::bool or j.finished_at is null or j.finished_at >= $4`,
  (
    documents: readonly DocumentName[],
    { open, since }: { readonly open: boolean; readonly since?: string },
  ) => [
    documents.map(({ document_id }) => document_id),
    documents.map(({ tenant_id }) => tenant_id),
    open,
    since ?? null,
  ],
  rowReader(trainingDocuments.columns),
);

/** The documents that jobs were given, and how many of them are erased; those of a job that does not say are null. */
export const documentsOfJobs = listing(
  `select t.job_id, nullif(array_agg(t.document_id order by t.document_id), array['']) as document_ids,
     count(*) filter (where d.erased_at is not null)::int8 as erased
   from read.training_documents t
   left join read.documents d on d.document_id = t.document_id and d.tenant_id = t.tenant_id
   where t.job_id = any($1::text[]) group by t.job_id`,
  (jobIds: readonly string[]) => [jobIds],
  (row) => ({
    job_id: textOf(row, 'job_id'),
    document_ids: row['document_ids'] as readonly string[] | null,
    erased: wholeOf(row, 'erased'),
  }),
);

interface JobsQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  /** Tags that it must have. */
  readonly tag?: Tags | undefined;
}

const readListed = rowReader(
  omit(
    trainingJobs.columns,
    'position',
    'ready_at',
    'expires_at',
    'hold_id',
    'hold_closed',
    'attempt',
    'tags',
  ),
);

/** A tenant's training jobs, newest first, and how many there are in all. */
export const jobsOfTenant = pagingOfTagged(
  {
    name: 'training_jobs',
    tags: trainingTags,
    id: 'job_id',
    sorts: {
      ...sortsBy(trainingJobs.columns, 'job_id', 'project_id', 'task_id', 'status', 'artifact_id'),
      ...sortsBy(trainingJobs.columns, 'problem_code'),
      // As it is shown: booked a moment after the success.
      credits_charged: {
        by: `coalesce(credits_charged, case status when 'succeeded' then credits else 0 end)`,
        as: 'int8',
      },
      ...sortsBy(trainingJobs.columns, 'created_at', 'started_at', 'finished_at'),
      credits_held: sortBy(trainingJobs.columns, 'credits'),
    },
    searched: {
      columns: ['job_id', 'project_id', 'task_id', 'status', 'artifact_id', 'problem_code'],
      written: ['name'],
    },
    chosen: `from read.training_jobs where tenant_id = $1 and ($2::text is null or status = $2)
      and ($3::text is null or project_id = $3) and ($4::text is null or task_id = $4)`,
    values: ({ tenant_id, status, project_id, task_id }: JobsQuery) => [
      tenant_id,
      status ?? null,
      project_id ?? null,
      task_id ?? null,
    ],
  },
  readListed,
);
