import { rowReader } from '../engine/apply/columns.ts';
import { listing } from '../engine/query.ts';

/** What has not ended, by its kind and how it stands: operations, batches and training jobs of all tenants. */
export const openWorkByStatus = listing(
  `select 'operations' as kind, status, count(*) as count from read.operations
     where finished_at is null group by status
   union all select 'batches', case when cancelled_at is not null then 'cancelling'
       when started_at is null then 'queued' else 'running' end as status, count(*) from read.batches
     where finished_at is null group by 2
   union all select 'training_jobs', status, count(*) from read.training_jobs
     where finished_at is null group by status
   order by 1, 2`,
  () => [],
  rowReader({ kind: 'text', status: 'text', count: 'int8' }),
);
