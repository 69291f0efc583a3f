import { type Projector, table } from './engine/table.ts';
import { inserting, jsonText } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';

/** Terms by version. A published config sets all rates. */
export const billingConfigs = table({
  name: 'billing_configs',
  key: ['version'],
  columns: {
    version: 'int4',
    terms: 'jsonb?',
    all_rates: 'boolean',
    note: 'text?',
    created_at: 'text',
    created_by: 'text',
  },
});

/**
 * The rates that each version set. A rate is in force from its version until the next version that sets the
 * same operation, mode and type.
 */
export const billingRates = table({
  name: 'billing_rates',
  key: ['version', 'operation', 'extraction_mode', 'billing_type'],
  columns: {
    version: 'int4',
    operation: 'sorted',
    extraction_mode: 'sorted',
    billing_type: 'sorted',
    credits_per_page: 'int8',
    effective_at: 'text',
  },
});

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
