import { type Projector, table } from './engine/table.ts';
import { inserting, jsonText } from './engine/bulk.ts';
import { only } from './engine/ports.ts';

/** All published versions; the highest is the active one. */
export const priceLists = table({
  name: 'price_lists',
  key: ['version'],
  columns: {
    version: 'int4',
    entries: 'jsonb',
    note: 'text?',
    published_at: 'text',
    published_by: 'text',
  },
});

const publish = inserting(priceLists);

/** Published price lists. */
export const priceListsProjector: Projector = {
  name: 'price_lists',
  version: 1,
  eventTypes: ['PriceListPublished'],
  tables: [priceLists],
  apply: async (tx, { schema, events }) => {
    const published = only(events, 'PriceListPublished').map(({ data }) => data);
    const rows = published.map((data) => ({ ...data, entries: jsonText(data.entries) }));
    await publish(tx, schema, rows);
  },
};
