import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { z } from 'zod';
import {
  type Activation,
  artifactUriOf,
  type DeploymentScope,
  type Rollout,
} from '../../domain/deployment.ts';
import type { Artifact, PipelineCommands } from '../commands/deployments.ts';
import { deployedSubject, type Gate, type heldBack } from '../commands/gates.ts';
import { type AnyRequest, routesOver } from '../server/routes.ts';
import { invalid, problem, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import {
  activateDeploymentRequest,
  artifactListBody,
  artifactsQuery,
  currentDeploymentQuery,
  deploymentList,
  deploymentResponse,
  deploymentsQuery,
  resolvedDeployment,
} from './schemas/pipelineSchemas.ts';
import type { ProblemCode } from '../problemTable.ts';
import { checkKnown, pageFacts } from './schemas/basics.ts';

/** What these routes need. */
export interface DeploymentsDeps {
  readonly queries: Pick<
    Queries,
    'artifactsOfTenant' | 'balanceOfTenant' | 'deploymentsOfTenant' | 'documentsOfJobs'
  >;
  readonly reads: ReadYourWrites;
  readonly pipelines: PipelineCommands;
  readonly heldBack: ReturnType<typeof heldBack>;
}

const { get, post } = routesOver<DeploymentsDeps>();

/** The problems of a gate. */
export const GATE_PROBLEMS = [
  'set_not_found',
  'run_not_found',
  'gate_not_passed',
] as const satisfies readonly ProblemCode[];

/** Throws the problem that answers why something may not be published. */
export const passGate = async (
  deps: Pick<DeploymentsDeps, 'heldBack' | 'reads'>,
  request: Pick<AnyRequest, 'answer'>,
  {
    tenant_id,
    subject,
    gate,
  }: {
    readonly tenant_id: string;
    readonly subject: Parameters<DeploymentsDeps['heldBack']>[1];
    readonly gate: Gate | null | undefined;
  },
): Promise<void> => {
  if (gate == null) return;
  await settleReads(deps.reads, request, tenant_id);
  const refused = await deps.heldBack(tenant_id, subject, gate);
  if (refused !== undefined) throw workFailure(refused);
};

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
  { pipelines }: DeploymentsDeps,
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
  { pipelines }: DeploymentsDeps,
  scope: DeploymentScope,
): Promise<z.input<typeof resolvedDeployment>> => {
  const { active, previous_artifact_id } = await pipelines.deployments.stateOf(scope);
  if (active === null)
    throw problem('deployment_not_found', 'Nothing is deployed in this project, task and environment.');
  return { ...membersOf(active), previous_artifact_id };
};

/** Artifacts with the documents that they learned from, as the read models know. */
const artifactBodies = async ({ queries }: Pick<DeploymentsDeps, 'queries'>, found: readonly Artifact[]) => {
  const known = await queries.documentsOfJobs(found.map(({ job_id }) => job_id));
  const learned = new Map(known.map((job) => [job.job_id, job]));
  return found.map(({ published_at, per_field, ...artifact }) => {
    const { document_ids = null, erased = 0 } = learned.get(artifact.job_id) ?? {};
    return {
      ...artifact,
      per_field: [...per_field],
      artifact_uri: artifactUriOf(artifact.artifact_id),
      learned_from: document_ids === null ? null : [...document_ids],
      learned_from_erased: erased,
      created_at: published_at,
    };
  });
};

/** An artifact of the tenant. */
export const artifactOf = async (
  { pipelines, queries }: DeploymentsDeps,
  tenantId: string,
  artifactId: string,
): Promise<object> => {
  const found = await pipelines.artifacts.find(tenantId, artifactId);
  if (found === undefined) throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
  const [body = {}] = await artifactBodies({ queries }, [found]);
  return body;
};

