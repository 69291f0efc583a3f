import { accountOf, type AuditedEvent } from '../log/auditedEvent.ts';
import type { MarginBook, Moves } from '../money/marginBook.ts';
import { post } from '../money/marginPosting.ts';
import {
  BOOKING_SUMS,
  BURN_SUMS,
  marginBookings,
  marginBurns,
  marginDays,
  marginDeficits,
  marginLots,
} from '../../../projections/margin.ts';
import { allZero, noSums, sumsOf, type Exact, type RowOf } from '../../../projections/engine/table.ts';
import { keptRows, type ExpectedModel, type ExpectedRow, type ExpectedSum } from './expectedRows.ts';

type Burn = RowOf<typeof BURN_SUMS, Exact>;
type Booking = RowOf<typeof BOOKING_SUMS, Exact>;

const NO_BOOKING: Booking = allZero(BOOKING_SUMS);
const SUMMED = sumsOf(marginDays.columns);

const burnRows = ({ used }: Moves): Map<string, Burn> =>
  new Map(
    [...used].map(([currency, { priced, gift, unpriced, ...worth }]) => [
      currency,
      { priced_credits: priced, given_credits: gift, unpriced_credits: unpriced, ...worth },
    ]),
  );

/** What a sale or a refund books in its own currency; nothing of its own for an adjustment. */
const ownBooking = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Booking> => {
  if (event.type === 'CreditsRefunded') {
    const { currency, gross_amount_minor } = event.data;
    const own = { refunded: moves.refunded, refunds: 1n, refunded_minor: BigInt(gross_amount_minor) };
    return new Map([[currency, { ...NO_BOOKING, ...own }]]);
  }
  if (event.type !== 'CreditsGranted') return new Map();
  const { data } = event;
  const lot = book.lots.find(({ id }) => id === data.grant_id);
  const coins = [data.gross_amount_minor ?? 0, data.vat_amount_minor, data.provider_fee_minor] as const;
  const [gross, vat, fee] = [BigInt(coins[0]), BigInt(coins[1]), BigInt(coins[2])];
  const own = {
    ...{ booked: lot?.worth([gross, vat, fee]).net ?? 0n, sales: 1n },
    ...{ gross_minor: gross, vat_minor: vat, fee_minor: fee },
    without_amount: data.gross_amount_minor === null ? 1n : 0n,
    without_rate: data.gross_amount_minor !== null && data.fx_rate_to_usd === null ? 1n : 0n,
  };
  return new Map([[data.currency, { ...NO_BOOKING, ...own }]]);
};

const bookingRows = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Booking> => {
  const rows = ownBooking(event, book, moves);
  for (const [currency, net] of moves.trueUps)
    rows.set(currency, { ...(rows.get(currency) ?? NO_BOOKING), true_up: net });
  return rows;
};

const lotRow = (tenant_id: string, lot: MarginBook['lots'][number]): ExpectedRow<typeof marginLots> => ({
  ...{ tenant_id, lot_id: lot.id, position: lot.position, currency: lot.currency },
  ...{ fx_rate: lot.rate, price: lot.price, credits: lot.credits, used: lot.gone, ...lot.value },
  ...{ refunded_gross: lot.back[0], refunded_vat: lot.back[1], refunded_fee: lot.back[2] },
});

/** Lots, and what was recognised of them, by a second writing of the report's rules. */
export const marginRows: ExpectedModel = {
  name: 'margin',
  tables: [marginLots, marginDeficits, marginBurns, marginBookings, marginDays],
  start: (emit) => {
    const books = new Map<string, MarginBook>();
    const days = keptRows<typeof marginDays, ExpectedSum<typeof marginDays>>(marginDays, emit);

    const addToDay = (
      { position, currency, created_at }: { position: bigint; currency: string; created_at: string },
      sums: Partial<Burn & Booking>,
    ): void => {
      const day = created_at.slice(0, 10);
      const row = days.at(`${day} ${currency}`, () => ({
        ...noSums(marginDays.columns),
        ...{ day, currency, first_position: position, last_position: position },
      }));
      row.last_position = position;
      for (const name of SUMMED) row[name] += sums[name] ?? 0n;
    };
    const apply = (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined) return;
      const book = books.get(tenant) ?? { lots: [], hole: 0n };
      books.set(tenant, book);
      const moves = post(book, event);
      if (moves === undefined || !('created_at' in event.data)) return;
      const { created_at } = event.data;
      const placeOf = (currency: string) => ({ position: event.position, currency, created_at });
      const isBurn = event.type === 'CreditsBurned';
      const burns = isBurn ? burnRows(moves) : new Map<string, Burn>();
      const bookings = isBurn ? new Map<string, Booking>() : bookingRows(event, book, moves);
      for (const [currency, sums] of burns) emit(marginBurns, { ...placeOf(currency), ...sums });
      for (const [currency, sums] of bookings) emit(marginBookings, { ...placeOf(currency), ...sums });
      for (const [currency, sums] of [...burns, ...bookings]) addToDay(placeOf(currency), sums);
    };
    const finish = (): void => {
      for (const [tenant_id, { lots, hole }] of books) {
        for (const lot of lots) emit(marginLots, lotRow(tenant_id, lot));
        if (hole > 0n) emit(marginDeficits, { tenant_id, credits: hole });
      }
      days.emitAll();
    };
    return { apply, finish };
  },
};
