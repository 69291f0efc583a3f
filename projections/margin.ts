import { type Projector, textOf } from './engine/table.ts';
import { BOOKS_STREAM, bookedAt } from '../domain/books.ts';
import type { EntryKind } from '../domain/journal.ts';
import { negated } from '../domain/kernel/amounts.ts';
import { isStaleRate } from '../domain/fxRates.ts';
import {
  addLot,
  type Booking,
  burnLots,
  clawBack,
  disputeLots,
  givenLot,
  type Lot,
  type Parcel,
  receiveLots,
  refundLots,
  revalueLots,
  restoreLots,
  sendLots,
  soldLot,
  type TenantLots,
  type TrueUp,
} from '../domain/margin.ts';
import { type ProjectedEvent, type ProjectedEventOf, tenantOf } from './engine/ports.ts';
import { inserting, upserting } from './engine/bulk.ts';
import { lotsOf, saveLotsOf } from './marginLots.ts';
import {
  type BookingFlow,
  type BurnFlow,
  daySums,
  newParcels,
  transitOf,
  type Transit,
} from './marginRows.ts';
import {
  marginBookings,
  marginBooks,
  marginBurns,
  marginDays,
  marginDeficits,
  marginLots,
  marginTransit,
} from './marginTables.ts';
import {
  marginLotDays,
  marginUses,
  noteLots,
  noteParcels,
  noteUse,
  nothingRecognised,
  type Recognised,
  saveRecognised,
} from './recognition.ts';

/** Everything that a batch does, over the lots of its tenants. */
interface MarginFold {
  readonly tenants: Map<string, TenantLots>;
  readonly burns: BurnFlow[];
  readonly bookings: BookingFlow[];
  readonly recognised: Recognised;
  /** Credits between two tenants, by transfer. */
  readonly transit: Map<string, readonly Parcel[]>;
  /** First instant that is open for booking; empty: no month is closed. */
  opensAt: string;
}

const NO_LOTS: TenantLots = { lots: [], deficit: 0 };

interface Place {
  readonly position: bigint;
  readonly created_at: string;
  readonly booked_at: string;
  readonly tenant_id: string;
  readonly kind: EntryKind;
  readonly entry_id: string;
}

type Posted = ProjectedEventOf<
  | 'CreditsGranted'
  | 'SaleDetailsAdded'
  | 'SaleRateBooked'
  | 'CreditsRefunded'
  | 'RefundReversed'
  | 'DisputeChanged'
  | 'CreditsTransferredOut'
  | 'CreditsTransferredIn'
  | 'CreditsAdjusted'
  | 'CreditsBurned'
>;

type Entry = Pick<Place, 'kind' | 'entry_id'>;

/** The kind of an event's journal entry, and what it is about. */
const ENTRIES: {
  readonly [Type in Posted['type']]: (data: ProjectedEventOf<Type>['data']) => Entry;
} = {
  CreditsGranted: (data) => ({ kind: 'sale', entry_id: data.grant_id }),
  SaleDetailsAdded: (data) => ({ kind: 'sale_details', entry_id: data.grant_id }),
  SaleRateBooked: (data) => ({
    kind: data.previous_rate === null ? 'rate' : 'rate_correction',
    entry_id: data.grant_id,
  }),
  CreditsRefunded: (data) => ({
    kind: data.dispute === undefined ? 'refund' : 'dispute',
    entry_id: data.refund_id,
  }),
  DisputeChanged: (data) => ({ kind: 'dispute', entry_id: data.refund_id }),
  RefundReversed: (data) => ({ kind: 'reversal', entry_id: data.reversal_id }),
  CreditsAdjusted: (data) => ({ kind: 'adjustment', entry_id: data.adjustment_id }),
  CreditsTransferredOut: (data) => ({ kind: 'transfer', entry_id: data.transfer_id }),
  CreditsTransferredIn: (data) => ({ kind: 'transfer', entry_id: data.transfer_id }),
  CreditsBurned: (data) => ({ kind: 'use', entry_id: data.usage_id }),
};

