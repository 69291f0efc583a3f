import type { AccountState } from '../account/state.ts';
import { availableIn } from '../account/state.ts';
import { covers } from '../account/decision.ts';
import { freePagesOf } from '../account/holds.ts';
import type { BillingConfigVersion } from '../billingConfig/decider.ts';
import type { ExtractionMode } from '../account/words.ts';
import { formatScaled } from '../kernel/rounding.ts';
import type { Credits } from '../kernel/units.ts';
import { pricePages, rateFor, ratedMode, type RateKey } from './rating.ts';

export interface QuoteRequest extends RateKey {
  readonly pages: number;
}

/** What work would cost now. A hold placed on the same state takes exactly this. */
export interface Quote {
  readonly operation: RateKey['operation'];
  readonly extraction_mode: ExtractionMode;
  readonly billing_type: RateKey['billing_type'];
  readonly pages: number;
  readonly free_pages_applied: number;
  readonly billable_pages: number;
  readonly credits_per_page: Credits;
  readonly credits: Credits;
  readonly list_value_usd: string;
  readonly available_credits: Credits;
  readonly sufficient: boolean;
  readonly billing_config_version: number;
}

/** List value of credits as decimal text: 1,000 credits are 1.00 USD. */
export const listValueUsd = (credits: number): string => formatScaled(BigInt(credits), 3);

/** undefined where no rate is published for the operation, mode and billing type. */
export const quote = (
  state: AccountState,
  config: BillingConfigVersion,
  { pages, ...key }: QuoteRequest,
): Quote | undefined => {
  const rate = rateFor(config.rates, key);
  if (rate === undefined) return undefined;
  const free = freePagesOf(state, config.terms.free_pages);
  const { credits_per_page } = rate;
  const { free_pages, billable_pages, credits, payable } = pricePages(pages, free, credits_per_page);
  const available_credits = availableIn(state);
  return {
    operation: key.operation,
    extraction_mode: ratedMode(key.operation, key.extraction_mode),
    billing_type: key.billing_type,
    pages,
    free_pages_applied: free_pages,
    billable_pages,
    credits_per_page,
    credits,
    list_value_usd: listValueUsd(credits),
    available_credits,
    sufficient: payable && covers(available_credits, credits),
    billing_config_version: config.version,
  };
};
