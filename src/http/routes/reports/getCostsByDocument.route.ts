import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleAllReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { pagingQuery, plainText, tenantIdText } from '../../wire/basics.ts';
import { costByDocument } from '../../wire/costs.ts';
import { workCostAnswer } from '../../../queries/workCosts.ts';

export const getCostsByDocument = ({ queries, reads, logId }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/costs/by-document',
    operationId: 'getCostsByDocument',
    summary: 'Work by document, last used first',
    tag: 'Reports',
    access: 'admin',
    bucket: 'general',
    query: z.object({
      document_id: plainText(1, 200).optional(),
      tenant_id: tenantIdText.optional(),
      task_id: plainText(1, 200).optional(),
      ...pagingQuery,
    }),
    reply: { status: 200, schema: costByDocument },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { limit, offset, tenant_id: asked } = request.query;
      await settleAllReads(reads, request);
      const { items, total } = await queries.costsByDocument(request.query);
      if (asked !== undefined) await checkKnown({ queries }, asked, { isEmpty: total === 0 });
      return {
        log_id: logId(),
        items: items.map(({ document_id, tenant_id, task_id, file_name, last_used_at, ...cost }) => ({
          ...{ document_id, tenant_id, task_id, file_name, last_used_at },
          ...workCostAnswer(cost),
        })),
        ...{ total, limit, offset },
      };
    },
  });
