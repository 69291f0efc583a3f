import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { booleanText, fromBoundary, plainText, tenantIdText, toBoundary } from '../../wire/basics.ts';
import { costByTask } from '../../wire/costs.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { workCostAnswer, workCostTotal } from '../../../queries/workCosts.ts';

export const getCostsByTask = ({ queries, reads, logId }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/costs/by-task',
    operationId: 'getCostsByTask',
    summary: "A tenant's work by task: credits, model costs, margin at list prices",
    description: '`include_adjustments` is ignored when `operation` is set.',
    tag: 'Reports',
    access: 'admin',
    tenant: 'query',
    bucket: 'general',
    query: z.object({
      tenant_id: tenantIdText,
      from_date: fromBoundary.optional(),
      to_date: toBoundary.optional(),
      operation: plainText(1, 64).optional(),
      include_adjustments: booleanText.default(false),
    }),
    reply: { status: 200, schema: costByTask },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { tenant_id, from_date: from, to_date: to, operation, include_adjustments } = request.query;
      await settleReads(reads, request, tenant_id);
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
