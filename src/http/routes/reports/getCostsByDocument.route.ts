import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { pagingQuery, plainText, tenantIdText } from '../../wire/basics.ts';
import { costByDocument } from '../../wire/prices/costs.ts';
import { workCostAnswer } from '../../../queries/workCosts.ts';

export const getCostsByDocument = get('/v1/admin/costs/by-document', {
  summary: 'Work by document, last used first',
  description: 'Which documents were worked on in a period, for how many credits, and what the models cost.',
  access: 'admin',
  query: z.object({
    document_id: plainText(1, 200).optional(),
    tenant_id: tenantIdText.optional(),
    task_id: plainText(1, 200).optional(),
    ...pagingQuery,
  }),
  reply: { status: 200, schema: costByDocument },
  problems: ['tenant_not_found'],
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { limit, offset, tenant_id: asked } = request.query;
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
