import { get } from '../../defineRoute.ts';
import { resolve } from '../../pipelines/deployments.ts';
import { currentDeploymentQuery, resolvedDeployment } from '../../wire/pipelines.ts';

export const getCurrentDeployment = get('/v1/inference/deployments/current', {
  summary: 'What is deployed in a project, task and environment',
  description: 'The artifact that work of this scope uses; 404 while none is active.',
  access: 'any',
  tenant: 'query',
  query: currentDeploymentQuery,
  reply: { status: 200, schema: resolvedDeployment },
  problems: ['deployment_not_found'],
  handle: ({ query }, deps) => resolve(deps, query),
});
