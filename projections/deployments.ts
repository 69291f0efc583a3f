import { omit, type Projector, rowReader, table } from './engine/table.ts';
import { inserting, updating } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';
import { type Page, paging } from './engine/query.ts';

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

const activate = inserting(deployments, { columns: omit(deployments.columns, 'retired_at') });
const retire = updating(deployments, 'deployment_id', 'retired_at');

const rowOf = ({ data: { rollout, ...data }, position }: ProjectedEventOf<'DeploymentActivated'>) => ({
  ...data,
  ...rollout,
  position,
});

/** Deployments, serving and retired. */
export const deploymentsProjector: Projector = {
  name: 'deployments',
  version: 1,
  eventTypes: ['DeploymentActivated', 'DeploymentRetired'],
  tables: [deployments],
  apply: async (tx, { schema, events }) => {
    await activate(tx, schema, only(events, 'DeploymentActivated').map(rowOf));
    const retired = only(events, 'DeploymentRetired').map(({ data }) => data);
    await retire(tx, schema, retired);
  },
};

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
  { name: 'deployments', chosen: CHOSEN },
  ({ tenant_id, project_id, task_id, environment }: DeploymentsQuery) => [
    tenant_id,
    project_id ?? null,
    task_id ?? null,
    environment ?? null,
  ],
  rowReader(omit(deployments.columns, 'position')),
);
