import { get } from '../../defineRoute.ts';
import { artifactList } from '../../pipelines/deployments.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { artifactListBody, artifactsQuery } from '../../wire/pipelines.ts';

export const listArtifacts = get('/v1/inference/artifacts', {
  summary: 'The artifacts of a tenant with their scores, newest first',
  description: 'Those that may be used: their training job has succeeded. Scores before and after, by field.',
  access: 'any',
  tenant: 'query',
  query: artifactsQuery,
  reply: { status: 200, schema: artifactListBody },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, deps) => {
    const list = await artifactList(deps, request, request.query);
    await checkKnown(deps, request.query.tenant_id, { isEmpty: list.total === 0 });
    return list;
  },
});
