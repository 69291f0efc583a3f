import type { Lot } from '../../domain/margin/lot.ts';
import type { TenantLots } from '../../domain/margin/tenantLots.ts';
import { bigintOf, textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import type { BookingFlow, BurnFlow } from './marginFold.ts';

/** A numeric column that holds a whole number. */
export const wholeNumericOf = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  return typeof value === 'bigint' ? value : BigInt(textOf(row, name));
};

export const lotOfRow = (row: SqlRow): Lot => {
  const [fx_rate, price] = [textOrNull(row, 'fx_rate'), textOrNull(row, 'price')];
  const currency = textOf(row, 'currency');
  return {
    lot_id: textOf(row, 'lot_id'),
    position: bigintOf(row, 'position'),
    currency,
    booking: fx_rate === null || price === null ? null : { currency, fx_rate, price },
    credits: wholeOf(row, 'credits'),
    used: wholeOf(row, 'used'),
    values: {
      net: wholeNumericOf(row, 'net'),
      amount: wholeNumericOf(row, 'amount'),
      implied: wholeNumericOf(row, 'implied'),
      fee: wholeNumericOf(row, 'fee'),
      vat: wholeNumericOf(row, 'vat'),
    },
    refunded: {
      gross: wholeOf(row, 'refunded_gross'),
      vat: wholeOf(row, 'refunded_vat'),
      fee: wholeOf(row, 'refunded_fee'),
    },
  };
};

const rowOfLot = (tenant_id: string, { booking, values, refunded, ...lot }: Lot) => ({
  tenant_id,
  lot_id: lot.lot_id,
  position: lot.position,
  currency: lot.currency,
  fx_rate: booking?.fx_rate ?? null,
  price: booking?.price ?? null,
  credits: lot.credits,
  used: lot.used,
  ...values,
  refunded_gross: refunded.gross,
  refunded_vat: refunded.vat,
  refunded_fee: refunded.fee,
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

const SUMMED = [
  ...['priced_credits', 'given_credits', 'unpriced_credits', 'net', 'amount', 'implied', 'fee', 'vat'],
  ...['true_up', 'booked', 'refunded', 'sales', 'refunds', 'gross_minor', 'vat_minor', 'fee_minor'],
  ...['refunded_minor', 'without_amount', 'without_rate'],
] as const;

/** Members of a day's row that are sums, in the order of its columns. */
export const DAY_SUMS: readonly string[] = SUMMED;

/** What one batch adds to one row of `margin_days`. */
export type MarginDay = Record<string, bigint | string> & {
  readonly day: string;
  readonly currency: string;
  first_position: bigint;
  last_position: bigint;
};

const newDay = ({ created_at, currency, position }: BurnFlow | BookingFlow): MarginDay => ({
  ...Object.fromEntries(SUMMED.map((name) => [name, 0n])),
  day: created_at.slice(0, 10),
  currency,
  first_position: position,
  last_position: position,
});

const addTo = (day: MarginDay, flow: BurnFlow | BookingFlow): void => {
  if (flow.position < day.first_position) day.first_position = flow.position;
  if (flow.position > day.last_position) day.last_position = flow.position;
  for (const [name, value] of Object.entries(flow) as [string, unknown][]) {
    const sum = day[name];
    if (name === 'position' || typeof sum !== 'bigint') continue;
    if (typeof value === 'bigint') day[name] = sum + value;
    else if (typeof value === 'number') day[name] = sum + BigInt(value);
  }
};

/** Sums of a batch by day and currency. */
export const marginDays = (flows: readonly (BurnFlow | BookingFlow)[]): readonly MarginDay[] => {
  const days = new Map<string, MarginDay>();
  for (const flow of flows) {
    const key = `${flow.created_at.slice(0, 10)} ${flow.currency}`;
    const day = days.get(key) ?? newDay(flow);
    days.set(key, day);
    addTo(day, flow);
  }
  return [...days.values()];
};
