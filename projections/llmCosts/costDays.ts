/** A call as it is summed up. */
export interface CountedCall {
  readonly tenant_id: string;
  readonly operation: string;
  readonly provider: string;
  readonly model_name: string;
  readonly billing_type: string;
  readonly free_tier: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_pico: bigint | null;
  readonly occurred_at: string;
}

/** What one batch adds to one row of `llm_cost_days`. */
export interface CostDay {
  readonly day: string;
  readonly tenant_id: string;
  readonly operation: string;
  readonly provider: string;
  readonly model_name: string;
  readonly billing_type: string;
  readonly free_tier: boolean;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_pico: bigint;
}

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