const entryOf = ({ type, data }: Posted): Entry => (ENTRIES[type] as (of: Posted['data']) => Entry)(data);

/** Where and when an event of an account is booked. */
const placeOf = ({ opensAt }: MarginFold, event: Posted): Place => {
  const { position, data } = event;
  const { kind, entry_id } = entryOf(event);
  const { created_at } = data;
  return {
    position,
    created_at,
    booked_at: bookedAt(created_at, opensAt),
    tenant_id: tenantOf(event),
    kind,
    entry_id,
  };
};

const nothingAt = (place: Place, currency: string): BookingFlow => ({
  ...place,
  currency,
  vat_due: 0n,
  true_up: 0n,
  booked: 0n,
  refunded: 0n,
  sales: 0,
  refunds: 0,
  gross_minor: 0,
  vat_minor: 0,
  fee_minor: 0,
  refunded_minor: 0,
  without_amount: 0,
  without_rate: 0,
  stale_rate: 0,
  dispute_fee: 0n,
  dispute_fee_minor: 0,
});

/** Books one row a currency: the booking itself, and its true-ups in any currency. */
const book = (
  fold: MarginFold,
  { own, place, trueUps }: { own?: BookingFlow; place: Place; trueUps: readonly TrueUp[] },
): void => {
  const rows = new Map<string, BookingFlow>(own === undefined ? [] : [[own.currency, own]]);
  for (const { currency, net } of trueUps) {
    const row = rows.get(currency) ?? nothingAt(place, currency);
    rows.set(currency, { ...row, true_up: row.true_up + net });
  }
  fold.bookings.push(...rows.values());
};

const bookingOf = ({ data }: ProjectedEventOf<'CreditsGranted'>): Booking | null => {
  const { gross_amount_minor, fx_rate_to_usd, currency, price_per_1000_credits } = data;
  if (gross_amount_minor === null || fx_rate_to_usd === null) return null;
  return { currency, fx_rate: fx_rate_to_usd, price: price_per_1000_credits };
};

const lotOf = (event: ProjectedEventOf<'CreditsGranted'>): Lot => {
  const { grant_id, credits, currency, ...data } = event.data;
  return soldLot({
    lot_id: grant_id,
    position: event.position,
    credits,
    currency,
    booking: bookingOf(event),
    money: {
      gross: data.gross_amount_minor ?? 0,
      vat: data.vat_amount_minor,
      fee: data.provider_fee_minor,
    },
  });
};

const sell = (fold: MarginFold, event: ProjectedEventOf<'CreditsGranted'>, state: TenantLots): TenantLots => {
  const { data } = event;
  const lot = lotOf(event);
  const { next, trueUps } = addLot(state, lot);
  const place = placeOf(fold, event);
  const own = {
    ...nothingAt(place, data.currency),
    booked: lot.values.net,
    vat_due: lot.values.vat,
    sales: 1,
    gross_minor: data.gross_amount_minor ?? 0,
    vat_minor: data.vat_amount_minor,
    fee_minor: data.provider_fee_minor,
    without_amount: data.gross_amount_minor === null ? 1 : 0,
    without_rate: data.gross_amount_minor !== null && data.fx_rate_to_usd === null ? 1 : 0,
    stale_rate: data.gross_amount_minor !== null && isStaleRate(data.fx_rate_date, data.occurred_at) ? 1 : 0,
  };
  book(fold, { own, place, trueUps });
  return next;
};

const refund = (
  fold: MarginFold,
  event: ProjectedEventOf<'CreditsRefunded'>,
  state: TenantLots,
): TenantLots => {
  const { data } = event;
  const after = refundLots(state, {
    lot_id: data.grant_id,
    credits: data.credits,
    money: { gross: data.gross_amount_minor, vat: data.vat_amount_minor, fee: data.provider_fee_minor },
  });
  const fee = data.dispute?.fee_minor ?? 0;
  const { next, cost } = disputeLots(after.next, data.grant_id, fee);
  const place = placeOf(fold, event);
  const own = {
    ...nothingAt(place, data.currency),
    refunded: after.refunded.net,
    vat_due: -after.refunded.vat,
    refunds: 1,
    refunded_minor: data.gross_amount_minor,
    dispute_fee: cost,
    dispute_fee_minor: fee,
  };
  book(fold, { own, place, trueUps: after.trueUps });
  return next;
};

