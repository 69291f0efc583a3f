import { rowReader, textOf, wholeOf, wholeOrNull } from '../engine/apply/columns.ts';
import type { SqlTx } from '../engine/ports.ts';
import { finding, listing, paging, type Page } from '../engine/query.ts';
import { omit, pick } from '../engine/table.ts';
import { trainingDocuments, trainingJobs } from './trainingJobs.schema.ts';

/** A job, and whose it is. */
const readName = rowReader(pick(trainingJobs.columns, 'job_id', 'tenant_id'));

/** Jobs that nobody works on at `now`: the one of each tenant that waits longest, then the second of each. */
export const waitingJobs = listing(
  `select job_id, tenant_id from (
     select job_id, tenant_id, ready_at, position,
       row_number() over (partition by tenant_id order by ready_at, position) as turn
     from read.training_jobs where finished_at is null and ready_at <= $1
   ) waiting order by turn, ready_at, position limit $2`,
  (now: string, limit: number) => [now, limit],
  readName,
);

/** Jobs whose time is over and that did not end. */
export const expiredJobs = listing(
  `select job_id, tenant_id from read.training_jobs
   where finished_at is null and expires_at <= $1 order by expires_at, job_id limit $2`,
  (now: string, limit: number) => [now, limit],
  readName,
);

/** Ended jobs that were neither charged nor released, the last to end first. */
export const unsettledJobs = listing(
  `select job_id, tenant_id from read.training_jobs
   where finished_at is not null and hold_id is not null and credits_charged is null
     and (status = 'succeeded' or not hold_closed)
   order by finished_at desc, job_id limit $1`,
  (limit: number) => [limit],
  readName,
);

/** Open holds of training, placed before `before`, whose job is not known. */
export const orphanHolds = listing(
  `select h.tenant_id, h.hold_id, 'job_' || substr(h.hold_id, 6) as job_id from read.open_holds h
   where h.operation = 'training' and h.created_at < $1
     and not exists (select 1 from read.training_jobs j where j.hold_id = h.hold_id)
   order by h.created_at, h.hold_id limit $2`,
  (before: string, limit: number) => [before, limit],
  rowReader({ ...pick(trainingJobs.columns, 'job_id', 'tenant_id'), hold_id: 'text' }),
);

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
