import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { resolve } from '../../pipelines/deployments.ts';
import { currentDeploymentQuery, resolvedDeployment } from '../../wire/pipelines.ts';

export const getCurrentDeployment = (deps: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/inference/deployments/current',
    operationId: 'getCurrentDeployment',
    summary: 'What is deployed in a project, task and environment',
    tag: 'Deployments',
    access: 'any',
    tenant: 'query',
    bucket: 'general',
    query: currentDeploymentQuery,
    reply: { status: 200, schema: resolvedDeployment },
    problems: ['deployment_not_found'],
    handle: ({ query }) => resolve(deps, query),
  });
