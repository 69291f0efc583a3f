import type { Row, Sum } from '../engine/table.ts';
import type { llmCostDays, llmCosts } from './llmCosts.schema.ts';

type CountedCall = Omit<Row<typeof llmCosts>, 'created_at'>;
type CostDay = Sum<typeof llmCostDays>;

const keyOf = (call: CountedCall, day: string): string =>
  JSON.stringify([
    ...[day, call.tenant_id, call.operation, call.provider],
    ...[call.model_name, call.billing_type, call.free_tier],
  ]);

/** Sums of a batch's calls that have a cost of their own. */
export const costDays = (logged: readonly CountedCall[]): readonly CostDay[] => {
  const sums = new Map<string, CostDay>();
  for (const call of logged) {
    if (call.cost_pico === null) continue;
    const day = call.occurred_at.slice(0, 10);
    const key = keyOf(call, day);
    const { tenant_id, operation, provider, model_name, billing_type, free_tier } = call;
    const sum = sums.get(key) ?? {
      ...{ day, tenant_id, operation, provider, model_name, billing_type, free_tier },
      ...{ calls: 0, input_tokens: 0, output_tokens: 0, cost_pico: 0n },
    };
    sum.calls += 1;
    sum.input_tokens += call.input_tokens;
    sum.output_tokens += call.output_tokens;
    sum.cost_pico += call.cost_pico;
    sums.set(key, sum);
  }
  return [...sums.values()];
};
