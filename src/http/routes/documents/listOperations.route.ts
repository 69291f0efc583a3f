import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { operationList, operationsQuery } from '../../wire/operations.ts';

export const listOperations = get('/v1/operations', {
  summary: 'The operations of a tenant, newest first',
  description: '`accepted_after` is inclusive.',
  access: 'any',
  tenant: 'query',
  serviceActsForAll: true,
  query: operationsQuery,
  reply: { status: 200, schema: operationList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset, tenant_id, operation: kind } = request.query;
    const { items, total } = await queries.operationsOfTenant({ ...request.query, kind });
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ kind: operation, credits_charged: credits_used, ...item }) => ({
      ...item,
      ...{ operation, credits_used },
    }));
    return { items: shown, total, limit, offset };
  },
});
