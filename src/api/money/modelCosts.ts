import type { Clock } from '../../../domain/ports/log.ts';
import { z } from 'zod';
import { usdOfPico, picoOf, priceNamed } from '../../../domain/modelPrices.ts';
import { COST_GROUPS, type CostSums, type LlmCall } from '../../../projections/llmCosts.ts';
import { billingType } from '../../../domain/account/messages.ts';
import {
  creditsOut,
  fromBoundary,
  instantOut,
  logIdOut,
  occurredIn,
  pageMembers,
  plainText,
  tenantIdText,
  toBoundary,
  usdOut,
  wholeNumberText,
  checkKnown,
} from '../schemas/basics.ts';
import { KEPT_A_DAY, routesOver } from '../../server/routes.ts';
import { checkNotAhead } from '../schemas/rejections.ts';
import {
  currentPrices,
  pricesWithNulls,
  pricingAnswer,
  providerPriceItem,
  type ReferenceData,
} from '../../commands/reference.ts';
import { ALL_TENANTS, type Queries, type ReadYourWrites } from '../../queries/queries.ts';
import { problem } from '../../server/problems.ts';
import { fingerprintOf } from '../../../domain/kernel/chain.ts';
import type { LogLlmCost } from '../../../domain/llmCost.ts';
import { costByPrice, type LlmCosts } from '../../commands/llmCosts.ts';

/** What these routes need. */
export interface ModelCostsDeps {
  readonly reference: ReferenceData;
  readonly queries: Pick<
    Queries,
    'balanceOfTenant' | 'llmCosts' | 'llmCostsOfJob' | 'missingPrices' | 'providerPrices'
  >;
  readonly reads: ReadYourWrites;
  readonly llmCosts: LlmCosts;
  readonly clock: Clock;
}

const { get, post } = routesOver<ModelCostsDeps>();

/** Adds up sums of model calls. */
const costTotals = (items: readonly CostSums[]) => ({
  calls: items.reduce((sum, { calls }) => sum + calls, 0),
  input_tokens: items.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
  output_tokens: items.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
  cost_usd: usdOfPico(items.reduce((sum, { cost_pico }) => sum + cost_pico, 0n)),
  unpriced_calls: items.reduce((sum, { unpriced_calls }) => sum + unpriced_calls, 0),
});

const tokensIn = z.int().min(0).max(1_000_000_000_000);
const name = plainText(1, 200);

/** At most 6 decimals, so that the price of one token is a whole number of pico-USD. */
const perMillion = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'A decimal as text with at most 6 decimals.')
  .meta({ description: 'US dollars per million tokens, decimal text.' });
const fine = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,12})?$/, 'A decimal as text with at most 12 decimals.')
  .meta({ description: 'US dollars, decimal text.' });

const llmCostRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    job_id: name,
    operation: plainText(1, 64),
    provider: plainText(1, 64),
    model_name: name,
    input_tokens: tokensIn,
    output_tokens: tokensIn,
    cached_input_tokens: tokensIn.default(0).meta({ description: 'Part of `input_tokens`.' }),
    pages: z.int().min(0).max(1_000_000).nullish(),
    cost_usd: fine.nullish().meta({ description: 'Left out: computed from the price in force.' }),
    document_id: name.nullish(),
    task_id: name.nullish(),
    billing_type: billingType.default('full_service'),
    free_tier: z.boolean().default(false),
    entry_id: plainText(1, 255)
      .nullish()
      .meta({ description: 'The entry with this ID counts only once, for ever.' }),
    occurred_at: occurredIn.nullish(),
  })
  .refine(({ input_tokens, cached_input_tokens }) => cached_input_tokens <= input_tokens, {
    error: 'Must not be more than input_tokens.',
    path: ['cached_input_tokens'],
  })
  .meta({ id: 'LlmCostLogRequest' });
type LlmCostRequest = z.output<typeof llmCostRequest>;

const llmCostLogged = z
  .strictObject({
    id: z.string(),
    cost_usd: usdOut.nullable(),
    priced: z.boolean().meta({ description: 'False while no price of the model is known.' }),
    created_at: instantOut,
  })
  .meta({ id: 'LlmCostLoggedResponse' });

