import type { ReadTable } from '../engine/projector.ts';

/** All published versions; the highest is the active one. */
export const priceListsDdl = (schema: string): string => `
  create table ${schema}.price_lists (
    version int4 primary key,
    entries jsonb not null,
    note text,
    published_at text not null,
    published_by text not null
  )`;

export const priceListsTables: readonly ReadTable[] = [{ name: 'price_lists', key: ['version'] }];
