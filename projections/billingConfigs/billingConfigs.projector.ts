import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk, jsonText } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { billingConfigsDdl, billingConfigsTables } from './billingConfigs.schema.ts';

const configs = bulk({
  version: 'int4',
  terms: 'jsonb',
  all_rates: 'boolean',
  note: 'text',
  created_at: 'text',
  created_by: 'text',
});
const rates = bulk({
  version: 'int4',
  operation: 'text',
  extraction_mode: 'text',
  billing_type: 'text',
  credits_per_page: 'int8',
  effective_at: 'text',
});

const configRows = (event: ProjectedEvent): readonly BulkRow<typeof configs>[] => {
  if (event.type === 'BillingConfigPublished') {
    return [{ ...event.data, terms: jsonText(event.data.terms), all_rates: true }];
  }
  if (event.type === 'BillingRateSet') return [{ ...event.data, terms: null, all_rates: false, note: null }];
  return [];
};

const rateRows = (event: ProjectedEvent): readonly BulkRow<typeof rates>[] => {
  if (event.type === 'BillingConfigPublished') {
    const { version, created_at } = event.data;
    return event.data.rates.map((rate) => ({ ...rate, version, effective_at: created_at }));
  }
  if (event.type === 'BillingRateSet') {
    return [{ ...event.data.rate, version: event.data.version, effective_at: event.data.created_at }];
  }
  return [];
};

/** Billing configs and their rates. */
export const billingConfigsProjector: Projector = {
  name: 'billing_configs',
  version: 1,
  eventTypes: ['BillingConfigPublished', 'BillingRateSet'],
  tables: billingConfigsTables,
  ddl: billingConfigsDdl,
  apply: async (tx, { schema, events }) => {
    await tx.query(
      `insert into ${schema}.billing_configs (${configs.names}) select ${configs.names} from ${configs.source()}`,
      configs.values(events.flatMap(configRows)),
    );
    await tx.query(
      `insert into ${schema}.billing_rates (${rates.names}) select ${rates.names} from ${rates.source()}`,
      rates.values(events.flatMap(rateRows)),
    );
  },
};
