import type { Lot } from '../../domain/margin/lot.ts';
import type { TenantLots } from '../../domain/margin/tenantLots.ts';
import { rowReader } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { noSums, sumsOf, type Exact, type Sum } from '../engine/table.ts';
import { marginDays, marginLots } from './margin.schema.ts';
import type { BookingFlow, BurnFlow } from './marginFold.ts';

const readLot = rowReader(marginLots.columns);

/** A lot as it was saved. */
export const lotOfRow = (row: SqlRow): Lot => {
  const { lot_id, position, currency, fx_rate, price, credits, used, ...money } = readLot(row);
  const { net, amount, implied, fee, vat } = money;
  // Members one by one, here and below: each batch does this for every lot of its tenants.
  return {
    lot_id,
    position,
    currency,
    credits,
    used,
    values: { net, amount, implied, fee, vat },
    booking: fx_rate === null || price === null ? null : { currency, fx_rate, price },
    refunded: { gross: money.refunded_gross, vat: money.refunded_vat, fee: money.refunded_fee },
  };
};

const rowOfLot = (tenant_id: string, lot: Lot) => ({
  tenant_id,
  lot_id: lot.lot_id,
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
  refunded_gross: lot.refunded.gross,
  refunded_vat: lot.refunded.vat,
  refunded_fee: lot.refunded.fee,
});

/** Rows of the lots that a batch changed or made. */
export const changedLots = (
  before: ReadonlyMap<string, TenantLots>,
  after: ReadonlyMap<string, TenantLots>,
): readonly ReturnType<typeof rowOfLot>[] => {
  const rows: ReturnType<typeof rowOfLot>[] = [];
  for (const [tenant, { lots }] of after) {
    const known = new Set(before.get(tenant)?.lots);
    for (const lot of lots) if (!known.has(lot)) rows.push(rowOfLot(tenant, lot));
  }
  return rows;
};

/** Deficits that a batch changed. */
export const changedDeficits = (
  before: ReadonlyMap<string, TenantLots>,
  after: ReadonlyMap<string, TenantLots>,
): readonly { readonly tenant_id: string; readonly credits: number }[] =>
  [...after].flatMap(([tenant_id, { deficit }]) =>
    deficit === (before.get(tenant_id)?.deficit ?? 0) ? [] : [{ tenant_id, credits: deficit }],
  );

const SUMMED = sumsOf(marginDays.columns);

type MarginDay = Sum<typeof marginDays, Exact>;
type Flow = BurnFlow | BookingFlow;

const newDay = ({ created_at, currency, position }: Flow): MarginDay => ({
  ...noSums(marginDays.columns),
  day: created_at.slice(0, 10),
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
    const key = `${flow.created_at.slice(0, 10)} ${flow.currency}`;
    const day = days.get(key) ?? newDay(flow);
    days.set(key, day);
    addTo(day, flow);
  }
  return [...days.values()];
};
