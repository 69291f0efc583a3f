import type { Lot, LotStep } from './lot.ts';
import { consume, isGiven, leftIn, refundLot, takeFrom } from './lot.ts';
import type { Minor, Values } from './values.ts';
import { NOTHING, plusValues } from './values.ts';

/** A tenant's lots that matter: the open ones in order, and closed ones that are refunded now. */
export interface TenantLots {
  readonly lots: readonly Lot[];
  /** Credits gone beyond all lots; the next lot fills them first. balance = Σ left in lots − deficit. */
  readonly deficit: number;
}

/** What a burn recognised, by currency of the lots. */
export interface Consumption {
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
    if (released.net !== 0n) trueUps.push({ currency: lot.currency, net: released.net });
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

/** A new lot; credits that are missing are taken from it at once. */
export const addLot = (
  { lots, deficit }: TenantLots,
  lot: Lot,
): { readonly next: TenantLots; readonly trueUps: readonly TrueUp[] } => {
  const filled = Math.min(deficit, lot.credits);
  if (filled === 0) return { next: { lots: [...lots, lot], deficit }, trueUps: [] };
  const { lot: rest, released } = takeFrom(lot, filled);
  const trueUps = released.net === 0n ? [] : [{ currency: lot.currency, net: released.net }];
  return { next: { lots: [...lots, rest], deficit: deficit - filled }, trueUps };
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
  const ownTrueUp = released.net === 0n ? [] : [{ currency: own.currency, net: released.net }];
  return { next: others.next, refunded, trueUps: [...ownTrueUp, ...others.trueUps] };
};
