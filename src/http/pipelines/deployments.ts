import type { z } from 'zod';
import {
  type Activation,
  artifactUriOf,
  type DeploymentScope,
  type Rollout,
} from '../../../domain/deployment.ts';
import type { Artifact } from '../../commands/deployments.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { invalid, problem } from '../problems.ts';
import { settleReads } from '../reads/settledReads.ts';
import type { artifactListBody, deploymentResponse, resolvedDeployment } from '../wire/pipelines.ts';

type AnyRequest = RouteRequest<unknown, unknown, unknown>;

const membersOf = ({ replaces: _, ...activation }: Activation) => ({
  ...activation,
  status: 'active' as const,
});

/** What of an activation the caller says. */
interface ActivationFields {
  readonly artifact_id: string;
  readonly artifact_uri?: string | undefined;
  readonly rollout?: Rollout | null | undefined;
}

/** Activates an artifact in a scope; the same again changes nothing. */
export const activate = async (
  { pipelines }: ApiDeps,
  { meta }: Pick<AnyRequest, 'meta'>,
  { scope, fields }: { readonly scope: DeploymentScope; readonly fields: ActivationFields },
): Promise<z.input<typeof deploymentResponse>> => {
  const rollout = fields.rollout ?? { strategy: 'all_at_once', percent: 100 };
  if (rollout.strategy === 'all_at_once' && rollout.percent !== 100)
    throw invalid({
      loc: ['body', 'rollout', 'percent'],
      msg: 'Less than 100 percent is a canary: send strategy "canary".',
      type: 'value_error',
    });
  const { artifact_id, artifact_uri } = fields;
  const done = await pipelines.deployments.activate({ scope, artifact_id, artifact_uri, rollout }, meta);
  if (done.kind === 'problem') throw workFailure(done);
  return { ...membersOf(done.activation), replaces: done.activation.replaces };
};

/** What is active in a scope. */
export const resolve = async (
  { pipelines }: ApiDeps,
  scope: DeploymentScope,
): Promise<z.input<typeof resolvedDeployment>> => {
  const { active, previous_artifact_id } = await pipelines.deployments.stateOf(scope);
  if (active === null)
    throw problem('deployment_not_found', 'Nothing is deployed in this project, task and environment.');
  return { ...membersOf(active), previous_artifact_id };
};

const artifactBody = ({ published_at, per_field, ...artifact }: Artifact) => ({
  ...artifact,
  per_field: [...per_field],
  artifact_uri: artifactUriOf(artifact.artifact_id),
  created_at: published_at,
});

/** An artifact of the tenant. */
export const artifactOf = async (
  { pipelines }: ApiDeps,
  tenantId: string,
  artifactId: string,
): Promise<object> => {
  const found = await pipelines.artifacts.find(tenantId, artifactId);
  if (found === undefined) throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
  return artifactBody(found);
};

/** A tenant's artifacts, newest first. */
export const artifactList = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer'>,
  query: Parameters<ApiDeps['queries']['artifactsOfTenant']>[0],
): Promise<z.input<typeof artifactListBody>> => {
  await settleReads(deps.reads, request, query.tenant_id);
  const { items, total } = await deps.queries.artifactsOfTenant(query);
  const found = await Promise.all(items.map((id) => deps.pipelines.artifacts.published(id)));
  const { limit, offset } = query;
  return {
    items: found.flatMap((one) => (one === undefined ? [] : [artifactBody(one)])),
    total,
    limit,
    offset,
  };
};
