import { rowReader } from '../engine/apply/columns.ts';
import { paging, type Page } from '../engine/query.ts';
import { omit } from '../engine/table.ts';
import { deployments } from './deployments.schema.ts';

interface DeploymentsQuery extends Page {
  readonly tenant_id: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly environment?: string | undefined;
}

const CHOSEN = `from read.deployments
  where tenant_id = $1 and ($2::text is null or project_id = $2)
    and ($3::text is null or task_id = $3) and ($4::text is null or environment = $4)`;

/** Every deployment that a tenant ever had, newest first, and how many there are in all. */
export const deploymentsOfTenant = paging(
  { chosen: CHOSEN, order: 'position desc' },
  ({ tenant_id, project_id, task_id, environment }: DeploymentsQuery) => [
    ...[tenant_id, project_id ?? null],
    ...[task_id ?? null, environment ?? null],
  ],
  rowReader(omit(deployments.columns, 'position')),
);
