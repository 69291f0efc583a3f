import { covers, freePagesLeft, pageCost } from '../account/holds.ts';
import { availableIn, type AccountState } from '../account/state.ts';
import type { BillingType, Category, ExtractionMode } from '../account/words.ts';
import type { BillingConfig } from '../billingConfig/decider.ts';
import type { BillingRate } from '../billingConfig/events.ts';
import { listValueUsd } from '../kernel/rounding.ts';
import type { Credits } from '../kernel/units.ts';

/** Work that has a rate by the page. */
export type RatedOperation = BillingRate['operation'];

export interface RateKey {
  readonly operation: RatedOperation;
  readonly extraction_mode: ExtractionMode;
  readonly billing_type: BillingType;
}

/** `balanced` is an old name of `standard`; anything that is no mode is undefined. */
export const modeOf = (word: string): ExtractionMode | undefined => {
  const mode = word === 'balanced' ? 'standard' : word;
  return mode === 'fast' || mode === 'standard' || mode === 'robust' || mode === 'default' ? mode : undefined;
};

/** The mode that an operation is rated by: conversion knows `default` where extraction says `standard`. */
export const ratedMode = (operation: RatedOperation, mode: ExtractionMode): ExtractionMode =>
  operation === 'to_markdown' && mode === 'standard' ? 'default' : mode;

/** Credits a page; undefined where the config has no such rate. */
export const rateOf = ({ rates }: BillingConfig, key: RateKey): Credits | undefined =>
  rates.find(
    (rate) =>
      rate.operation === key.operation &&
      rate.billing_type === key.billing_type &&
      rate.extraction_mode === ratedMode(key.operation, key.extraction_mode),
  )?.credits_per_page;

/** How reports group an operation. */
export const categoryOf = (operation: RatedOperation): Category =>
  operation === 'extract' ? 'extraction' : 'ocr';

/** What some pages would cost a tenant now; the bill that follows agrees to the credit. */
interface Quote {
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

/** Quotes with the formula of the hold: free pages first, then pages × rate. */
export const quote = (
  state: AccountState,
  config: BillingConfig,
  work: { pages: number; rate: Credits },
): Quote => {
  const { free_pages, credits } = pageCost(
    work.pages,
    freePagesLeft(state, config.terms.free_pages),
    work.rate,
  );
  const available_credits = availableIn(state);
  return {
    pages: work.pages,
    free_pages_applied: free_pages,
    billable_pages: work.pages - free_pages,
    credits_per_page: work.rate,
    credits,
    list_value_usd: listValueUsd(credits),
    available_credits,
    sufficient: covers(available_credits, credits),
    billing_config_version: config.version,
  };
};