const sums = {
  calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: usdOut,
  unpriced_calls: z.int(),
};
const totals = z.strictObject(sums).meta({ id: 'LlmCostTotals' });

const llmCostAggregate = z
  .strictObject({
    group_by: z.string(),
    items: z.array(z.strictObject({ key: z.string(), ...sums }).meta({ id: 'LlmCostGroup' })),
    totals,
  })
  .meta({ id: 'LlmCostAggregateResponse' });

const llmCostLog = z
  .strictObject({
    job_id: z.string(),
    items: z.array(
      z
        .strictObject({
          id: z.string(),
          tenant_id: z.string(),
          job_id: z.string(),
          operation: z.string(),
          provider: z.string(),
          model_name: z.string(),
          input_tokens: z.int(),
          output_tokens: z.int(),
          cached_input_tokens: z.int(),
          pages: z.int().nullable(),
          cost_usd: usdOut.nullable(),
          document_id: z.string().nullable(),
          task_id: z.string().nullable(),
          billing_type: billingType,
          free_tier: z.boolean(),
          occurred_at: instantOut,
          created_at: instantOut,
        })
        .meta({ id: 'LlmCostItem' }),
    ),
    totals,
  })
  .meta({ id: 'LlmCostLogResponse' });

const pricesIn = {
  input_usd_per_million_tokens: perMillion,
  output_usd_per_million_tokens: perMillion,
  cached_input_usd_per_million_tokens: perMillion.nullish(),
  usd_per_page: fine.nullish(),
};
const pricesOut = {
  input_usd_per_million_tokens: usdOut,
  output_usd_per_million_tokens: usdOut,
  cached_input_usd_per_million_tokens: usdOut.nullable(),
  usd_per_page: usdOut.nullable(),
};

const providerPricingRequest = z
  .strictObject({
    provider: plainText(1, 64),
    model_name: name,
    ...pricesIn,
    effective_from: occurredIn.nullish().meta({ description: 'Left out: now.' }),
  })
  .meta({ id: 'CreateProviderPricingRequest' });

const providerPricingItem = z
  .strictObject({
    id: z.string(),
    provider: z.string(),
    model_name: z.string(),
    ...pricesOut,
    effective_from: instantOut,
    current: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'ProviderPricingItem' });

const providerPricingList = z
  .strictObject({ current: z.array(providerPricingItem), history: z.array(providerPricingItem) })
  .meta({ id: 'ProviderPricingResponse' });

const pricingRequest = z.strictObject({ model_name: name, ...pricesIn }).meta({ id: 'PricingUpsertRequest' });

const pricingResponse = z
  .strictObject({
    model_name: z.string(),
    provider: z.string().nullable(),
    ...pricesOut,
    source: z.enum(['model_pricing', 'provider_pricing']),
    updated_at: instantOut,
  })
  .meta({ id: 'PricingResponse' });

const missingPricingResponse = z
  .strictObject({
    days: z.int(),
    items: z.array(
      z
        .strictObject({
          provider: z.string(),
          model_name: z.string(),
          calls: z.int(),
          input_tokens: z.int(),
          output_tokens: z.int(),
          first_seen_at: instantOut,
          last_seen_at: instantOut,
        })
        .meta({ id: 'MissingPricingItem' }),
    ),
  })
  .meta({ id: 'MissingPricingResponse' });

const work = {
  operations: z.int(),
  pages: z.int(),
  credits: creditsOut,
  list_value_usd: usdOut,
  llm_cost_usd: usdOut,
  margin_usd: usdOut.meta({ description: 'List value − model cost.' }),
};

export const costByTask = z
  .strictObject({
    log_id: logIdOut,
    tenant_id: z.string(),
    items: z.array(z.strictObject({ task_id: z.string(), ...work }).meta({ id: 'TaskCost' })),
    totals: z.strictObject(work).meta({ id: 'TaskCostTotals' }),
  })
  .meta({ id: 'CostByTaskResponse' });

