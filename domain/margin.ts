import { divideDown, divideHalfEven, minorUnitDigits, parseDecimal, powerOfTen } from './kernel/amounts.ts';

/**
 * Money of a lot in micro-USD: `amount` is gross − VAT at the booking rate, `implied` the same at the rate
 * that the price list implies, `fee` and `vat` at the booking rate, and `net` what remains: gross − VAT − fee.
 */
export interface Values {
  readonly net: bigint;
  readonly amount: bigint;
  readonly implied: bigint;
  readonly fee: bigint;
  readonly vat: bigint;
}

export const NOTHING: Values = { net: 0n, amount: 0n, implied: 0n, fee: 0n, vat: 0n };

export const plusValues = (a: Values, b: Values): Values => ({
  net: a.net + b.net,
  amount: a.amount + b.amount,
  implied: a.implied + b.implied,
  fee: a.fee + b.fee,
  vat: a.vat + b.vat,
});

const minusValues = (a: Values, b: Values): Values => ({
  net: a.net - b.net,
  amount: a.amount - b.amount,
  implied: a.implied - b.implied,
  fee: a.fee - b.fee,
  vat: a.vat - b.vat,
});

/** ⌊value × part ÷ of⌋ of each; all of it for the whole. */
const shareOf = (values: Values, part: number, of: number): Values => {
  if (part === of) return values;
  if (part === 0) return NOTHING;
  const [p, q] = [BigInt(part), BigInt(of)];
  const share = (value: bigint) => (value === 0n ? 0n : divideDown(value * p, q));
  return {
    net: share(values.net),
    amount: share(values.amount),
    implied: share(values.implied),
    fee: share(values.fee),
    vat: share(values.vat),
  };
};

/** Money in minor units of a currency. */
interface Minor {
  readonly gross: number;
  readonly vat: number;
  readonly fee: number;
}

/** How money of one sale becomes micro-USD. */
export interface Booking {
  readonly currency: string;
  /** USD for 1 unit of the currency. */
  readonly fx_rate: string;
  /** Major units of the currency for 1,000 credits, which are 1 USD of list value. */
  readonly price: string;
}

const MICRO = 6;

/** Each total rounded half-even once (docs/explanation/margin-report.md). */
export const valuesOf = ({ gross, vat, fee }: Minor, { currency, fx_rate, price }: Booking): Values => {
  const digits = minorUnitDigits(currency) ?? 2;
  const rate = parseDecimal(fx_rate);
  const listed = parseDecimal(price);
  const booked = (minor: bigint) =>
    divideHalfEven(minor * rate.units * powerOfTen(MICRO), powerOfTen(digits + rate.scale));
  const [g, v, f] = [BigInt(gross), BigInt(vat), BigInt(fee)];
  return {
    net: booked(g - v - f),
    amount: booked(g - v),
    implied: divideHalfEven((g - v) * powerOfTen(MICRO + listed.scale), powerOfTen(digits) * listed.units),
    fee: booked(f),
    vat: booked(v),
  };
};

/**
 * Credits that came together, and the money that is recognised as they are consumed. `credits`, `used` and
 * `values` are those of the lot's present segment: a refund ends one and begins the next with what is left.
 */
export interface Lot {
  /** The sale's grant ID or the adjustment's ID. */
  readonly lot_id: string;
  /** The sale or gift that its credits come from: another one's ID where they came from another tenant. */
  readonly origin: string;
  /** Place of its event in the log: lots are consumed in this order. */
  readonly position: bigint;
  /** Of the sale; empty for given credits. */
  readonly currency: string;
  /** null for given credits, and for sales without an amount or a rate: they carry no money. */
  readonly booking: Booking | null;
  readonly credits: number;
  readonly used: number;
  readonly values: Values;
  /** Credits that it was sold with, less those that refunds took from it unused. */
  readonly issued: number;
  /** Money that was paid for it, in minor units. */
  readonly money: Minor;
  /** Money refunded so far, in minor units. */
  readonly refunded: Minor;
  /** Fees of its disputes, in minor units: a cost of their own, beside what was paid for the lot. */
  readonly disputed: number;
}

/** Credits given by a person: a lot without money. */
const GIVEN = '';