/** A tenant's artifacts, newest first. */
export const artifactList = async (
  deps: DeploymentsDeps,
  request: Pick<AnyRequest, 'answer'>,
  query: Parameters<DeploymentsDeps['queries']['artifactsOfTenant']>[0],
): Promise<z.input<typeof artifactListBody>> => {
  await settleReads(deps.reads, request, query.tenant_id);
  const found = await deps.queries.artifactsOfTenant(query);
  const artifacts = await Promise.all(found.items.map((id) => deps.pipelines.artifacts.published(id)));
  return {
    items: await artifactBodies(
      deps,
      artifacts.filter((one) => one !== undefined),
    ),
    ...pageFacts(query, found),
  };
};

/** What creating a training job may end with. */
export const TRAINING_PROBLEMS = [
  'set_not_found',
  'invalid_schema',
  'schema_beyond_limits',
  'document_not_found',
  'missing_file',
  'unsupported_file_type',
  'file_too_large',
  'version_conflict',
  'plan_required',
  'insufficient_credits',
  'budget_reached',
  'idempotency_key_reused',
  'unsafe_api_base',
  'field_encryption_not_configured',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

/** What any operation on pipelines may end with. */
export const PIPELINE_PROBLEMS = [
  ...TRAINING_PROBLEMS,
  'job_not_found',
  'artifact_not_found',
  'deployment_not_found',
] as const satisfies readonly ProblemCode[];

export const activateDeployment = post(
  '/v1/inference/deployments',
  {
    summary: 'Deploy an artifact in a project, task and environment',
    description:
      'To go back, activate the artifact of the deployment that `replaces` names. A canary runs beside the earlier ' +
      'deployment; the same document always goes to the same one of the two. Repeating an activation changes nothing.',
    access: 'any',
    tenant: 'body',
    body: activateDeploymentRequest,
    reply: { status: 200, schema: deploymentResponse },
    problems: ['artifact_not_found', 'busy', ...GATE_PROBLEMS],
  },
  async (request, deps) => {
    const { tenant_id, project_id, task_id, environment, gate, ...fields } = request.body;
    await passGate(deps, request, { tenant_id, subject: deployedSubject(fields.artifact_id), gate });
    return activate(deps, request, { scope: { tenant_id, project_id, task_id, environment }, fields });
  },
);

export const getCurrentDeployment = get(
  '/v1/inference/deployments/current',
  {
    summary: 'What is deployed in a project, task and environment',
    description: 'The artifact that work in this scope uses; 404 while none is active.',
    access: 'any',
    tenant: 'query',
    query: currentDeploymentQuery,
    reply: { status: 200, schema: resolvedDeployment },
    problems: ['deployment_not_found'],
  },
  ({ query }, deps) => resolve(deps, query),
);

export const listArtifacts = get(
  '/v1/inference/artifacts',
  {
    summary: 'The artifacts of a tenant with their scores, newest first',
    description:
      'Artifacts whose training job has succeeded, so they may be used. With scores before and after, by field.',
    access: 'any',
    tenant: 'query',
    query: artifactsQuery,
    reply: { status: 200, schema: artifactListBody },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, deps) => {
    const list = await artifactList(deps, request, request.query);
    await checkKnown(deps, request.query.tenant_id, { isEmpty: list.total === 0 });
    return list;
  },
);

export const listDeployments = get(
  '/v1/inference/deployments',
  {
    summary: 'The deployments of a tenant, active and retired, newest first',
    description: 'To go back, activate the artifact of an earlier deployment again.',
    access: 'any',
    tenant: 'query',
    query: deploymentsQuery,
    reply: { status: 200, schema: deploymentList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, { queries }) => {
    const { tenant_id } = query;
    const found = await queries.deploymentsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(({ strategy, percent, ...item }) => ({
      ...item,
      artifact_uri: artifactUriOf(item.artifact_id),
      rollout: { strategy: strategy === 'canary' ? ('canary' as const) : ('all_at_once' as const), percent },
      status: item.retired_at === null ? ('active' as const) : ('retired' as const),
    }));
    return { items: shown, ...pageFacts(query, found) };
  },
);