const documentCost = z
  .strictObject({
    document_id: z.string(),
    tenant_id: z.string(),
    task_id: z.string(),
    file_name: z.string().nullable(),
    ...work,
    last_used_at: instantOut,
  })
  .meta({ id: 'DocumentCost' });

export const costByDocument = z
  .strictObject({
    log_id: logIdOut,
    items: z.array(documentCost),
    ...pageMembers,
  })
  .meta({ id: 'CostByDocumentResponse' });

const subsidy = { operations: z.int(), pages: z.int(), tenants: z.int(), llm_cost_usd: usdOut };

export const subsidyResponse = z
  .strictObject({
    log_id: logIdOut,
    from_date: instantOut.nullable(),
    to_date: instantOut.nullable(),
    items: z.array(z.strictObject({ day: z.iso.date(), ...subsidy }).meta({ id: 'SubsidyDay' })),
    totals: z
      .strictObject({ operations: z.int(), pages: z.int(), llm_cost_usd: usdOut })
      .meta({ id: 'SubsidyTotals' }),
  })
  .meta({ id: 'FreeTierSubsidyResponse' });

export const createProviderPricing = post(
  '/v1/admin/provider-pricing',
  {
    summary: "Publish a provider's price for a model",
    description:
      'Prices are only added: to correct one, publish another. The first price of a model also covers earlier calls.',
    access: 'admin',
    body: providerPricingRequest,
    reply: { status: 201, schema: providerPricingItem },
    problems: ['busy'],
  },
  async ({ body, meta, doneOr }, { reference, reads, clock }) => {
    const price_id = clock.newId('ppr');
    const { provider, model_name } = body;
    const effective_from = body.effective_from ?? meta.now;
    checkNotAhead(effective_from, meta.now, 'effective_from');
    const data = { price_id, provider, model_name, ...pricesWithNulls(body), effective_from };
    const { state, position } = doneOr(
      await reference.publishModelPrice({ type: 'PublishProviderPrice', data, meta }),
      {},
    );
    reads.note(ALL_TENANTS, position);
    const current = currentPrices(state.prices, meta.now);
    return providerPriceItem({ ...data, created_at: meta.now }, current);
  },
);

const itemOf = ({ cost_pico, billing_type, ...call }: LlmCall) => ({
  ...call,
  billing_type: billing_type === 'byok' ? ('byok' as const) : ('full_service' as const),
  cost_usd: cost_pico === null ? null : usdOfPico(cost_pico),
});

const sumsOf = ({ input_tokens, output_tokens, cost_pico }: LlmCall) => ({
  calls: 1,
  input_tokens,
  output_tokens,
  cost_pico: cost_pico ?? 0n,
  unpriced_calls: cost_pico === null ? 1 : 0,
});

export const getLlmCostsOfJob = get(
  '/v1/admin/llm-costs/{job_id}',
  {
    summary: 'The model calls of one job, oldest first',
    description: 'For an unknown job the list is empty.',
    access: 'admin',
    params: z.object({ job_id: plainText(1, 200) }),
    reply: { status: 200, schema: llmCostLog },
    reads: 'all',
  },
  async (request, { queries }) => {
    const { job_id } = request.params;
    const calls = await queries.llmCostsOfJob(job_id);
    return { job_id, items: calls.map(itemOf), totals: costTotals(calls.map(sumsOf)) };
  },
);

const DAY_MS = 86_400_000;

export const getMissingPricing = get(
  '/v1/admin/llm/missing-pricing',
  {
    summary: 'Models that were called and have no provider price',
    description: 'Includes models whose calls reported their own cost.',
    access: 'admin',
    query: z.object({ days: wholeNumberText(1, 365).default(30) }),
    reply: { status: 200, schema: missingPricingResponse },
    reads: 'all',
  },
  async (request, { queries }) => {
    const { days } = request.query;
    const since = new Date(Date.parse(request.meta.now) - days * DAY_MS).toISOString();
    return { days, items: [...(await queries.missingPrices(since))] };
  },
);