const isGiven = ({ currency }: Lot): boolean => currency === GIVEN;
export const leftIn = ({ credits, used }: Lot): number => credits - used;

const NO_MONEY: Minor = { gross: 0, vat: 0, fee: 0 };

export const givenLot = (lot_id: string, position: bigint, credits: number): Lot => ({
  lot_id,
  origin: lot_id,
  position,
  credits,
  currency: GIVEN,
  booking: null,
  used: 0,
  values: NOTHING,
  issued: credits,
  money: NO_MONEY,
  refunded: NO_MONEY,
  disputed: 0,
});

interface SoldLot {
  readonly lot_id: string;
  readonly position: bigint;
  readonly credits: number;
  readonly currency: string;
  readonly booking: Booking | null;
  readonly money: Minor;
}

export const soldLot = ({ lot_id, position, credits, currency, booking, money }: SoldLot): Lot => ({
  lot_id,
  origin: lot_id,
  position,
  currency,
  booking,
  credits,
  used: 0,
  issued: credits,
  money,
  values: booking === null ? NOTHING : valuesOf(money, booking),
  refunded: NO_MONEY,
  disputed: 0,
});

/** A lot after something happened to it, and the money that left it thereby. */
interface LotStep {
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
const takeFrom = (lot: Lot, credits: number): LotStep => {
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
 * Value that the credits left may carry: the part of what remains paid for the lot that is not due for credits that
 * are gone. Nothing where what remains is a loss, as a fee that the provider kept: that is shown at once.
 */
const deferredIn = ({ booking, money, refunded, issued, credits }: Lot): Values => {
  if (booking === null || credits === 0) return NOTHING;
  const paid = minusValues(valuesOf(money, booking), valuesOf(refunded, booking));
  return paid.net < 0n ? NOTHING : minusValues(paid, shareOf(paid, issued - credits, issued));
};

const hasNegative = ({ net, amount, implied, fee, vat }: Values): boolean =>
  net < 0n || amount < 0n || implied < 0n || fee < 0n || vat < 0n;

/**
 * Takes a refund's own credits and money out of the lot. Value that then lies in a lot without credits is released.
 * Money that goes without credits, or beyond what they and the rest carry, makes the lot worth what remains paid, and
 * what was recognised above that is released below zero. Expects `credits` ≤ what is left.
 */
export const refundLot = (lot: Lot, credits: number, money: Minor): RefundedLot => {
  const refunded = refundValues(lot, money);
  const left = leftIn(lot) - credits;
  const rest = minusValues(valueLeft(lot), refunded);
  const next = {
    ...lot,
    credits: left,
    used: 0,
    issued: lot.issued - credits,
    refunded: plusMinor(lot.refunded, money),
  };
  const isCorrected = left === 0 || credits === 0 || hasNegative(rest);
  const values = isCorrected ? deferredIn(next) : rest;
  return { lot: { ...next, values }, released: minusValues(rest, values), refunded };
};

/** A lot's money, or its booking, as it is known now. */
type Revaluation = Partial<Pick<Lot, 'money' | 'booking'>>;

interface RevaluedLot extends LotStep {
  /** Change of what was booked for the sale, of what its refunds took of it, and of what its disputes cost. */
  readonly booked: Values;
  readonly refunded: Values;
  readonly cost: bigint;
}

const worthOf = ({ booking }: Lot, money: Minor): Values =>
  booking === null ? NOTHING : valuesOf(money, booking);

/** Net value that remains paid for a lot, micro-USD: that of the sale less that of its refunds. */
export const paidFor = (lot: Lot): bigint => worthOf(lot, lot.money).net - worthOf(lot, lot.refunded).net;
/** Cost of a lot's disputes at its rate, micro-USD; 0 while it has none. */
const costOf = (lot: Lot): bigint => worthOf(lot, { ...NO_MONEY, fee: lot.disputed }).fee;

/**
 * A lot whose fee, VAT or rate became known or was corrected: it is worth what it would have been worth from the
 * beginning, and what was recognised by then is released at once.
 */
export const revalueLot = (lot: Lot, change: Revaluation): RevaluedLot => {
  const next = { ...lot, ...change, credits: leftIn(lot), used: 0 };
  const booked = minusValues(worthOf(next, next.money), worthOf(lot, lot.money));
  const refunded = minusValues(worthOf(next, next.refunded), worthOf(lot, lot.refunded));
  const values = deferredIn(next);
  const value = plusValues(valueLeft(lot), minusValues(booked, refunded));
  const cost = costOf(next) - costOf(lot);
  return { lot: { ...next, values }, released: minusValues(value, values), booked, refunded, cost };
};

/**
 * Puts credits and money of a refund back into the lot, at its own rate. It is worth what remains paid, and what should
 * have been recognised of that by now is released at once.
 */
const restoredLot = (lot: Lot, credits: number, money: Minor): RefundedLot => {
  const back = { gross: -money.gross, vat: -money.vat, fee: -money.fee };
  const refunded = refundValues(lot, back);
  const [left, issued] = [leftIn(lot) + credits, lot.issued + credits];
  const next = { ...lot, credits: left, used: 0, issued, refunded: plusMinor(lot.refunded, back) };
  const rest = minusValues(valueLeft(lot), refunded);
  const values = deferredIn(next);
  return { lot: { ...next, values }, released: minusValues(rest, values), refunded };
};

/** A tenant's lots that matter: the open ones in order, and closed ones that are refunded now. */
export interface TenantLots {
  readonly lots: readonly Lot[];
  /** Credits gone beyond all lots; the next lot fills them first. balance = Σ left in lots − deficit. */
  readonly deficit: number;
}

/** What a burn recognised, by currency of the lots. */
interface Consumption {
  readonly currency: string;
  /** Credits consumed of priced lots, of given ones, and of those without money or without a lot. */
  readonly priced: number;
  readonly given: number;
  readonly unpriced: number;
  readonly recognised: Values;
}

/** Money released by something else than consumption, by currency. */
export interface TrueUp {
  readonly currency: string;
  readonly net: bigint;
}

const trueUpOf = ({ currency }: Lot, { net }: Values): readonly TrueUp[] =>
  net === 0n ? [] : [{ currency, net }];

const replaced = (lots: readonly Lot[], next: Lot): readonly Lot[] =>
  lots.map((lot) => (lot.lot_id === next.lot_id ? next : lot));

const partIn = ({ currency, booking }: Lot, credits: number, recognised: Values): Consumption => ({
  currency,
  priced: booking === null ? 0 : credits,
  given: currency === '' ? credits : 0,
  unpriced: booking === null && currency !== '' ? credits : 0,
  recognised,
});

const merged = (parts: readonly Consumption[]): readonly Consumption[] => {
  if (parts.length < 2) return parts;
  const sums = new Map<string, Consumption>();
  for (const part of parts) {
    const sum = sums.get(part.currency);
    sums.set(
      part.currency,
      sum === undefined
        ? part
        : {
            currency: part.currency,
            priced: sum.priced + part.priced,
            given: sum.given + part.given,
            unpriced: sum.unpriced + part.unpriced,
            recognised: plusValues(sum.recognised, part.recognised),
          },
    );
  }
  return [...sums.values()];
};

/** Walks over open lots until `credits` are found; gives how many were not. */
const walk = (
  lots: readonly Lot[],
  credits: number,
  step: (lot: Lot, part: number) => Lot,
): { readonly lots: readonly Lot[]; readonly missing: number } => {
  let missing = credits;
  let next = lots;
  for (const lot of lots) {
    if (missing === 0) break;
    const part = Math.min(missing, leftIn(lot));
    if (part === 0) continue;
    next = replaced(next, step(lot, part));
    missing -= part;
  }
  return { lots: next, missing };
};

/** Consumes credits first in, first out. */
export const burnLots = (
  { lots, deficit }: TenantLots,
  credits: number,
): { readonly next: TenantLots; readonly parts: readonly Consumption[] } => {
  const parts: Consumption[] = [];
  const walked = walk(lots, credits, (lot, part) => {
    const { lot: next, released } = consume(lot, part);
    parts.push(partIn(lot, part, released));
    return next;
  });
  if (walked.missing > 0)
    parts.push({ currency: '', priced: 0, given: 0, unpriced: walked.missing, recognised: NOTHING });
  return { next: { lots: walked.lots, deficit: deficit + walked.missing }, parts: merged(parts) };
};

/** Takes credits away from lots in an order; what they carried is trued up. */
const taken = (
  { lots, deficit }: TenantLots,
  credits: number,
  order: (lots: readonly Lot[]) => readonly Lot[],
): { readonly next: TenantLots; readonly trueUps: readonly TrueUp[] } => {
  const trueUps: TrueUp[] = [];
  const walked = walk(order(lots), credits, (lot, part) => {
    const { lot: next, released }: LotStep = takeFrom(lot, part);
    trueUps.push(...trueUpOf(lot, released));
    return next;
  });
  const changed = new Map(walked.lots.map((lot) => [lot.lot_id, lot]));
  const next = lots.map((lot) => changed.get(lot.lot_id) ?? lot);
  return { next: { lots: next, deficit: deficit + walked.missing }, trueUps };
};

const inOrder = (lots: readonly Lot[]): readonly Lot[] => lots;
const givenFirst = (lots: readonly Lot[]): readonly Lot[] => [
  ...lots.filter(isGiven),
  ...lots.filter((lot) => !isGiven(lot)),
];

/** A clawback takes given credits back first. It is not consumption. */
export const clawBack = (state: TenantLots, credits: number) => taken(state, credits, givenFirst);

/**
 * A new lot; credits that are missing are taken from it at once. A sale that VAT and the provider's fee leave below
 * zero is a loss, which is shown at once.
 */
export const addLot = (
  { lots, deficit }: TenantLots,
  lot: Lot,
): { readonly next: TenantLots; readonly trueUps: readonly TrueUp[] } => {
  const loss = lot.values.net < 0n ? lot.values : NOTHING;
  const worth = { ...lot, values: minusValues(lot.values, loss) };
  const filled = Math.min(deficit, lot.credits);
  const { lot: rest, released } = filled === 0 ? { lot: worth, released: NOTHING } : takeFrom(worth, filled);
  const next = { lots: [...lots, rest], deficit: deficit - filled };
  return { next, trueUps: trueUpOf(lot, plusValues(loss, released)) };
};

/** A lot revalued among those of its tenant. Throws for one that is not there. */
export const revalueLots = (
  { lots, deficit }: TenantLots,
  lot_id: string,
  changeOf: (lot: Lot) => Revaluation,
) => {
  const own = lots.find((lot) => lot.lot_id === lot_id);
  if (own === undefined) throw new Error(`later facts name the lot ${lot_id}, which is not there`);
  const { lot, released, ...changes } = revalueLot(own, changeOf(own));
  const next = { lots: replaced(lots, lot), deficit };
  return { next, lot, ...changes, trueUps: trueUpOf(own, released) };
};

/** The fee of a dispute, minor units: what the lot's disputes cost more thereby. Throws for a lot that is not there. */
export const disputeLots = ({ lots, deficit }: TenantLots, lot_id: string, fee: number) => {
  const own = lots.find((lot) => lot.lot_id === lot_id);
  if (own === undefined) throw new Error(`a dispute names the lot ${lot_id}, which is not there`);
  const lot = { ...own, disputed: own.disputed + fee };
  return { next: { lots: replaced(lots, lot), deficit }, cost: costOf(lot) - costOf(own) };
};

interface LotRefund {
  readonly lot_id: string;
  readonly credits: number;
  readonly money: Minor;
}

/**
 * A refund takes its credits from its own lot's unconsumed part first, then from the others in order; its
 * money leaves its own lot at the sale's rate. Throws for a lot that is not there.
 */
export const refundLots = (state: TenantLots, { lot_id, credits, money }: LotRefund) => {
  const own = state.lots.find((lot) => lot.lot_id === lot_id);
  if (own === undefined) throw new Error(`a refund names the lot ${lot_id}, which is not there`);
  const fromOwn = Math.min(credits, leftIn(own));
  const { lot, released, refunded } = refundLot(own, fromOwn, money);
  const after = { ...state, lots: replaced(state.lots, lot) };
  const others = taken(after, credits - fromOwn, inOrder);
  return { next: others.next, refunded, trueUps: [...trueUpOf(own, released), ...others.trueUps] };
};

/**
 * A refund undone: credits and money come back to their lot, whichever lots the credits were taken from. Credits that
 * are missing are taken from them at once. `refunded` is below zero. Throws for a lot that is not there.
 */
export const restoreLots = (state: TenantLots, { lot_id, credits, money }: LotRefund) => {
  const own = state.lots.find((lot) => lot.lot_id === lot_id);
  if (own === undefined) throw new Error(`a reversal names the lot ${lot_id}, which is not there`);
  const { lot, released, refunded } = restoredLot(own, credits, money);
  const missing = Math.min(state.deficit, credits);
  const filled = missing === 0 ? { lot, released: NOTHING } : takeFrom(lot, missing);
  const next = { lots: replaced(state.lots, filled.lot), deficit: state.deficit - missing };
  return { next, refunded, trueUps: [...trueUpOf(own, released), ...trueUpOf(own, filled.released)] };
};

/** Credits of one lot on their way to another tenant, with the value that they carry. */
export type Parcel = Pick<Lot, 'origin' | 'currency' | 'booking' | 'credits' | 'values'>;

interface Sent {
  readonly credits: number;
  /** Lots of this sale go first; undefined: the oldest. */
  readonly origin: string | undefined;
}

/** Takes credits for another tenant, oldest lots first: nothing is recognised, their value goes with them. */
export const sendLots = ({ lots, deficit }: TenantLots, { credits, origin }: Sent) => {
  const parcels: Parcel[] = [];
  const isOf = (lot: Lot) => lot.origin === origin;
  const order = [...lots.filter(isOf), ...lots.filter((lot) => !isOf(lot))];
  const walked = walk(order, credits, (lot, part) => {
    const { lot: next, released } = takeFrom(lot, part);
    const { origin: from, currency, booking } = lot;
    parcels.push({ origin: from, currency, booking, credits: part, values: released });
    return next;
  });
  const changed = new Map(walked.lots.map((lot) => [lot.lot_id, lot]));
  const left = lots.map((lot) => changed.get(lot.lot_id) ?? lot);
  const next: TenantLots = { lots: left, deficit: deficit + walked.missing };
  return { next, parcels };
};

/** Lots of a tenant with a parcel: back in its own lot where that is here, else a lot of its own. */
const unpacked = (lots: readonly Lot[], parcel: Parcel, at: Pick<Lot, 'lot_id' | 'position'>) => {
  const { credits, values } = parcel;
  const home = lots.find(({ lot_id }) => lot_id === parcel.origin);
  if (home === undefined) {
    const rest = { used: 0, issued: credits, money: NO_MONEY, refunded: NO_MONEY, disputed: 0 };
    const lot: Lot = { ...parcel, ...at, ...rest };
    return { lots: [...lots, lot], lot };
  }
  const all = plusValues(valueLeft(home), values);
  const lot: Lot = { ...home, credits: leftIn(home) + credits, used: 0, values: all };
  return { lots: replaced(lots, lot), lot };
};

/**
 * The lot that a part of a transfer becomes with who receives it. Those of one transfer have one position, and are
 * consumed in the order of their IDs.
 */
export const partOfTransfer = (id: string, n: number): string => `${id}:${String(n).padStart(6, '0')}`;

interface Received {
  readonly parcels: readonly Parcel[];
  readonly transfer_id: string;
  readonly position: bigint;
}

/** Lots from another tenant. Credits that are missing are taken from them at once. */
export const receiveLots = (state: TenantLots, { parcels, transfer_id, position }: Received) => {
  const trueUps: TrueUp[] = [];
  let { lots, deficit } = state;
  parcels.forEach((parcel, n) => {
    const arrived = unpacked(lots, parcel, { lot_id: partOfTransfer(transfer_id, n), position });
    const filled = Math.min(deficit, parcel.credits);
    lots = arrived.lots;
    if (filled === 0) return;
    const { lot: rest, released } = takeFrom(arrived.lot, filled);
    trueUps.push(...trueUpOf(rest, released));
    lots = replaced(lots, rest);
    deficit -= filled;
  });
  const next: TenantLots = { lots, deficit };
  return { next, trueUps };
};
