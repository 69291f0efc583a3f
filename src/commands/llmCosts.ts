import type { ModelCall } from '@quire/engine/ports/modelWork';
import {
  llmCost,
  llmCostEvent,
  type LlmCostKind,
  llmCostStream,
  type LogLlmCost,
} from '../../domain/llmCost.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { streamWriter, type WriterLimits } from '../writer/streamWriter.ts';
import { type WriterHooks, writerRules } from '../writer/decideBatch.ts';
import { fingerprintOf, uuidOfName } from '../../domain/kernel/chain.ts';
import { modelCost, priceFor, type PublishedPrice, usdOfPico } from '../../domain/modelPrices.ts';
import type { BillingDeps, CalledFor } from './work.ts';
import type { ModelCallFact } from './usageLog.ts';

/** Logs what model calls cost: many a second for one tenant are appended together. */
export type LlmCosts = ReturnType<typeof llmCosts>;

export const llmCosts = (store: EventStore, limits: Partial<WriterLimits> = {}, hooks: WriterHooks = {}) => {
  const of = { store, decider: llmCost, codec: eventCodec(llmCostEvent) };
  const rules = writerRules<LlmCostKind>(of, { hooks });
  const { execute, forget, close } = streamWriter(rules, llmCostStream, limits);
  return { log: (command: LogLlmCost) => execute(command.data.tenant_id, command), forget, close };
};

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

/** By the price in force when the call was made; null if there is none. */
export const costByPrice = (
  prices: readonly PublishedPrice[],
  usage: CostedUsage,
): Pick<LogLlmCost['data'], 'cost_usd' | 'cost_source'> => {
  const price = priceFor(prices, usage);
  if (price === undefined) return { cost_usd: null, cost_source: null };
  return { cost_usd: usdOfPico(modelCost(price, usage)), cost_source: 'computed' };
};

interface ModelCostDeps extends Pick<BillingDeps, 'clock'> {
  readonly llmCosts: LlmCosts;
  readonly prices: () => Promise<readonly PublishedPrice[]>;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

/**
 * Named for its operation, and by its own name or the attempt and its turn: each call has an entry of its own, and a
 * repeated report has the same entry.
 */
const entryIdOf = ({ bill, attempt = 1, earlier }: CalledFor, { id }: ModelCall): string => {
  if (id !== undefined) return `${bill.operation_id}:${id}`;
  return attempt === 1
    ? `${bill.operation_id}:${String(earlier + 1)}`
    : `${bill.operation_id}:${String(attempt)}:${String(earlier + 1)}`;
};

/** What does not depend on when it is logged. */
const usageOf = (work: CalledFor, call: ModelCall) => ({
  tenant_id: work.bill.tenant_id,
  entry_id: entryIdOf(work, call),
  job_id: work.bill.operation_id,
  operation: work.bill.operation,
  provider: call.ref.provider,
  model_name: call.ref.model,
  ...call.usage,
  document_id: work.document_id,
  task_id: work.task_id,
  // Who pays the provider, call by call: an own key for one channel does not pay for the other.
  billing_type: call.owner === 'caller' ? ('byok' as const) : ('full_service' as const),
  free_tier: work.free_tier,
});

/** What the log must record about a call, as of now. */
export const modelCallFact = (
  clock: BillingDeps['clock'],
  work: CalledFor,
  call: ModelCall,
): ModelCallFact => {
  const usage = usageOf(work, call);
  const fingerprint = fingerprintOf({ kind: 'model call', ...usage });
  const { caller, correlation_id } = work.bill;
  return {
    kind: 'model_call',
    entry: { ...usage, fingerprint, cost_id: clock.newId('llm'), occurred_at: clock.now() },
    correlation_id,
    actor: caller,
  };
};

/** Logs a call of the service's own at the price that was in force, once, however often it is asked to. */
export const logModelCall =
  ({ llmCosts, prices, clock, wrote }: ModelCostDeps) =>
  async ({ entry, actor, correlation_id }: ModelCallFact): Promise<void> => {
    const cost = costByPrice(await prices(), entry);
    const command_id = uuidOfName(`model call ${entry.entry_id}`);
    const outcome = await llmCosts.log({
      type: 'LogLlmCost',
      meta: { now: clock.now(), actor, correlation_id, command_id },
      data: { ...entry, ...cost },
    });
    if (outcome.kind !== 'done')
      throw new Error(`model call ${entry.entry_id} was not logged: ${outcome.kind}`);
    if (outcome.position !== undefined) wrote(entry.tenant_id, outcome.position);
  };
