import type { Lot, Parcel } from '../domain/margin.ts';
import { type Exact, noSums, type Row, rowReader, type Sum, sumsOf, textOf } from './engine/table.ts';
import { only, type ProjectedEvent, type SqlRow, type SqlTx } from './engine/ports.ts';
import { marginBookings, marginBurns, marginDays, marginLots, marginTransit } from './marginTables.ts';

const readLot = rowReader(marginLots.columns);

/** A lot as it was saved. */
export const lotOfRow = (row: SqlRow): Lot => {
  const { lot_id, origin, position, currency, fx_rate, price, credits, used, issued, ...money } =
    readLot(row);
  const { net, amount, implied, fee, vat } = money;
  // Members one by one, here and below: each batch does this for every lot of its tenants.
  return {
    lot_id,
    origin,
    position,
    currency,
    credits,
    used,
    values: { net, amount, implied, fee, vat },
    booking: fx_rate === null || price === null ? null : { currency, fx_rate, price },
    issued,
    money: { gross: money.paid_gross, vat: money.paid_vat, fee: money.paid_fee },
    refunded: { gross: money.refunded_gross, vat: money.refunded_vat, fee: money.refunded_fee },
    disputed: money.disputed_fee,
  };
};

/** A lot as it is saved. */
export const rowOfLot = (tenant_id: string, lot: Lot) => ({
  tenant_id,
  lot_id: lot.lot_id,
  origin: lot.origin,
  position: lot.position,
  currency: lot.currency,
  fx_rate: lot.booking?.fx_rate ?? null,
  price: lot.booking?.price ?? null,
  credits: lot.credits,
  used: lot.used,
  net: lot.values.net,
  amount: lot.values.amount,
  implied: lot.values.implied,
  fee: lot.values.fee,
  vat: lot.values.vat,
  issued: lot.issued,
  paid_gross: lot.money.gross,
  paid_vat: lot.money.vat,
  paid_fee: lot.money.fee,
  refunded_gross: lot.refunded.gross,
  refunded_vat: lot.refunded.vat,
  refunded_fee: lot.refunded.fee,
  disputed_fee: lot.disputed,
});

const readParcel = rowReader(marginTransit.columns);

/** Credits between two tenants as they were saved. */
const parcelOfRow = (row: SqlRow): Parcel => {
  const { origin, currency, fx_rate, price, credits, net, amount, implied, fee, vat } = readParcel(row);
  const booking = fx_rate === null || price === null ? null : { currency, fx_rate, price };
  return { origin, currency, booking, credits, values: { net, amount, implied, fee, vat } };
};

/** Credits between two tenants as they are saved. */
const rowOfParcel = (
  at: { readonly transfer_id: string; readonly part: number },
  { origin, currency, booking, credits, values }: Parcel,
) => ({
  ...at,
  origin,
  currency,
  credits,
  fx_rate: booking?.fx_rate ?? null,
  price: booking?.price ?? null,
  ...values,
});

/** Credits between two tenants, by transfer. */
export type Transit = ReadonlyMap<string, readonly Parcel[]>;

/** What a batch sent and did not receive. */
export const newParcels = (before: Transit, after: Transit) =>
  [...after]
    .filter(([transfer_id]) => !before.has(transfer_id))
    .flatMap(([transfer_id, parcels]) =>
      parcels.map((parcel, part) => rowOfParcel({ transfer_id, part }, parcel)),
    );

const TRANSIT = (schema: string) =>
  `select * from ${schema}.margin_transit where transfer_id = any($1::text[]) order by transfer_id, part`;

/** Credits that were sent before the batch, and arrive in it. */
export const transitOf = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<Transit> => {
  const ids = only(events, 'CreditsTransferredIn').map(({ data }) => data.transfer_id);
  const parcels = new Map<string, readonly Parcel[]>();
  if (ids.length === 0) return parcels;
  for (const row of await tx.query(TRANSIT(schema), [ids])) {
    const id = textOf(row, 'transfer_id');
    parcels.set(id, [...(parcels.get(id) ?? []), parcelOfRow(row)]);
  }
  return parcels;
};

/** What a burn recognised of lots of one currency; micro-USD. */
export type BurnFlow = Row<typeof marginBurns>;
/** What a sale, refund, gift or clawback moved in one currency. */
export type BookingFlow = Row<typeof marginBookings>;

const SUMMED = sumsOf(marginDays.columns);

type MarginDay = Sum<typeof marginDays, Exact>;
type Flow = BurnFlow | BookingFlow;

const newDay = ({ booked_at, currency, position }: Flow): MarginDay => ({
  ...noSums(marginDays.columns),
  day: booked_at.slice(0, 10),
  currency,
  first_position: position,
  last_position: position,
});

const addTo = (day: MarginDay, flow: Flow): void => {
  if (flow.position < day.first_position) day.first_position = flow.position;
  if (flow.position > day.last_position) day.last_position = flow.position;
  const moved: Partial<Readonly<Record<(typeof SUMMED)[number], number | bigint>>> = flow;
  for (const name of SUMMED) {
    const added = moved[name];
    if (added !== undefined && added !== 0 && added !== 0n) day[name] += BigInt(added);
  }
};

/** Sums of a batch by day and currency. */
export const daySums = (flows: readonly Flow[]): readonly MarginDay[] => {
  const days = new Map<string, MarginDay>();
  for (const flow of flows) {
    const key = `${flow.booked_at.slice(0, 10)} ${flow.currency}`;
    const day = days.get(key) ?? newDay(flow);
    days.set(key, day);
    addTo(day, flow);
  }
  return [...days.values()];
};
