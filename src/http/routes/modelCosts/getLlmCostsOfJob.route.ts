import { z } from 'zod';
import { usdOfPico } from '../../../../domain/modelPrices.ts';
import type { LlmCall } from '../../../../projections/llmCosts.ts';
import { costTotals } from '../../../queries/costTotals.ts';
import { get } from '../../defineRoute.ts';
import { plainText } from '../../wire/basics.ts';
import { llmCostLog } from '../../wire/prices/costs.ts';

const itemOf = ({ cost_pico, billing_type, ...call }: LlmCall) => ({
  ...call,
  billing_type: billing_type === 'byok' ? ('byok' as const) : ('full_service' as const),
  cost_usd: cost_pico === null ? null : usdOfPico(cost_pico),
});

const sumsOf = ({ input_tokens, output_tokens, cost_pico }: LlmCall) => ({
  ...{ calls: 1, input_tokens, output_tokens },
  cost_pico: cost_pico ?? 0n,
  unpriced_calls: cost_pico === null ? 1 : 0,
});

export const getLlmCostsOfJob = get('/v1/admin/llm-costs/{job_id}', {
  summary: 'The model calls of one job, oldest first',
  description: 'A job that is not known has no calls.',
  access: 'admin',
  params: z.object({ job_id: plainText(1, 200) }),
  reply: { status: 200, schema: llmCostLog },
  reads: 'all',
  handle: async (request, { queries }) => {
    const { job_id } = request.params;
    const calls = await queries.llmCostsOfJob(job_id);
    return { job_id, items: calls.map(itemOf), totals: costTotals(calls.map(sumsOf)) };
  },
});
