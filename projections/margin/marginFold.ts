import { negated } from '../../domain/kernel/units.ts';
import { givenLot, soldLot, type Lot } from '../../domain/margin/lot.ts';
import {
  addLot,
  burnLots,
  clawBack,
  refundLots,
  type TenantLots,
  type TrueUp,
} from '../../domain/margin/tenantLots.ts';
import type { Booking } from '../../domain/margin/values.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { tenantOf } from '../engine/feed/event.ts';
import type { Row } from '../engine/table.ts';
import type { marginBookings, marginBurns } from './margin.schema.ts';

/** What a burn recognised of lots of one currency; micro-USD. */
export type BurnFlow = Row<typeof marginBurns>;
/** What a sale, refund, gift or clawback moved in one currency. */
export type BookingFlow = Row<typeof marginBookings>;

/** Everything that a batch does, over the lots of its tenants. */
interface MarginFold {
  readonly tenants: Map<string, TenantLots>;
  readonly burns: BurnFlow[];
  readonly bookings: BookingFlow[];
}

const NO_LOTS: TenantLots = { lots: [], deficit: 0 };

interface Place {
  readonly position: bigint;
  readonly created_at: string;
}

const nothingAt = ({ position, created_at }: Place, currency: string): BookingFlow => ({
  ...{ position, currency, created_at, true_up: 0n, booked: 0n, refunded: 0n, sales: 0, refunds: 0 },
  ...{ gross_minor: 0, vat_minor: 0, fee_minor: 0, refunded_minor: 0, without_amount: 0, without_rate: 0 },
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
    ...{ lot_id: grant_id, position: event.position, credits, currency, booking: bookingOf(event) },
    money: {
      gross: data.gross_amount_minor ?? 0,
      vat: data.vat_amount_minor,
      fee: data.provider_fee_minor,
    },
  });
};

const sell = (fold: MarginFold, event: ProjectedEventOf<'CreditsGranted'>, state: TenantLots): TenantLots => {
  const { data, position } = event;
  const lot = lotOf(event);
  const { next, trueUps } = addLot(state, lot);
  const place = { position, created_at: data.created_at };
  const own = {
    ...nothingAt(place, data.currency),
    booked: lot.values.net,
    sales: 1,
    gross_minor: data.gross_amount_minor ?? 0,
    vat_minor: data.vat_amount_minor,
    fee_minor: data.provider_fee_minor,
    without_amount: data.gross_amount_minor === null ? 1 : 0,
    without_rate: data.gross_amount_minor !== null && data.fx_rate_to_usd === null ? 1 : 0,
  };
  book(fold, { own, place, trueUps });
  return next;
};

const refund = (
  fold: MarginFold,
  event: ProjectedEventOf<'CreditsRefunded'>,
  state: TenantLots,
): TenantLots => {
  const { data, position } = event;
  const { next, refunded, trueUps } = refundLots(state, {
    lot_id: data.grant_id,
    credits: data.credits,
    money: { gross: data.gross_amount_minor, vat: data.vat_amount_minor, fee: data.provider_fee_minor },
  });
  const place = { position, created_at: data.created_at };
  const own = {
    ...nothingAt(place, data.currency),
    ...{ refunded: refunded.net, refunds: 1, refunded_minor: data.gross_amount_minor },
  };
  book(fold, { own, place, trueUps });
  return next;
};

const adjust = (
  fold: MarginFold,
  event: ProjectedEventOf<'CreditsAdjusted'>,
  state: TenantLots,
): TenantLots => {
  const { adjustment_id, credits, created_at } = event.data;
  const { position } = event;
  const { next, trueUps } =
    credits > 0
      ? addLot(state, givenLot(adjustment_id, position, credits))
      : clawBack(state, negated(credits));
  if (trueUps.length > 0) book(fold, { place: { position, created_at }, trueUps });
  return next;
};

const burn = (fold: MarginFold, event: ProjectedEventOf<'CreditsBurned'>, state: TenantLots): TenantLots => {
  const { credits, created_at } = event.data;
  if (credits === 0) return state;
  const { next, parts } = burnLots(state, credits);
  for (const { currency, recognised, priced, given, unpriced } of parts)
    fold.burns.push({
      position: event.position,
      currency,
      created_at,
      priced_credits: priced,
      given_credits: given,
      unpriced_credits: unpriced,
      net: recognised.net,
      amount: recognised.amount,
      implied: recognised.implied,
      fee: recognised.fee,
      vat: recognised.vat,
    });
  return next;
};

const after = (fold: MarginFold, event: ProjectedEvent, state: TenantLots): TenantLots => {
  switch (event.type) {
    case 'CreditsGranted':
      return sell(fold, event, state);
    case 'CreditsRefunded':
      return refund(fold, event, state);
    case 'CreditsAdjusted':
      return adjust(fold, event, state);
    case 'CreditsBurned':
      return burn(fold, event, state);
    default:
      return state;
  }
};

/** Folds a batch over the lots of its tenants as they were before it. */
export const foldMargin = (
  before: ReadonlyMap<string, TenantLots>,
  events: readonly ProjectedEvent[],
): MarginFold => {
  const fold: MarginFold = { tenants: new Map(before), burns: [], bookings: [] };
  for (const event of events) {
    const tenant = tenantOf(event);
    fold.tenants.set(tenant, after(fold, event, fold.tenants.get(tenant) ?? NO_LOTS));
  }
  return fold;
};
