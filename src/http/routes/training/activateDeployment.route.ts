import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { activate } from '../../pipelines/deployments.ts';
import { activateDeploymentRequest, deploymentResponse } from '../../wire/pipelines.ts';

export const activateDeployment = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/inference/deployments',
    operationId: 'activateDeployment',
    summary: 'Deploy an artifact in a project, task and environment',
    description:
      'To go back, activate the artifact that `replaces` names. A canary runs beside the ' +
      'earlier deployment; the same document always goes to the same one of the two. Repeating ' +
      'an activation changes nothing.',
    tag: 'Deployments',
    access: 'any',
    tenant: 'body',
    bucket: 'general',
    body: activateDeploymentRequest,
    reply: { status: 200, schema: deploymentResponse },
    problems: ['artifact_not_found', 'busy'],
    handle: (request) => {
      const { tenant_id, project_id, task_id, environment, ...fields } = request.body;
      return activate(deps, request, { scope: { tenant_id, project_id, task_id, environment }, fields });
    },
  });
