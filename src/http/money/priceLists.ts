import type { PriceListState } from '../../../domain/priceList/decider.ts';
import { activePriceList } from '../../../domain/priceList/decider.ts';
import { problem } from '../problems.ts';

/** The members of `CreditPriceListResponse`, of the active list. The first start publishes one. */
export const priceListOf = (state: PriceListState) => {
  const list = activePriceList(state);
  if (list === undefined) throw problem('not_ready', 'No price list has been published yet.');
  const { version, entries, published_at, published_by, note } = list;
  return { version, entries: [...entries], published_at, published_by, note };
};
