import { fingerprintOf } from '../../domain/kernel/fingerprint.ts';
import type { LogLlmCost } from '../../domain/llmCost/decider.ts';
import type { ModelCall } from '../../domain/ports/modelWork.ts';
import { modelCost, priceFor, usdOfPico, type PublishedPrice } from '../../domain/providerPricing/pricing.ts';
import type { BillingDeps } from './billedWork.ts';
import type { LogCall } from './callLog.ts';
import type { LlmCosts } from './llmCosts.ts';
import type { CalledFor } from './work.ts';

type CostedUsage = Pick<
  LogLlmCost['data'],
  | 'provider'
  | 'model_name'
  | 'input_tokens'
  | 'output_tokens'
  | 'cached_input_tokens'
  | 'pages'
  | 'occurred_at'
>;

/** By the price in force when the call was made; null where there is none. */
export const costByPrice = (
  prices: readonly PublishedPrice[],
  usage: CostedUsage,
): Pick<LogLlmCost['data'], 'cost_usd' | 'cost_source'> => {
  const price = priceFor(prices, usage);
  if (price === undefined) return { cost_usd: null, cost_source: null };
  return { cost_usd: usdOfPico(modelCost(price, usage)), cost_source: 'computed' };
};

export interface ModelCostDeps extends Pick<BillingDeps, 'clock'> {
  readonly llmCosts: LlmCosts;
  readonly prices: () => Promise<readonly PublishedPrice[]>;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/** What does not depend on when it is logged. */
const usageOf = ({ bill, document_id, task_id, free_tier, earlier }: CalledFor, call: ModelCall) => ({
  tenant_id: bill.tenant_id,
  entry_id: `${bill.operation_id}:${earlier + 1}`,
  job_id: bill.operation_id,
  operation: bill.operation,
  provider: call.ref.provider,
  model_name: call.ref.model,
  ...call.usage,
  document_id,
  task_id,
  // Who pays the provider, call by call: an own key for one channel does not pay for the other.
  billing_type: call.owner === 'caller' ? ('byok' as const) : ('full_service' as const),
  free_tier,
});

/** Logs the service's own calls of models, each once: its entry is named for its operation and its turn. */
export const logModelCalls =
  ({ llmCosts, prices, clock, wrote }: ModelCostDeps): LogCall =>
  async (work, call) => {
    const usage = usageOf(work, call);
    const occurred_at = clock.now();
    const cost = costByPrice(await prices(), { ...usage, occurred_at });
    const { caller, correlation_id, tenant_id } = work.bill;
    const outcome = await llmCosts.log({
      type: 'LogLlmCost',
      meta: { now: occurred_at, actor: caller, correlation_id, command_id: clock.uuid() },
      data: {
        ...usage,
        ...cost,
        cost_id: clock.newId('llm'),
        occurred_at,
        fingerprint: fingerprintOf({ kind: 'model call', ...usage }),
      },
    });
    if (outcome.kind !== 'done') throw new Error(`a model call was not logged: ${outcome.kind}`);
    if (outcome.position !== undefined) wrote(tenant_id, outcome.position);
  };
