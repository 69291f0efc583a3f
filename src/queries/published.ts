import {
  activeBillingConfig,
  type BillingConfig,
  type BillingConfigState,
  type BillingRate,
} from '../../domain/billingConfig.ts';
import { activePriceList, type PriceListState } from '../../domain/priceList.ts';
import type { RateKey } from '../../domain/rating.ts';
import type { ReferenceData } from '../commands/reference/referenceData.ts';

/** Thrown while nothing has been published yet: the first start publishes a price list and a billing config. */
export class NotPublished extends Error {
  override readonly name = 'NotPublished';
}

/** The billing config in force, of a state that was just read or written. */
export const newestConfig = (state: BillingConfigState): BillingConfig => {
  const config = activeBillingConfig(state);
  if (config === undefined) throw new NotPublished('No billing config has been published yet.');
  return config;
};

/** The billing config in force. */
export const activeConfig = async (reference: Pick<ReferenceData, 'billingConfig'>): Promise<BillingConfig> =>
  newestConfig(await reference.billingConfig());

export const isSameRate = (a: RateKey, b: RateKey): boolean =>
  a.operation === b.operation && a.extraction_mode === b.extraction_mode && a.billing_type === b.billing_type;

/** The version since which a rate is what it is in `version`. */
const since = ({ versions }: BillingConfigState, version: number, rate: BillingRate) => {
  let from = versions[version - 1];
  for (let at = version - 2; at >= 0; at -= 1) {
    const earlier = versions[at];
    const same = earlier?.rates.find((one) => isSameRate(one, rate));
    if (same?.credits_per_page !== rate.credits_per_page) break;
    from = earlier;
  }
  return from;
};

/** All rates of one version (`BillingRateItem`), each with the version that it stands in unchanged since. */
export const ratesSince = (state: BillingConfigState, { version, rates, created_at }: BillingConfig) =>
  rates.map((rate) => {
    const from = since(state, version, rate);
    return {
      ...rate,
      billing_config_version: from?.version ?? version,
      effective_at: from?.created_at ?? created_at,
    };
  });

/** A version of the billing config (`BillingConfigResponse`). */
export const configOf = (state: BillingConfigState, config: BillingConfig) => ({
  version: config.version,
  ...config.terms,
  note: config.note,
  rates: ratesSince(state, config),
  created_at: config.created_at,
  created_by: config.created_by,
});

/** The active price list (`CreditPriceListResponse`). */
export const priceListOf = (state: PriceListState) => {
  const list = activePriceList(state);
  if (list === undefined) throw new NotPublished('No price list has been published yet.');
  const { version, entries, published_at, published_by, note } = list;
  return { version, entries: [...entries], published_at, published_by, note };
};
