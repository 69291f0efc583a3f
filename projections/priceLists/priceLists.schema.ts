import { table } from '../engine/table.ts';

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
