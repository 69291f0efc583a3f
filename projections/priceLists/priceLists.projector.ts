import { inserting, jsonText } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { priceLists } from './priceLists.schema.ts';

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
