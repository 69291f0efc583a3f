import { type Projector, table } from './engine/table.ts';
import { inserting, jsonText } from './engine/bulk.ts';
import { only, type ProjectedEventOf } from './engine/ports.ts';

/** In the place of a window: work that may not wait. */
export const AT_ONCE = 'none';

/** Terms by version. A published config sets all rates. */
export const billingConfigs = table({
  name: 'billing_configs',
  rowsOf: 'shared',
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
 * same operation, mode, type and window.
 */
export const billingRates = table({
  name: 'billing_rates',
  rowsOf: 'shared',
  key: ['version', 'operation', 'extraction_mode', 'billing_type', 'completion_window'],
  columns: {
    version: 'int4',
    operation: 'sorted',
    extraction_mode: 'sorted',
    billing_type: 'sorted',
    completion_window: 'sorted',
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
  return rates.map((rate) => ({
    ...rate,
    completion_window: rate.completion_window ?? AT_ONCE,
    version,
    effective_at,
  }));
};

/** Billing configs and their rates. */
export const billingConfigsProjector: Projector = {
  name: 'billing_configs',
  version: 2,
  eventTypes: ['BillingConfigPublished', 'BillingRateSet'],
  tables: [billingConfigs, billingRates],
  apply: async (tx, { schema, events }) => {
    const changes = only(events, 'BillingConfigPublished', 'BillingRateSet');
    await insertConfigs(tx, schema, changes.map(configOf));
    await insertRates(tx, schema, changes.flatMap(ratesOf));
  },
};

/** All published price lists; the highest is the active one. */
export const priceLists = table({
  name: 'price_lists',
  rowsOf: 'shared',
  key: ['version'],
  columns: {
    version: 'int4',
    entries: 'jsonb',
    note: 'text?',
    published_at: 'text',
    published_by: 'text',
  },
});

const publishList = inserting(priceLists);

/** Published price lists. */
export const priceListsProjector: Projector = {
  name: 'price_lists',
  version: 1,
  eventTypes: ['PriceListPublished'],
  tables: [priceLists],
  apply: async (tx, { schema, events }) => {
    const published = only(events, 'PriceListPublished').map(({ data }) => data);
    const rows = published.map((data) => ({ ...data, entries: jsonText(data.entries) }));
    await publishList(tx, schema, rows);
  },
};
