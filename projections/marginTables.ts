import { table } from './engine/table.ts';

/** The money of some credits, micro-USD. */
const WORTH = {
  net: 'numeric',
  amount: 'numeric',
  implied: 'numeric',
  fee: 'numeric',
  vat: 'numeric',
} as const;

/** What a burn recognised. */
export const BURN_SUMS = {
  priced_credits: 'int8',
  given_credits: 'int8',
  unpriced_credits: 'int8',
  ...WORTH,
} as const;

/** What a sale, refund, gift or clawback moved; micro-USD, and minor units of the currency. */
export const BOOKING_SUMS = {
  true_up: 'numeric',
  booked: 'numeric',
  refunded: 'numeric',
  sales: 'int4',
  refunds: 'int4',
  gross_minor: 'int8',
  vat_minor: 'int8',
  fee_minor: 'int8',
  refunded_minor: 'int8',
  without_amount: 'int4',
  without_rate: 'int4',
  stale_rate: 'int4',
  dispute_fee: 'numeric',
  dispute_fee_minor: 'int8',
} as const;

type Total<C> = C extends 'int4' ? 'int8 add' : 'numeric add';

/** Columns for totals, which are wider than what they add up. */
const totalsOf = <C extends Readonly<Record<string, 'int4' | 'int8' | 'numeric'>>>(columns: C) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, type]) => [name, type === 'int4' ? 'int8 add' : 'numeric add']),
  ) as { readonly [Name in keyof C]: Total<C[Name]> };

/** Lots of credits in their present segment. */
export const marginLots = table({
  name: 'margin_lots',
  key: ['tenant_id', 'lot_id'],
  columns: {
    tenant_id: 'sorted',
    lot_id: 'sorted',
    origin: 'sorted',
    position: 'position',
    currency: 'text',
    fx_rate: 'text? replace',
    price: 'text? replace',
    credits: 'int8 replace',
    used: 'int8 replace',
    /** used < credits. Indexes name it: `used` changes with every burn, and would have each written into them anew. */
    is_open: 'boolean replace',
    net: 'numeric replace',
    amount: 'numeric replace',
    implied: 'numeric replace',
    fee: 'numeric replace',
    vat: 'numeric replace',
    issued: 'int8 replace',
    paid_gross: 'int8',
    paid_vat: 'int8 replace',
    paid_fee: 'int8 replace',
    refunded_gross: 'int8 replace',
    refunded_vat: 'int8 replace',
    refunded_fee: 'int8 replace',
    disputed_fee: 'int8 replace',
  },
  // The second for the unused credits of a sale, whoever has them.
  indexes: ['(tenant_id, position) where is_open', '(origin) where is_open'],
  fillfactor: 50,
});

/** Credits that were used beyond all lots. */
export const marginDeficits = table({
  name: 'margin_deficits',
  key: ['tenant_id'],
  columns: { tenant_id: 'sorted', credits: 'int8 replace' },
});

/** Credits between two tenants: sent and not arrived. */
export const marginTransit = table({
  name: 'margin_transit',
  key: ['transfer_id', 'part'],
  columns: {
    transfer_id: 'sorted',
    part: 'int4',
    origin: 'sorted',
    currency: 'text',
    fx_rate: 'text?',
    price: 'text?',
    credits: 'int8',
    ...WORTH,
  },
});

/** By event and currency, for the parts of a day that a period may begin or end with. */
const FLOW = { position: 'position', currency: 'sorted', created_at: 'sorted', booked_at: 'sorted' } as const;
/** Events of closed months that were booked later. */
const LATE = '(booked_at) where booked_at > created_at';

export const marginBurns = table({
  name: 'margin_burns',
  key: ['position', 'currency'],
  columns: { ...FLOW, ...BURN_SUMS },
  indexes: [LATE],
});

export const marginBookings = table({
  name: 'margin_bookings',
  key: ['position', 'currency'],
  columns: {
    ...FLOW,
    tenant_id: 'sorted',
    /** The text key of its journal entry. */
    kind: 'text',
    /** The sale, refund, reversal or adjustment that it is about. */
    entry_id: 'text',
    /** VAT that is owed by it, micro-USD. */
    vat_due: 'numeric',
    ...BOOKING_SUMS,
  },
  // For the journal of a month, day by day.
  indexes: [LATE, '(left(booked_at, 10), tenant_id, position)'],
});

/** Where the books are open: one row, once a month was closed. */
export const marginBooks = table({
  name: 'margin_books',
  key: ['stream'],
  columns: { stream: 'sorted', opens_at: 'text replace' },
});

/** All of it by UTC day of booking and currency, with the positions between which the day's rows lie. */
export const marginDays = table({
  name: 'margin_days',
  key: ['day', 'currency'],
  columns: {
    day: 'sorted',
    currency: 'sorted',
    first_position: 'position least',
    last_position: 'position greatest',
    ...totalsOf(BURN_SUMS),
    ...totalsOf(BOOKING_SUMS),
  },
  fillfactor: 50,
});
