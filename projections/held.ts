import { textOf } from './engine/table.ts';
import type { SqlRow } from './engine/ports.ts';
import { listing } from './engine/query.ts';

/** Whose, and up to where in the log. */
interface UpTo {
  readonly tenant_id: string;
  readonly position: bigint;
}

const upTo = ({ tenant_id, position }: UpTo) => [tenant_id, position.toString()];

/** In the order in which it goes: first what lets somebody do more, last what other things may still use. */
const HELD = [
  `select 'key' as kind, key_id as id from read.api_keys where role = 'tenant' and revoked_at is null`,
  `select 'webhook', webhook_id from read.webhooks where removed_at is null`,
  `select 'batch', batch_id from read.batches where finished_at is null`,
  `select 'operation', operation_id from read.operations where finished_at is null`,
  `select 'job', job_id from read.training_jobs where finished_at is null`,
  `select 'config', config_id from read.saved_configs where true`,
  `select 'deployment', json_build_array(project_id, task_id, environment)::text from read.deployments
   where retired_at is null`,
  `select 'set', set_id from read.evaluation_sets where true`,
  `select 'table', table_id from read.master_tables where true`,
];

/**
 * Documents that were registered by then, and those of whatever was under way then: of operations and batches, and of
 * requests by a key from before, which came in before it was revoked.
 */
const DOCUMENTS = `
  select 'document', document_id, ${String(HELD.length)} from read.documents
  where tenant_id = $1 and erased_at is null and (position <= $2::numeric
    or document_id in (
      select document_id from read.operations where tenant_id = $1 and position <= $2::numeric)
    or document_id in (
      select d.document_id from read.batches b join read.batch_documents d on d.batch_id = b.batch_id
      where b.tenant_id = $1 and b.position <= $2::numeric)
    or document_id in (
      select e.document_id from read.usage_events e join read.api_keys k on k.key_id = e.api_key_id
      where e.tenant_id = $1 and k.tenant_id = $1 and k.role = 'tenant' and k.position <= $2::numeric))`;

const PAGE = 500;

const held = HELD.map((one, rank) => {
  const [columns = '', from = ''] = one.split(' from ');
  return `${columns}, ${String(rank)} as rank from ${from} and tenant_id = $1 and position <= $2::numeric`;
});

/** A tenant's things that an event can take away: some of them, if there are more. */
export const heldByTenant = listing(
  `select kind, id from (${[...held, DOCUMENTS].join(' union all ')}) held order by rank, id limit ${String(PAGE)}`,
  upTo,
  (row: SqlRow) => ({ kind: textOf(row, 'kind'), id: textOf(row, 'id') }),
);

/** Digests of all artifacts that a tenant ever had, and of those that jobs from then came to since. */
export const artifactsEverOf = listing(
  `select sha256 from read.artifacts where tenant_id = $1 and (position <= $2::numeric
     or job_id in (select job_id from read.training_jobs where tenant_id = $1 and position <= $2::numeric))`,
  upTo,
  (row) => textOf(row, 'sha256'),
);

/** Training jobs that a tenant ever had. */
export const jobsEverOf = listing(
  'select job_id from read.training_jobs where tenant_id = $1 and position <= $2::numeric',
  upTo,
  (row) => textOf(row, 'job_id'),
);

/** Runs that measured something for a tenant, ever. */
export const runsEverOf = listing(
  'select run_id from read.evaluation_runs where tenant_id = $1 and position <= $2::numeric',
  upTo,
  (row) => textOf(row, 'run_id'),
);
