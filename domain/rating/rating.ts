import type { BillingType, ExtractionMode } from '../account/words.ts';
import type { BillingRate } from '../billingConfig/events.ts';
import { asCredits, type Credits } from '../kernel/units.ts';

/** Modes as callers name them: `balanced` is an old name of `standard`. */
export type ModeName = ExtractionMode | 'balanced';

/** Work that is billed by the page. */
export type PagedOperation = BillingRate['operation'];

/**
 * The mode that a rate is looked up by. A conversion has no `standard`: its ordinary mode is `default`,
 * and a caller who names the ordinary mode of extraction means that.
 */
export const ratedMode = (operation: PagedOperation, mode: ModeName): ExtractionMode => {
  const name = mode === 'balanced' ? 'standard' : mode;
  return operation === 'to_markdown' && name === 'standard' ? 'default' : name;
};

export interface RateKey {
  readonly operation: PagedOperation;
  readonly extraction_mode: ModeName;
  readonly billing_type: BillingType;
}

/** The rate of an operation, mode and billing type; undefined where none is published. */
export const rateFor = (rates: readonly BillingRate[], key: RateKey): BillingRate | undefined => {
  const mode = ratedMode(key.operation, key.extraction_mode);
  return rates.find(
    (rate) =>
      rate.operation === key.operation &&
      rate.extraction_mode === mode &&
      rate.billing_type === key.billing_type,
  );
};

/** Free pages a tenant has left: allowance − used − held, never below 0 when an allowance shrank. */
export const freePagesLeft = (allowance: number, taken: number): number => Math.max(0, allowance - taken);

export interface PricedPages {
  readonly free_pages: number;
  readonly billable_pages: number;
  /** Billable pages × rate; capped at 2^53 − 1, see `payable`. */
  readonly credits: Credits;
  /** False when the product is beyond what any account can hold. */
  readonly payable: boolean;
}

/** Pages × rate → credits: free pages first, the rest at the rate. Quote, hold and settle all ask here. */
export const pricePages = (pages: number, freePages: number, creditsPerPage: Credits): PricedPages => {
  const free_pages = Math.min(pages, freePages);
  const billable_pages = pages - free_pages;
  const exact = billable_pages * creditsPerPage;
  const payable = Number.isSafeInteger(exact);
  const credits = asCredits(payable ? exact : Number.MAX_SAFE_INTEGER);
  return { free_pages, billable_pages, credits, payable };
};
