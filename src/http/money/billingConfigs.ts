import type { BillingConfig, BillingConfigState } from '../../../domain/billingConfig/decider.ts';
import type { BillingRate } from '../../../domain/billingConfig/events.ts';
import { problem } from '../problems.ts';

const isSameKey = (a: BillingRate, b: BillingRate): boolean =>
  a.operation === b.operation && a.extraction_mode === b.extraction_mode && a.billing_type === b.billing_type;

/** The version since which a rate is what it is in `version`. */
const since = ({ versions }: BillingConfigState, version: number, rate: BillingRate) => {
  let from = versions[version - 1];
  for (let at = version - 2; at >= 0; at -= 1) {
    const earlier = versions[at];
    const same = earlier?.rates.find((one) => isSameKey(one, rate));
    if (same?.credits_per_page !== rate.credits_per_page) break;
    from = earlier;
  }
  return from;
};

/** The members of `BillingRateItem`, for all rates of one version. */
export const rateItems = (state: BillingConfigState, { version, rates, created_at }: BillingConfig) =>
  rates.map((rate) => {
    const from = since(state, version, rate);
    return {
      ...rate,
      billing_config_version: from?.version ?? version,
      effective_at: from?.created_at ?? created_at,
    };
  });

/** The members of `BillingConfigResponse`. */
export const configResponse = (state: BillingConfigState, config: BillingConfig) => ({
  version: config.version,
  ...config.terms,
  note: config.note,
  rates: rateItems(state, config),
  created_at: config.created_at,
  created_by: config.created_by,
});

/** The newest version. The first start publishes one. */
export const newest = ({ versions }: BillingConfigState): BillingConfig => {
  const config = versions.at(-1);
  if (config === undefined) throw problem('not_ready', 'No billing config has been published yet.');
  return config;
};
