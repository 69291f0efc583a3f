import type { ReadTable } from '../engine/projector.ts';

/** Lots of credits in their present segment, and credits that are missing beyond all lots. */
const lotTables = (schema: string): string => `
  create table ${schema}.margin_lots (
    tenant_id text collate "C" not null,
    lot_id text collate "C" not null,
    position int8 not null,
    currency text not null,
    fx_rate text,
    price text,
    credits int8 not null,
    used int8 not null,
    net numeric not null,
    amount numeric not null,
    implied numeric not null,
    fee numeric not null,
    vat numeric not null,
    refunded_gross int8 not null,
    refunded_vat int8 not null,
    refunded_fee int8 not null,
    primary key (tenant_id, lot_id)
  ) with (fillfactor = 50);
  create index on ${schema}.margin_lots (tenant_id, position) where used < credits;
  create table ${schema}.margin_deficits (
    tenant_id text collate "C" primary key,
    credits int8 not null
  )`;

/** What burns recognised, and what bookings (sales, refunds, gifts, clawbacks) moved; micro-USD. */
const flowTables = (schema: string): string => `
  create table ${schema}.margin_burns (
    position int8 not null,
    currency text collate "C" not null,
    created_at text collate "C" not null,
    priced_credits int8 not null,
    given_credits int8 not null,
    unpriced_credits int8 not null,
    net numeric not null,
    amount numeric not null,
    implied numeric not null,
    fee numeric not null,
    vat numeric not null,
    primary key (position, currency)
  );
  create table ${schema}.margin_bookings (
    position int8 not null,
    currency text collate "C" not null,
    created_at text collate "C" not null,
    true_up numeric not null,
    booked numeric not null,
    refunded numeric not null,
    sales int4 not null,
    refunds int4 not null,
    gross_minor int8 not null,
    vat_minor int8 not null,
    fee_minor int8 not null,
    refunded_minor int8 not null,
    without_amount int4 not null,
    without_rate int4 not null,
    primary key (position, currency)
  )`;

/** All of it summed up by UTC day and currency, with the positions between which the day's rows lie. */
const dayTable = (schema: string): string => `
  create table ${schema}.margin_days (
    day text collate "C" not null,
    currency text collate "C" not null,
    first_position int8 not null,
    last_position int8 not null,
    priced_credits numeric not null,
    given_credits numeric not null,
    unpriced_credits numeric not null,
    net numeric not null,
    amount numeric not null,
    implied numeric not null,
    fee numeric not null,
    vat numeric not null,
    true_up numeric not null,
    booked numeric not null,
    refunded numeric not null,
    sales int8 not null,
    refunds int8 not null,
    gross_minor numeric not null,
    vat_minor numeric not null,
    fee_minor numeric not null,
    refunded_minor numeric not null,
    without_amount int8 not null,
    without_rate int8 not null,
    primary key (day, currency)
  ) with (fillfactor = 50)`;

export const marginDdl = (schema: string): string =>
  [lotTables(schema), flowTables(schema), dayTable(schema)].join(';');

export const marginTables: readonly ReadTable[] = [
  { name: 'margin_lots', key: ['tenant_id', 'lot_id'] },
  { name: 'margin_deficits', key: ['tenant_id'] },
  { name: 'margin_burns', key: ['position', 'currency'] },
  { name: 'margin_bookings', key: ['position', 'currency'] },
  { name: 'margin_days', key: ['day', 'currency'] },
];