/** The fee of a dispute that became known after it. */
const tellDispute = (
  fold: MarginFold,
  event: ProjectedEventOf<'DisputeChanged'>,
  state: TenantLots,
): TenantLots => {
  const { grant_id, currency, fee_minor, previous_fee_minor } = event.data;
  const fee = fee_minor - previous_fee_minor;
  if (fee === 0) return state;
  const { next, cost } = disputeLots(state, grant_id, fee);
  const place = placeOf(fold, event);
  const own = { ...nothingAt(place, currency), dispute_fee: cost, dispute_fee_minor: fee };
  book(fold, { own, place, trueUps: [] });
  return next;
};

/** Fee or VAT that became known after the sale: what was recognised without them is trued up. */
const addDetails = (
  fold: MarginFold,
  event: ProjectedEventOf<'SaleDetailsAdded'>,
  state: TenantLots,
): TenantLots => {
  const { data } = event;
  const { vat_amount_minor: vat = 0, provider_fee_minor: fee = 0 } = data.details;
  if (vat === 0 && fee === 0) return state;
  const more = ({ gross, vat: v, fee: f }: Lot['money']) => ({ gross, vat: v + vat, fee: f + fee });
  const { next, lot, booked, trueUps } = revalueLots(state, data.grant_id, ({ money }) => ({
    money: more(money),
  }));
  const place = placeOf(fold, event);
  const own = {
    ...nothingAt(place, lot.currency),
    booked: booked.net,
    vat_due: booked.vat,
    vat_minor: vat,
    fee_minor: fee,
  };
  book(fold, { own, place, trueUps });
  return next;
};

/** A rate that became known, or was corrected: the sale and its refunds are worth what they are at this rate. */
const bookRate = (
  fold: MarginFold,
  event: ProjectedEventOf<'SaleRateBooked'>,
  state: TenantLots,
): TenantLots => {
  const { data } = event;
  const { fx_rate_to_usd: fx_rate, price_per_1000_credits: price, sale_occurred_at: at } = data;
  const revalued = revalueLots(state, data.grant_id, ({ currency }) => ({
    booking: { currency, fx_rate, price },
  }));
  const { next, lot, booked, refunded, cost, trueUps } = revalued;
  const place = placeOf(fold, event);
  const own = {
    ...nothingAt(place, lot.currency),
    booked: booked.net,
    refunded: refunded.net,
    dispute_fee: cost,
    vat_due: booked.vat - refunded.vat,
    without_rate: data.previous_rate === null ? -1 : 0,
    stale_rate: Number(isStaleRate(data.fx_rate_date, at)) - Number(isStaleRate(data.previous_rate_date, at)),
  };
  book(fold, { own, place, trueUps });
  return next;
};

/** A refund undone counts against what was refunded. */
const restore = (
  fold: MarginFold,
  event: ProjectedEventOf<'RefundReversed'>,
  state: TenantLots,
): TenantLots => {
  const { data } = event;
  const { next, refunded, trueUps } = restoreLots(state, {
    lot_id: data.grant_id,
    credits: data.credits,
    money: { gross: data.gross_amount_minor, vat: data.vat_amount_minor, fee: data.provider_fee_minor },
  });
  const place = placeOf(fold, event);
  const own = {
    ...nothingAt(place, data.currency),
    refunded: refunded.net,
    vat_due: -refunded.vat,
    refunded_minor: 0 - data.gross_amount_minor,
  };
  book(fold, { own, place, trueUps });
  return next;
};

const adjust = (
  fold: MarginFold,
  event: ProjectedEventOf<'CreditsAdjusted'>,
  state: TenantLots,
): TenantLots => {
  const { adjustment_id, credits } = event.data;
  const { position } = event;
  const { next, trueUps } =
    credits > 0
      ? addLot(state, givenLot(adjustment_id, position, credits))
      : clawBack(state, negated(credits));
  if (trueUps.length > 0) book(fold, { place: placeOf(fold, event), trueUps });
  return next;
};

