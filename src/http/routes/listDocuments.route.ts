import type { ApiDeps } from '../apiDeps.ts';
import { defineRoute } from '../defineRoute.ts';
import { settleReads } from '../settledReads.ts';
import { documentList, documentsQuery } from '../wire/uploads.ts';

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
    problems: [],
    handle: async (request) => {
      const { limit, offset } = request.query;
      await settleReads(reads, request, request.query.tenant_id);
      const { items, total } = await queries.documentsOfTenant(request.query);
      return { items: [...items], total, limit, offset };
    },
  });
