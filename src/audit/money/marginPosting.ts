import { minorUnitDigits } from '../../../domain/kernel/amounts.ts';
import type { AnyEvent } from '../../../domain/catalogue.ts';
import {
  type BookedLot,
  type Coins,
  giveBack,
  type MarginBook,
  type Moves,
  noMoves,
  noWorth,
  openLot,
  takeBack,
  useUp,
  worthAt,
} from './marginBook.ts';

/** An event of an account, with its place in the log. */
type Posted = AnyEvent & { readonly position: bigint };

type Of<Type extends AnyEvent['type']> = Extract<AnyEvent, { type: Type }>['data'];

const coinsOf = (data: Of<'CreditsGranted'> | Of<'CreditsRefunded'>): Coins => [
  BigInt(data.gross_amount_minor ?? 0),
  BigInt(data.vat_amount_minor),
  BigInt(data.provider_fee_minor),
];

const NO_COINS: Coins = [0n, 0n, 0n];

const saleLot = (data: Of<'CreditsGranted'>, position: bigint): BookedLot => {
  const rate = data.gross_amount_minor === null ? null : data.fx_rate_to_usd;
  const price = data.price_per_1000_credits;
  const worth = worthAt({ rate, price, digits: minorUnitDigits(data.currency) ?? 2 });
  return {
    ...{ id: data.grant_id, position, currency: data.currency, rate, worth },
    kind: rate === null ? 'unpriced' : 'priced',
    price: rate === null ? null : price,
    ...{ credits: BigInt(data.credits), gone: 0n, value: worth(coinsOf(data)), shown: noWorth() },
    back: NO_COINS,
  };
};

const giftLot = (data: Of<'CreditsAdjusted'>, position: bigint): BookedLot => ({
  ...{ id: data.adjustment_id, position, kind: 'gift', currency: '', rate: null, price: null },
  ...{ worth: noWorth, credits: BigInt(data.credits), gone: 0n, value: noWorth(), shown: noWorth() },
  back: NO_COINS,
});

/** Enters one event into a tenant's book; undefined where it moves no credits or money. */
export const post = (book: MarginBook, event: Posted): Moves | undefined => {
  const moves = noMoves();
  switch (event.type) {
    case 'CreditsGranted':
      openLot(book, saleLot(event.data, event.position), moves);
      return moves;
    case 'CreditsRefunded': {
      const { grant_id: id, credits } = event.data;
      giveBack(book, { id, credits: BigInt(credits), coins: coinsOf(event.data) }, moves);
      return moves;
    }
    case 'CreditsAdjusted':
      if (event.data.credits > 0) openLot(book, giftLot(event.data, event.position), moves);
      else takeBack(book, -BigInt(event.data.credits), moves);
      return moves;
    case 'CreditsBurned':
      useUp(book, BigInt(event.data.credits), moves);
      return moves;
    default:
      return undefined;
  }
};
