import type { Booking, Minor, Values } from './values.ts';
import { minusValues, NOTHING, shareOf, valuesOf } from './values.ts';

/**
 * Credits that came together, and the money that is recognised as they are consumed. `credits`, `used` and
 * `values` are those of the lot's present segment: a refund ends one and begins the next with what is left.
 */
export interface Lot {
  /** The sale's grant ID or the adjustment's ID. */
  readonly lot_id: string;
  /** Place of its event in the log: lots are consumed in this order. */
  readonly position: bigint;
  /** Of the sale; empty for given credits. */
  readonly currency: string;
  /** null for given credits, and for sales without an amount or a rate: they carry no money. */
  readonly booking: Booking | null;
  readonly credits: number;
  readonly used: number;
  readonly values: Values;
  /** Money refunded so far, in minor units. */
  readonly refunded: Minor;
}

/** Credits given by a person: a lot without money. */
const GIVEN = '';

export const isGiven = ({ currency }: Lot): boolean => currency === GIVEN;
export const leftIn = ({ credits, used }: Lot): number => credits - used;

const NO_MONEY: Minor = { gross: 0, vat: 0, fee: 0 };

export const givenLot = (lot_id: string, position: bigint, credits: number): Lot => ({
  ...{ lot_id, position, credits, currency: GIVEN, booking: null },
  ...{ used: 0, values: NOTHING, refunded: NO_MONEY },
});

interface SoldLot {
  readonly lot_id: string;
  readonly position: bigint;
  readonly credits: number;
  readonly currency: string;
  readonly booking: Booking | null;
  readonly money: Minor;
}

export const soldLot = ({ money, ...lot }: SoldLot): Lot => ({
  ...lot,
  used: 0,
  values: lot.booking === null ? NOTHING : valuesOf(money, lot.booking),
  refunded: NO_MONEY,
});

/** A lot after something happened to it, and the money that left it thereby. */
export interface LotStep {
  readonly lot: Lot;
  readonly released: Values;
}

/**
 * Consumes credits: of a segment of U credits and value V, ⌊V × k ÷ U⌋ is recognised after k of them, all of
 * it after the last. Expects `credits` ≤ what is left.
 */
export const consume = (lot: Lot, credits: number): LotStep => {
  const used = lot.used + credits;
  const before = shareOf(lot.values, lot.used, lot.credits);
  const released = minusValues(shareOf(lot.values, used, lot.credits), before);
  return { lot: { ...lot, used }, released };
};

/** What the segment has not recognised yet. */
export const valueLeft = (lot: Lot): Values =>
  minusValues(lot.values, shareOf(lot.values, lot.used, lot.credits));

/** Takes credits away unconsumed, with the value that they carry. Expects `credits` ≤ what is left. */
export const takeFrom = (lot: Lot, credits: number): LotStep => {
  const [left, value] = [leftIn(lot), valueLeft(lot)];
  const released = shareOf(value, credits, left);
  const next = { ...lot, credits: left - credits, used: 0, values: minusValues(value, released) };
  return { lot: next, released };
};

const plusMinor = (a: Minor, b: Minor): Minor => ({
  gross: a.gross + b.gross,
  vat: a.vat + b.vat,
  fee: a.fee + b.fee,
});

/** What a refund's money is worth at the sale's own rate: refunds of all of it come to the lot's value. */
const refundValues = ({ booking, refunded }: Lot, money: Minor): Values => {
  if (booking === null) return NOTHING;
  return minusValues(valuesOf(plusMinor(refunded, money), booking), valuesOf(refunded, booking));
};

interface RefundedLot extends LotStep {
  /** The refund's money at the sale's rate. */
  readonly refunded: Values;
}

/**
 * Takes a refund's own credits and money out of the lot. Value that then lies in a lot without credits is
 * released. Expects `credits` ≤ what is left.
 */
export const refundLot = (lot: Lot, credits: number, money: Minor): RefundedLot => {
  const refunded = refundValues(lot, money);
  const left = leftIn(lot) - credits;
  const value = minusValues(valueLeft(lot), refunded);
  const next = { ...lot, credits: left, used: 0, refunded: plusMinor(lot.refunded, money) };
  return left === 0
    ? { lot: { ...next, values: NOTHING }, released: value, refunded }
    : { lot: { ...next, values: value }, released: NOTHING, refunded };
};
