import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { batchesQuery, batchList } from '../../wire/batches.ts';

export const listBatches = get('/v1/batches', {
  summary: 'The batches of a tenant, newest first',
  description: '`accepted_after` is inclusive. Pages and credits are those of batches that have ended.',
  access: 'any',
  tenant: 'query',
  serviceActsForAll: true,
  query: batchesQuery,
  reply: { status: 200, schema: batchList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset, tenant_id } = request.query;
    const { items, total } = await queries.batchesOfTenant(request.query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(
      ({ kind: operation, pages: pages_done, credits_charged: credits_used, ...item }) => ({
        ...item,
        ...{ operation, pages_done, credits_used },
      }),
    );
    return { items: shown, total, limit, offset };
  },
});