const send = (
  fold: MarginFold,
  { data }: ProjectedEventOf<'CreditsTransferredOut'>,
  state: TenantLots,
): TenantLots => {
  const { next, parcels } = sendLots(state, { credits: data.credits, origin: data.of_grant });
  fold.transit.set(data.transfer_id, parcels);
  return next;
};

/** Moves no money but that of credits which fill a hole. */
const receive = (
  fold: MarginFold,
  event: ProjectedEventOf<'CreditsTransferredIn'>,
  state: TenantLots,
): TenantLots => {
  const { transfer_id } = event.data;
  const parcels = fold.transit.get(transfer_id);
  if (parcels === undefined) throw new Error(`the transfer ${transfer_id} arrives and was not sent`);
  fold.transit.delete(transfer_id);
  const { next, trueUps } = receiveLots(state, { parcels, transfer_id, position: event.position });
  if (trueUps.length > 0) book(fold, { place: placeOf(fold, event), trueUps });
  return next;
};

const burn = (fold: MarginFold, event: ProjectedEventOf<'CreditsBurned'>, state: TenantLots): TenantLots => {
  const { credits } = event.data;
  if (credits === 0) return state;
  const { next, parts } = burnLots(state, credits);
  const place = placeOf(fold, event);
  let [net, fee] = [0n, 0n];
  for (const { currency, recognised, priced, given, unpriced } of parts) {
    net += recognised.net;
    fee += recognised.fee;
    fold.burns.push({
      position: place.position,
      currency,
      created_at: place.created_at,
      booked_at: place.booked_at,
      priced_credits: priced,
      given_credits: given,
      unpriced_credits: unpriced,
      net: recognised.net,
      amount: recognised.amount,
      implied: recognised.implied,
      fee: recognised.fee,
      vat: recognised.vat,
    });
  }
  const { tenant_id, booked_at } = place;
  noteUse(fold.recognised, event, { tenant_id, booked_at, net, fee });
  return next;
};

/** What is not about one sale. */
type Unsold = ProjectedEventOf<
  'CreditsTransferredOut' | 'CreditsTransferredIn' | 'CreditsAdjusted' | 'CreditsBurned'
>;

const applied = (fold: MarginFold, event: Posted, state: TenantLots): TenantLots => {
  switch (event.type) {
    case 'CreditsGranted':
      return sell(fold, event, state);
    case 'SaleDetailsAdded':
      return addDetails(fold, event, state);
    case 'SaleRateBooked':
      return bookRate(fold, event, state);
    case 'CreditsRefunded':
      return refund(fold, event, state);
    case 'RefundReversed':
      return restore(fold, event, state);
    case 'DisputeChanged':
      return tellDispute(fold, event, state);
    default:
      return moved(fold, event, state);
  }
};

const moved = (fold: MarginFold, event: Unsold, state: TenantLots): TenantLots => {
  switch (event.type) {
    case 'CreditsTransferredOut':
      return send(fold, event, state);
    case 'CreditsTransferredIn':
      return receive(fold, event, state);
    case 'CreditsAdjusted':
      return adjust(fold, event, state);
    case 'CreditsBurned':
      return burn(fold, event, state);
  }
};

const onTheWay = (
  { recognised, transit }: MarginFold,
  at: Parameters<typeof noteParcels>[1],
  { transfer_id, sign }: { readonly transfer_id: string; readonly sign: 1n | -1n },
): void => noteParcels(recognised, at, { transfer_id, sign, parcels: transit.get(transfer_id) ?? [] });

