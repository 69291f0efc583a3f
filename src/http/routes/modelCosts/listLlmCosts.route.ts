import { z } from 'zod';
import { usdOfPico } from '../../../../domain/modelPrices.ts';
import { COST_GROUPS } from '../../../../projections/llmCosts.ts';
import { costTotals } from '../../../queries/costTotals.ts';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { fromBoundary, plainText, tenantIdText, toBoundary } from '../../wire/basics.ts';
import { llmCostAggregate } from '../../wire/prices/costs.ts';

export const listLlmCosts = get('/v1/admin/llm-costs', {
  summary: 'Model costs, grouped',
  description: 'What model calls cost in a period, grouped as asked.',
  access: 'admin',
  query: z.object({
    tenant_id: tenantIdText.optional(),
    job_id: plainText(1, 200).optional(),
    operation: plainText(1, 64).optional(),
    provider: plainText(1, 64).optional(),
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    group_by: z.enum(COST_GROUPS).default('provider'),
  }),
  reply: { status: 200, schema: llmCostAggregate },
  problems: ['tenant_not_found'],
  reads: 'all',
  handle: async (request, { queries }) => {
    const { from_date: from, to_date: to, ...query } = request.query;
    const found = await queries.llmCosts({ ...query, from, to });
    const { tenant_id } = query;
    if (tenant_id !== undefined) await checkKnown({ queries }, tenant_id, { isEmpty: found.length === 0 });
    const items = found.map(({ cost_pico, ...item }) => ({ ...item, cost_usd: usdOfPico(cost_pico) }));
    return { group_by: query.group_by, items, totals: costTotals(found) };
  },
});
