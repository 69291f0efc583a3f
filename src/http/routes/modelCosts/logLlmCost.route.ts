import { fingerprintOf } from '../../../../domain/kernel/chain.ts';
import type { LogLlmCost } from '../../../../domain/llmCost.ts';
import { picoOf, usdOfPico } from '../../../../domain/modelPrices.ts';
import { costByPrice } from '../../../commands/llmCosts.ts';
import type { ApiDeps } from '../../apiDeps.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { checkNotAhead } from '../../doneOrProblem.ts';
import { llmCostLogged, llmCostRequest, type LlmCostRequest } from '../../wire/prices/costs.ts';

/** What left out is null, and what the caller may not know is derived. */
const usageOf = (body: LlmCostRequest, now: string) => ({
  ...body,
  pages: body.pages ?? null,
  cost_usd: body.cost_usd ?? null,
  document_id: body.document_id ?? null,
  task_id: body.task_id ?? null,
  entry_id: body.entry_id ?? null,
  occurred_at: body.occurred_at ?? now,
});

const costOf = async (
  { reference }: Pick<ApiDeps, 'reference'>,
  usage: ReturnType<typeof usageOf>,
): Promise<Pick<LogLlmCost['data'], 'cost_usd' | 'cost_source'>> => {
  if (usage.cost_usd !== null) return { cost_usd: usage.cost_usd, cost_source: 'reported' };
  return costByPrice((await reference.modelPrices()).prices, usage);
};

export const logLlmCost = post('/v1/internal/llm-cost', {
  summary: 'Log what one call of a model used',
  description:
    'Without `cost_usd` the cost follows from the price in force at `occurred_at`. Without a ' +
    'price it is null, reports list the call as unpriced, and a price published later fills ' +
    'it in.',
  access: 'admin_or_service',
  tenant: 'body',
  serviceActsForAll: true,
  idempotency: KEPT_A_DAY,
  body: llmCostRequest,
  reply: { status: 201, schema: llmCostLogged },
  problems: ['idempotency_key_reused', 'busy'],
  handle: async ({ body, meta, doneOr }, deps) => {
    const usage = usageOf(body, meta.now);
    checkNotAhead(usage.occurred_at, meta.now);
    // What the caller left out is the same payload at any time.
    const fingerprint = fingerprintOf({ kind: 'llm cost', ...usageOf(body, '') });
    const cost = await costOf(deps, usage);
    const data = { ...usage, ...cost, cost_id: deps.clock.newId('llm'), fingerprint };
    const outcome = await deps.llmCosts.log({ type: 'LogLlmCost', data, meta });
    const { events, state, position } = doneOr(outcome, {
      idempotency_key_reused: 'This entry_id belongs to another entry.',
    });
    deps.reads.note(body.tenant_id, position);
    const logged = events[0]?.data ?? state.entries.get(data.entry_id ?? '');
    if (logged === undefined) throw new Error('a cost that was logged is not in its stream');
    return {
      id: logged.cost_id,
      cost_usd: logged.cost_usd === null ? null : usdOfPico(picoOf(logged.cost_usd)),
      priced: logged.cost_usd !== null,
      created_at: logged.created_at,
    };
  },
});
