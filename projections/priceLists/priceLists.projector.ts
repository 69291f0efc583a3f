import { bulk, jsonText } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { priceListsDdl, priceListsTables } from './priceLists.schema.ts';

const versions = bulk({
  version: 'int4',
  entries: 'jsonb',
  note: 'text',
  published_at: 'text',
  published_by: 'text',
});

/** Published price lists. */
export const priceListsProjector: Projector = {
  name: 'price_lists',
  version: 1,
  eventTypes: ['PriceListPublished'],
  tables: priceListsTables,
  ddl: priceListsDdl,
  apply: async (tx, { schema, events }) => {
    const rows = only(events, 'PriceListPublished').map(({ data }) => ({
      ...data,
      entries: jsonText(data.entries),
    }));
    await tx.query(
      `insert into ${schema}.price_lists (${versions.names}) select ${versions.names} from ${versions.source()}`,
      versions.values(rows),
    );
  },
};
