import { inserting, updating } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { omit } from '../engine/table.ts';
import { deployments } from './deployments.schema.ts';

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
