import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { booleanText, fromBoundary, plainText, tenantIdText, toBoundary } from '../../wire/basics.ts';
import { costByTask } from '../../wire/prices/costs.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { workCostAnswer, workCostTotal } from '../../../queries/workCosts.ts';

export const getCostsByTask = get('/v1/admin/costs/by-task', {
  summary: "A tenant's work by task: credits, model costs, margin at list prices",
  description: '`include_adjustments` is ignored when `operation` is set.',
  access: 'admin',
  tenant: 'query',
  query: z.object({
    tenant_id: tenantIdText,
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    operation: plainText(1, 64).optional(),
    include_adjustments: booleanText.default(false),
  }),
  reply: { status: 200, schema: costByTask },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries, logId }) => {
    const { tenant_id, from_date: from, to_date: to, operation, include_adjustments } = request.query;
    const costs = await queries.costsByTask({ tenant_id, from, to, operation, include_adjustments });
    await checkKnown({ queries }, tenant_id, { isEmpty: costs.length === 0 });
    return {
      log_id: logId(),
      tenant_id,
      items: costs.map(({ task_id, ...cost }) => ({ task_id, ...workCostAnswer(cost) })),
      totals: workCostAnswer(workCostTotal(costs)),
    };
  },
});
