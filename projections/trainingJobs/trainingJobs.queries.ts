import { rowReader, textOf, wholeOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';
import { finding, listing, paging, type Page } from '../engine/query.ts';
import { omit, pick } from '../engine/table.ts';
import { queueLists } from '../queue/queueLists.ts';
import { trainingDocuments, trainingJobs } from './trainingJobs.schema.ts';

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
 * of its tenant. `open`: jobs that have not ended alone.
 */
export const jobsLearningFrom = listing(
  `select distinct u.document_id, t.job_id, t.tenant_id
   from unnest($1::text[], $2::text[]) as u(document_id, tenant_id)
   join read.training_documents t on t.document_id in (u.document_id, '') and t.tenant_id = u.tenant_id
   join read.training_jobs j on j.job_id = t.job_id
   where not $3::bool or j.finished_at is null`,
  (documents: readonly DocumentName[], { open }: { readonly open: boolean }) => [
    documents.map(({ document_id }) => document_id),
    documents.map(({ tenant_id }) => tenant_id),
    open,
  ],
  rowReader(trainingDocuments.columns),
);

interface JobsQuery extends Page {
  readonly tenant_id: string;
  readonly status?: string | undefined;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
}

/** A tenant's training jobs, newest first, and how many there are in all. */
export const jobsOfTenant = paging(
  {
    chosen: `from read.training_jobs where tenant_id = $1 and ($2::text is null or status = $2)
      and ($3::text is null or project_id = $3) and ($4::text is null or task_id = $4)`,
    order: 'position desc',
  },
  ({ tenant_id, status, project_id, task_id }: JobsQuery) => [
    ...[tenant_id, status ?? null],
    ...[project_id ?? null, task_id ?? null],
  ],
  rowReader(
    omit(
      trainingJobs.columns,
      ...(['position', 'ready_at', 'expires_at', 'hold_id', 'hold_closed', 'attempt'] as const),
    ),
  ),
);