/** The lots after an event, with what it changed of them by day of booking. */
const after = (fold: MarginFold, event: Posted, state: TenantLots): TenantLots => {
  const booked = fold.bookings.length;
  const at = { tenant_id: tenantOf(event), booked_at: bookedAt(event.data.created_at, fold.opensAt) };
  if (event.type === 'CreditsTransferredIn') onTheWay(fold, at, { ...event.data, sign: -1n });
  const next = applied(fold, event, state);
  if (event.type === 'CreditsTransferredOut')
    onTheWay(fold, { ...at, tenant_id: event.data.to_tenant_id }, { ...event.data, sign: 1n });
  const isTransfer = event.type === 'CreditsTransferredOut' || event.type === 'CreditsTransferredIn';
  const atOnce = fold.bookings.slice(booked).reduce((sum, { true_up }) => sum + true_up, 0n);
  const recognisedOnArrival = isTransfer ? atOnce : undefined;
  noteLots(fold.recognised, at, { before: state.lots, after: next.lots, recognisedOnArrival });
  return next;
};

const isPosted = (event: ProjectedEvent): event is Posted => event.type in ENTRIES;

/** What a batch begins with: the lots of its tenants, and where the books are open. */
interface Before {
  readonly lots: ReadonlyMap<string, TenantLots>;
  readonly transit: Transit;
  readonly opensAt: string;
}

/** Folds a batch over the lots of its tenants as they were before it. */
export const foldMargin = (
  { lots, transit, opensAt }: Before,
  events: readonly ProjectedEvent[],
): MarginFold => {
  const fold: MarginFold = {
    tenants: new Map(lots),
    transit: new Map(transit),
    recognised: nothingRecognised(),
    burns: [],
    bookings: [],
    opensAt,
  };
  for (const event of events) {
    if (event.type === 'MonthCutOff' || event.type === 'MonthReopened') {
      fold.opensAt = event.data.opens_at ?? '';
      continue;
    }
    if (!isPosted(event)) continue;
    const tenant = tenantOf(event);
    fold.tenants.set(tenant, after(fold, event, fold.tenants.get(tenant) ?? NO_LOTS));
  }
  return fold;
};

const addBurns = inserting(marginBurns);
const addBookings = inserting(marginBookings);
const addDays = upserting(marginDays);
const saveBooks = upserting(marginBooks);
const addParcels = inserting(marginTransit);

const OPENS_AT = (schema: string) => `select opens_at from ${schema}.margin_books`;

const ARRIVED = (schema: string) =>
  `delete from ${schema}.margin_transit where transfer_id = any($1::text[])`;

const isOfAccount = ({ stream }: ProjectedEvent): boolean => stream !== BOOKS_STREAM;

/** Lots of credits consumed first in, first out, and the money that was recognised thereby. */
export const marginProjector: Projector = {
  name: 'margin',
  version: 6,
  eventTypes: [
    'CreditsGranted',
    'SaleDetailsAdded',
    'SaleRateBooked',
    'CreditsRefunded',
    'RefundReversed',
    'DisputeChanged',
    'CreditsTransferredOut',
    'CreditsTransferredIn',
    'CreditsAdjusted',
    'CreditsBurned',
    'MonthCutOff',
    'MonthReopened',
  ],
  tables: [
    marginLots,
    marginDeficits,
    marginTransit,
    marginBurns,
    marginBookings,
    marginDays,
    marginBooks,
    marginLotDays,
    marginUses,
  ],
  apply: async (tx, { schema, events }) => {
    const ofAccounts = events.filter(isOfAccount);
    const transit = await transitOf(tx, schema, ofAccounts);
    const before = await lotsOf(tx, schema, { events: ofAccounts, transit });
    const [books] = await tx.query(OPENS_AT(schema));
    const opensAt = books === undefined ? '' : textOf(books, 'opens_at');
    const fold = foldMargin({ lots: before, transit, opensAt }, events);
    await saveLotsOf(tx, schema, { before, after: fold.tenants });
    if (transit.size > 0) await tx.query(ARRIVED(schema), [[...transit.keys()]]);
    await addParcels(tx, schema, newParcels(transit, fold.transit));
    await addBurns(tx, schema, fold.burns);
    await addBookings(tx, schema, fold.bookings);
    await addDays(tx, schema, daySums([...fold.burns, ...fold.bookings]));
    await saveRecognised(tx, schema, fold.recognised);
    if (events.some((event) => !isOfAccount(event)))
      await saveBooks(tx, schema, [{ stream: BOOKS_STREAM, opens_at: fold.opensAt }]);
  },
};