export const getPricing = get(
  '/v1/pricing/{model_name}',
  {
    rest: 'model_name',
    summary: 'The price of a model',
    description: '`<provider>/<model>` or the name alone; the slash may be encoded or not.',
    access: 'any',
    params: z.object({ model_name: plainText(1, 300) }),
    reply: { status: 200, schema: pricingResponse },
    problems: ['model_pricing_not_found'],
  },
  async ({ params: { model_name }, meta }, { reference }) => {
    const price = priceNamed((await reference.modelPrices()).prices, model_name, meta.now);
    if (price === undefined) throw problem('model_pricing_not_found', 'This model has no known price.');
    return pricingAnswer(model_name, price);
  },
);

export const listLlmCosts = get(
  '/v1/admin/llm-costs',
  {
    summary: 'Model costs, grouped',
    description: 'What model calls cost in a period, grouped by `group_by`.',
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
  },
  async (request, { queries }) => {
    const { from_date: from, to_date: to, ...query } = request.query;
    const found = await queries.llmCosts({ ...query, from, to });
    const { tenant_id } = query;
    if (tenant_id !== undefined) await checkKnown({ queries }, tenant_id, { isEmpty: found.length === 0 });
    const items = found.map(({ cost_pico, ...item }) => ({ ...item, cost_usd: usdOfPico(cost_pico) }));
    return { group_by: query.group_by, items, totals: costTotals(found) };
  },
);

export const listProviderPricing = get(
  '/v1/admin/provider-pricing',
  {
    summary: 'Prices of models, current and historical, newest first',
    description: '`current` has the price in force of each provider and model; `history` has all prices.',
    access: 'admin',
    reply: { status: 200, schema: providerPricingList },
    reads: 'all',
  },
  async (request, { queries }) => {
    const prices = await queries.providerPrices();
    const current = currentPrices([...prices].reverse(), request.meta.now);
    const history = prices.map((price) => providerPriceItem(price, current));
    return { current: history.filter((item) => item.current), history };
  },
);

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
  { reference }: Pick<ModelCostsDeps, 'reference'>,
  usage: ReturnType<typeof usageOf>,
): Promise<Pick<LogLlmCost['data'], 'cost_usd' | 'cost_source'>> => {
  if (usage.cost_usd !== null) return { cost_usd: usage.cost_usd, cost_source: 'reported' };
  return costByPrice((await reference.modelPrices()).prices, usage);
};

export const logLlmCost = post(
  '/v1/internal/llm-cost',
  {
    summary: 'Log what one call of a model used',
    description:
      'Without `cost_usd` the cost is computed from the price in force at `occurred_at`. If there is no price, the ' +
      'cost is null and reports list the call as unpriced, until a price is published later.',
    access: 'admin_or_service',
    tenant: 'body',
    serviceActsForAll: true,
    idempotency: KEPT_A_DAY,
    body: llmCostRequest,
    reply: { status: 201, schema: llmCostLogged },
    problems: ['idempotency_key_reused', 'busy'],
  },
  async ({ body, meta, doneOr }, deps) => {
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
);

export const setPricing = post(
  '/v1/pricing',
  {
    summary: 'Set the price of a model',
    description:
      '`model_name` may be `<provider>/<model>`. This price is used for calls of models whose provider has no ' +
      'published price.',
    access: 'admin_or_service',
    body: pricingRequest,
    reply: { status: 200, schema: pricingResponse },
    problems: ['busy'],
  },
  async ({ body, meta, doneOr }, { reference, reads, clock }) => {
    const { model_name } = body;
    const data = { price_id: clock.newId('ppr'), model_name, ...pricesWithNulls(body) };
    const { state, position } = doneOr(
      await reference.publishModelPrice({ type: 'SetModelPrice', data, meta }),
      {},
    );
    reads.note(ALL_TENANTS, position);
    const price = priceNamed(state.prices, model_name, meta.now);
    if (price === undefined) throw new Error('a price that was set is not known');
    return pricingAnswer(model_name, price);
  },
);
