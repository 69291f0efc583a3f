import { listValueUsd } from '../../domain/kernel/amounts.ts';
import { usdOfPico } from '../../domain/modelPrices.ts';
import type { WorkCost } from '../../projections/costs.ts';

/** List value of a credit: 1,000 credits are 1.00 USD. */
const PICO_PER_CREDIT = 1_000_000_000n;

/** The members of a cost report's item. */
export const workCostAnswer = ({ operations, pages, credits, cost_pico }: WorkCost) => ({
  ...{ operations, pages, credits },
  list_value_usd: listValueUsd(credits),
  llm_cost_usd: usdOfPico(cost_pico),
  margin_usd: usdOfPico(BigInt(credits) * PICO_PER_CREDIT - cost_pico),
});

/** Adds up costs. */
export const workCostTotal = (items: readonly WorkCost[]): WorkCost => ({
  operations: items.reduce((sum, { operations }) => sum + operations, 0),
  pages: items.reduce((sum, { pages }) => sum + pages, 0),
  credits: items.reduce((sum, { credits }) => sum + credits, 0),
  cost_pico: items.reduce((sum, { cost_pico }) => sum + cost_pico, 0n),
});
