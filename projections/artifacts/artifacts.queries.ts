import { textOf } from '../engine/apply/columns.ts';
import { paging, type Page } from '../engine/query.ts';

interface ArtifactsQuery extends Page {
  readonly tenant_id: string;
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
}

const CHOSEN = `from read.artifacts
  where tenant_id = $1 and is_usable
    and ($2::text is null or project_id = $2) and ($3::text is null or task_id = $3)`;

/** IDs of a tenant's artifacts that may be used, newest first, and how many there are in all. */
export const artifactsOfTenant = paging(
  { columns: 'artifact_id', chosen: CHOSEN, order: 'position desc' },
  ({ tenant_id, project_id, task_id }: ArtifactsQuery) => [tenant_id, project_id ?? null, task_id ?? null],
  (row) => textOf(row, 'artifact_id'),
);
