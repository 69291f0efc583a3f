import { table } from '../engine/table.ts';

/** Published artifacts. `is_usable`: their job has succeeded. */
export const artifacts = table({
  name: 'artifacts',
  key: ['artifact_id'],
  columns: {
    artifact_id: 'sorted',
    job_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    sha256: 'text',
    bytes: 'int8',
    schema_sha256: 'text',
    scores: 'jsonb',
    is_usable: 'boolean',
    published_at: 'text',
  },
  indexes: ['(tenant_id, position desc)'],
});
