import { artifactUriOf } from '../../../../domain/deployment.ts';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { deploymentList, deploymentsQuery } from '../../wire/pipelines.ts';

export const listDeployments = get('/v1/inference/deployments', {
  summary: 'The deployments of a tenant, active and retired, newest first',
  description: 'To go back, activate the artifact of an earlier one again.',
  access: 'any',
  tenant: 'query',
  query: deploymentsQuery,
  reply: { status: 200, schema: deploymentList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ query }, { queries }) => {
    const { tenant_id, limit, offset } = query;
    const { items, total } = await queries.deploymentsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ strategy, percent, ...item }) => ({
      ...item,
      artifact_uri: artifactUriOf(item.artifact_id),
      rollout: { strategy: strategy === 'canary' ? ('canary' as const) : ('all_at_once' as const), percent },
      status: item.retired_at === null ? ('active' as const) : ('retired' as const),
    }));
    return { items: shown, total, limit, offset };
  },
});
