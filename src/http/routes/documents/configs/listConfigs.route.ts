import { get } from '../../../defineRoute.ts';
import { configAnswer } from '../../../documents/configAnswer.ts';
import { checkKnown } from '../../../reads/knownTenant.ts';
import { configList, configsQuery } from '../../../wire/configs.ts';

export const listConfigs = get('/v1/configs', {
  summary: 'The saved configs of a tenant, last published first',
  description: 'The latest version of each that was not revoked; never a key.',
  access: 'any',
  tenant: 'query',
  query: configsQuery,
  reply: { status: 200, schema: configList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ query }, deps) => {
    const { tenant_id, limit, offset } = query;
    const { items, total } = await deps.queries.configsOfTenant(query);
    await checkKnown(deps, tenant_id, { isEmpty: total === 0 });
    return { items: items.map(configAnswer), total, limit, offset };
  },
});
