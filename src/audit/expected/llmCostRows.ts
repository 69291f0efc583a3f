import { atScale, parseDecimal } from '../../../domain/kernel/amounts.ts';
import { accountOf, byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { noSums } from '../../../projections/engine/table.ts';
import { freeOperations, llmCostDays, llmCosts, modelPrices } from '../../../projections/llmCosts.ts';
import { keptRows, type ExpectedModel, type ExpectedSum } from './expectedRows.ts';

type Logged = AuditedEventOf<'LlmCostLogged'>;
type Priced = AuditedEventOf<'ProviderPricePublished' | 'ModelPriceSet'>;

/** Decimals of a USD amount that one pico-USD is. */
const PICO = 12;
/** Decimals that a price per million tokens has at most: one of them is a pico-USD a token. */
const PER_MILLION = 6;

const picoOf = (usd: string, scale: number): bigint => atScale(parseDecimal(usd), scale);
const inPico = (usd: string | null, scale: number): bigint | null =>
  usd === null ? null : picoOf(usd, scale);

const callRow = ({ data, position }: Logged) => ({
  ...data,
  position,
  cost_pico: inPico(data.cost_usd, PICO),
});

const priceRow = ({ type, data, position }: Priced) => {
  const { input_usd_per_million_tokens, output_usd_per_million_tokens, usd_per_page } = data;
  const { cached_input_usd_per_million_tokens } = data;
  const isProviders = type === 'ProviderPricePublished';
  return {
    price_id: data.price_id,
    position,
    provider: isProviders ? data.provider : null,
    model_name: data.model_name,
    input_pico: picoOf(input_usd_per_million_tokens, PER_MILLION),
    output_pico: picoOf(output_usd_per_million_tokens, PER_MILLION),
    cached_input_pico: inPico(cached_input_usd_per_million_tokens, PER_MILLION),
    page_pico: inPico(usd_per_page, PICO),
    prices: {
      input_usd_per_million_tokens,
      output_usd_per_million_tokens,
      cached_input_usd_per_million_tokens,
      usd_per_page,
    },
    effective_from: isProviders ? data.effective_from : data.updated_at,
    created_at: isProviders ? data.created_at : data.updated_at,
  };
};

type CostDay = ExpectedSum<typeof llmCostDays>;

/** Calls of models, their sums by day, prices, and operations with free pages. */
export const llmCostRows: ExpectedModel = {
  name: 'llm_costs',
  tables: [llmCosts, llmCostDays, modelPrices, freeOperations],
  start: (emit) => {
    const days = keptRows<typeof llmCostDays, CostDay>(llmCostDays, emit);
    /** Only calls with a cost in their event are summed up; the others are priced when they are read. */
    const addToDay = ({ data }: Logged): void => {
      const cost = inPico(data.cost_usd, PICO);
      if (cost === null) return;
      const { tenant_id, operation, provider, model_name, billing_type, free_tier } = data;
      const day = data.occurred_at.slice(0, 10);
      const dimensions = { day, tenant_id, operation, provider, model_name, billing_type, free_tier };
      const sums = days.at(JSON.stringify(Object.values(dimensions)), () => ({
        ...dimensions,
        ...noSums(llmCostDays.columns),
      }));
      sums.calls += 1n;
      sums.input_tokens += BigInt(data.input_tokens);
      sums.output_tokens += BigInt(data.output_tokens);
      sums.cost_pico += cost;
    };
    const addPrice = (event: Priced) => emit(modelPrices, priceRow(event));
    const apply = byType({
      LlmCostLogged: (event) => {
        emit(llmCosts, callRow(event));
        addToDay(event);
      },
      ProviderPricePublished: addPrice,
      ModelPriceSet: addPrice,
      CreditsBurned: ({ stream, data: { operation_id, pages, free_pages, created_at } }) => {
        const tenant_id = accountOf(stream) ?? '';
        if (free_pages > 0) emit(freeOperations, { tenant_id, operation_id, pages, free_pages, created_at });
      },
    });
    return { apply, finish: days.emitAll };
  },
};
