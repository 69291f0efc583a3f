import { decimalOf, digitsOf } from '../../../ui/values/decimal.ts';

interface Priced {
  readonly currency: string;
  readonly price_per_1000_credits: string;
  readonly tax_basis: 'exclusive' | 'inclusive';
}

/** What an amount buys by the price list, as the service derives it: ⌊amount × 1000 ÷ price⌋ credits, at least 1. */
export const creditsFor = (entry: Priced, grossMinor: number, vatMinor: number): number | undefined => {
  const price = decimalOf(entry.price_per_1000_credits);
  const amount = entry.tax_basis === 'inclusive' ? grossMinor : grossMinor - vatMinor;
  if (price === undefined || price.units <= 0n || amount <= 0) return undefined;
  const inMinor = price.units * 10n ** BigInt(digitsOf(entry.currency));
  const credits = (BigInt(amount) * 1000n * 10n ** BigInt(price.scale)) / inMinor;
  return Number(credits < 1n ? 1n : credits);
};

/** What of a sale is left: the money in minor units of its currency. */
export interface Left {
  readonly credits: number;
  readonly gross: number;
  readonly vat: number;
}

/** A sale as it was, and what is left of it. */
export interface Refundable {
  readonly credits: number;
  readonly gross: number;
  readonly left: Left & { readonly fee: number };
}

const share = (whole: number, part: number, of: number): number =>
  of === 0 ? 0 : Number((BigInt(whole) * BigInt(part)) / BigInt(of));

/** What a refund of this much money takes back, as the service derives it: in proportion, at the end all the rest. */
export const takenFor = ({ credits, gross, left }: Refundable, vatOfSale: number, money: number): Left => {
  if (money > 0 && money === left.gross) return { credits: left.credits, gross: money, vat: left.vat };
  const vat = Math.min(left.vat, share(vatOfSale, money, gross));
  return {
    credits: Math.min(left.credits, share(credits, money, gross)),
    gross: money,
    vat: Math.min(money, left.vat, Math.max(vat, left.vat - (left.gross - money))),
  };
};
