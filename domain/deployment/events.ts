import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

/** What a deployment serves: one place for each tenant, project, task and environment. */
const deploymentScope = z.strictObject({
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  environment: z.string(),
});
export type DeploymentScope = z.output<typeof deploymentScope>;

/** `percent` of the documents of a canary meet the new artifact; of all at once, all. */
export const rollout = z.strictObject({
  strategy: z.enum(['all_at_once', 'canary']),
  percent: z.number().int().min(1).max(100),
});
export type Rollout = z.output<typeof rollout>;

const deploymentActivated = event('DeploymentActivated', {
  deployment_id: z.string(),
  ...deploymentScope.shape,
  artifact_id: z.string(),
  artifact_uri: z.string(),
  rollout,
  /** The artifact that was active before. */
  replaces: z.string().nullable(),
  activated_at: instant,
  activated_by: z.string(),
});

/** It serves no document any more. */
const deploymentRetired = event('DeploymentRetired', {
  deployment_id: z.string(),
  ...deploymentScope.shape,
  artifact_id: z.string(),
  replaced_by: z.string(),
  retired_at: instant,
});

export const deploymentEvent = z.discriminatedUnion('type', [deploymentActivated, deploymentRetired]);
export type DeploymentEvent = z.output<typeof deploymentEvent>;
export type Activation = z.output<typeof deploymentActivated>['data'];

/** The parts are encoded, so none can hold a colon and two scopes never share a stream. */
export const deploymentStream = ({ tenant_id, project_id, task_id, environment }: DeploymentScope): string =>
  `deployment-${[tenant_id, project_id, task_id, environment].map(encodeURIComponent).join(':')}`;
