import { bulk } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { deploymentsDdl, deploymentsTables } from './deployments.schema.ts';

const activated = bulk({
  deployment_id: 'text',
  tenant_id: 'text',
  position: 'int8',
  project_id: 'text',
  task_id: 'text',
  environment: 'text',
  artifact_id: 'text',
  strategy: 'text',
  percent: 'int4',
  replaces: 'text',
  activated_at: 'text',
  activated_by: 'text',
});
const retired = bulk({ deployment_id: 'text', retired_at: 'text' });

const ACTIVATE = (schema: string) => `
  insert into ${schema}.deployments (${activated.names}) select ${activated.names} from ${activated.source()}`;

const RETIRE = (schema: string) => `
  update ${schema}.deployments d set retired_at = u.retired_at
  from ${retired.source()} where d.deployment_id = u.deployment_id`;

/** Deployments, serving and retired. */
export const deploymentsProjector: Projector = {
  name: 'deployments',
  version: 1,
  eventTypes: ['DeploymentActivated', 'DeploymentRetired'],
  tables: deploymentsTables,
  ddl: deploymentsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'DeploymentActivated').map(({ data: { rollout, ...data }, position }) => ({
      ...data,
      ...rollout,
      position,
    }));
    const gone = only(events, 'DeploymentRetired').map(({ data }) => data);
    if (rows.length > 0) await tx.query(ACTIVATE(schema), activated.values(rows));
    if (gone.length > 0) await tx.query(RETIRE(schema), retired.values(gone));
  },
};
