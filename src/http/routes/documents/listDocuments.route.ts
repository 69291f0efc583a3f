import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { documentList, documentsQuery } from '../../wire/uploads.ts';

export const listDocuments = ({ queries, reads }: Pick<ApiDeps, 'queries' | 'reads'>) =>
  defineRoute({
    method: 'get',
    path: '/v1/documents',
    operationId: 'listDocuments',
    summary: 'The documents that a tenant has used, newest first',
    description:
      'A document is listed from its first use or count on. `created_after` is inclusive; ' +
      '`exclude_default_scope` leaves out project `default` with task `default`.',
    tag: 'Documents',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    bucket: 'general',
    query: documentsQuery,
    reply: { status: 200, schema: documentList },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { limit, offset, tenant_id } = request.query;
      await settleReads(reads, request, tenant_id);
      const { items, total } = await queries.documentsOfTenant(request.query);
      await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
      return { items: [...items], total, limit, offset };
    },
  });
