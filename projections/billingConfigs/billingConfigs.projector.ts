import { inserting, jsonText } from '../engine/apply/bulk.ts';
import type { ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { billingConfigs, billingRates } from './billingConfigs.schema.ts';

type Changed = ProjectedEventOf<'BillingConfigPublished' | 'BillingRateSet'>;

const insertConfigs = inserting(billingConfigs);
const insertRates = inserting(billingRates);

const configOf = ({ type, data }: Changed) =>
  type === 'BillingConfigPublished'
    ? { ...data, terms: jsonText(data.terms), all_rates: true }
    : { ...data, terms: null, all_rates: false, note: null };

const ratesOf = ({ type, data }: Changed) => {
  const { version, created_at: effective_at } = data;
  const rates = type === 'BillingConfigPublished' ? data.rates : [data.rate];
  return rates.map((rate) => ({ ...rate, version, effective_at }));
};

/** Billing configs and their rates. */
export const billingConfigsProjector: Projector = {
  name: 'billing_configs',
  version: 1,
  eventTypes: ['BillingConfigPublished', 'BillingRateSet'],
  tables: [billingConfigs, billingRates],
  apply: async (tx, { schema, events }) => {
    const changes = only(events, 'BillingConfigPublished', 'BillingRateSet');
    await insertConfigs(tx, schema, changes.map(configOf));
    await insertRates(tx, schema, changes.flatMap(ratesOf));
  },
};
