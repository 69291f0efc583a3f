import { table } from '../engine/table.ts';

/** Every deployment there ever was; `retired_at` is null while it serves. */
export const deployments = table({
  name: 'deployments',
  key: ['deployment_id'],
  columns: {
    deployment_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    environment: 'sorted',
    artifact_id: 'text',
    strategy: 'text',
    percent: 'int4',
    replaces: 'text?',
    activated_at: 'text',
    activated_by: 'text',
    retired_at: 'text?',
  },
  indexes: ['(tenant_id, project_id, task_id, environment, position desc)'],
});
