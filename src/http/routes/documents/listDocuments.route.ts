import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { documentList, documentsQuery } from '../../wire/uploads.ts';

export const listDocuments = get('/v1/documents', {
  summary: 'The documents that a tenant has used, newest first',
  description:
    'A document is listed from its first use or count on. `created_after` is inclusive; ' +
    '`exclude_default_scope` leaves out project `default` with task `default`.',
  access: 'any',
  tenant: 'query',
  serviceActsForAll: true,
  query: documentsQuery,
  reply: { status: 200, schema: documentList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset, tenant_id } = request.query;
    const { items, total } = await queries.documentsOfTenant(request.query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    return { items: [...items], total, limit, offset };
  },
});
