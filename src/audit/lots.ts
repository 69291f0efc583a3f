import { minorUnitDigits } from '../../domain/kernel/amounts.ts';
import type { AnyEvent } from '../../domain/catalogue.ts';

/** An exact fraction. */
type Fraction = readonly [bigint, bigint];

const fraction = (text: string): Fraction => {
  const [whole = '', decimals = ''] = text.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
};

const floorOf = (over: bigint, under: bigint): bigint =>
  over >= 0n ? over / under : -((-over + under - 1n) / under);

/** To the nearest whole number, a half to the even one: by looking at both neighbours. */
const nearest = ([over, under]: Fraction): bigint => {
  const low = floorOf(over, under);
  const [below, above] = [over - low * under, (low + 1n) * under - over];
  if (below !== above) return below < above ? low : low + 1n;
  return low % 2n === 0n ? low : low + 1n;
};

const PARTS = ['net', 'amount', 'implied', 'fee', 'vat'] as const;
/** Micro-USD of a lot's money (docs/explanation/margin-report.md). */
export type Worth = Record<(typeof PARTS)[number], bigint>;

/** Minor units: gross, VAT and fee. */
type Coins = readonly [gross: bigint, vat: bigint, fee: bigint];

/** The auditor's own record of a lot; the rules are those of the report, written a second time. */
interface BookedLot {
  readonly id: string;
  /** The sale or gift that it comes from, maybe another tenant's. */
  readonly from: string;
  readonly position: bigint;
  kind: 'priced' | 'gift' | 'unpriced';
  readonly currency: string;
  rate: string | null;
  price: string | null;
  worth: (coins: Coins) => Worth;
  /** Credits of the present stretch, how many are gone, its value, and what of it was recognised. */
  credits: bigint;
  gone: bigint;
  value: Worth;
  shown: Worth;
  /** Credits that were ever in it and were not refunded out of it. */
  ever: bigint;
  paid: Coins;
  back: Coins;
  /** Fees of disputes, minor units. */
  disputed: bigint;
}

/** What one posting did, by currency. */
export interface Moves {
  readonly trueUps: Map<string, bigint>;
  readonly used: Map<string, Worth & Record<BookedLot['kind'], bigint>>;
  refunded: bigint;
  /** What was booked for a sale, by facts that became known after it. */
  booked: bigint;
  /** VAT that is owed, by currency. */
  readonly vatDue: Map<string, bigint>;
  /** The lots that are not as before. */
  readonly touched: Set<BookedLot>;
  /** What disputes cost more. */
  cost: bigint;
}

/** Credits of a lot on their way to another tenant. */
export type Parcel = Pick<BookedLot, 'from' | 'kind' | 'currency' | 'rate' | 'price' | 'credits' | 'value'>;

export interface MarginBook {
  readonly lots: BookedLot[];
  hole: bigint;
  /** What is between the tenants of one log, by transfer: all their books share it. */
  readonly transit: Map<string, readonly Parcel[]>;
}

export const newMarginBook = (transit: MarginBook['transit']): MarginBook => ({
  lots: [],
  hole: 0n,
  transit,
});

export const noWorth = (): Worth => ({ net: 0n, amount: 0n, implied: 0n, fee: 0n, vat: 0n });
const noMoves = (): Moves => ({
  trueUps: new Map(),
  used: new Map(),
  vatDue: new Map(),
  touched: new Set(),
  refunded: 0n,
  booked: 0n,
  cost: 0n,
});
const leftOf = ({ credits, gone }: BookedLot): bigint => credits - gone;

const each = (of: (part: (typeof PARTS)[number]) => bigint): Worth => ({
  net: of('net'),
  amount: of('amount'),
  implied: of('implied'),
  fee: of('fee'),
  vat: of('vat'),
});

const trueUp = ({ trueUps }: Moves, { currency }: BookedLot, net: bigint): void => {
  if (net !== 0n) trueUps.set(currency, (trueUps.get(currency) ?? 0n) + net);
};

const restart = (lot: BookedLot, credits: bigint, value: Worth): void => {
  lot.credits = credits;
  lot.gone = 0n;
  lot.value = value;
  lot.shown = noWorth();
};

const rest = (lot: BookedLot): Worth => each((part) => lot.value[part] - lot.shown[part]);

/** Credits of a lot that are not gone, net value that remains paid for it, and what of that is not recognised. */
export const standOf = (lot: BookedLot) => ({
  credits: leftOf(lot),
  paid: lot.worth(lot.paid).net - lot.worth(lot.back).net,
  deferred: rest(lot).net,
});

const remove = (lot: BookedLot, credits: bigint, moves: Moves): void => {
  moves.touched.add(lot);
  const [value, left] = [rest(lot), leftOf(lot)];
  const kept = each((part) => (credits === left ? 0n : value[part] - floorOf(value[part] * credits, left)));
  trueUp(moves, lot, value.net - kept.net);
  restart(lot, left - credits, kept);
};

/** Takes credits from lots in the order given; what they do not have is a hole. */
const takeInOrder = (
  book: MarginBook,
  { lots, credits }: { readonly lots: readonly BookedLot[]; readonly credits: bigint },
  moves: Moves,
): void => {
  let wanted = credits;
  for (const lot of lots) {
    const part = wanted < leftOf(lot) ? wanted : leftOf(lot);
    if (part > 0n) remove(lot, part, moves);
    wanted -= part;
  }
  book.hole += wanted;
};

/** A clawback takes gifts back first. */
const takeBack = (book: MarginBook, credits: bigint, moves: Moves): void => {
  const gifts = book.lots.filter(({ kind }) => kind === 'gift');
  const lots = [...gifts, ...book.lots.filter(({ kind }) => kind !== 'gift')];
  takeInOrder(book, { lots, credits }, moves);
};

/** A new lot fills the hole first. */
const openLot = (book: MarginBook, lot: BookedLot, moves: Moves): void => {
  book.lots.push(lot);
  moves.touched.add(lot);
  // A sale at a loss: nothing of it waits for use.
  if (lot.value.net < 0n) {
    trueUp(moves, lot, lot.value.net);
    lot.value = noWorth();
  }
  const filled = book.hole < lot.credits ? book.hole : lot.credits;
  if (filled > 0n) remove(lot, filled, moves);
  book.hole -= filled;
};

const usedOf = ({ used }: Moves, currency: string) => {
  const known = used.get(currency) ?? { ...noWorth(), priced: 0n, gift: 0n, unpriced: 0n };
  used.set(currency, known);
  return known;
};

/** Consumes credits, oldest lot first. */
const useUp = (book: MarginBook, credits: bigint, moves: Moves): void => {
  let wanted = credits;
  for (const lot of book.lots) {
    const part = wanted < leftOf(lot) ? wanted : leftOf(lot);
    if (part === 0n) continue;
    lot.gone += part;
    moves.touched.add(lot);
    wanted -= part;
    const used = usedOf(moves, lot.currency);
    used[lot.kind] += part;
    for (const name of PARTS) {
      const isAll = lot.gone === lot.credits;
      const due = isAll ? lot.value[name] : floorOf(lot.value[name] * lot.gone, lot.credits);
      used[name] += due - lot.shown[name];
      lot.shown[name] = due;
    }
  }
  if (wanted > 0n) usedOf(moves, '').unpriced += wanted;
  book.hole += wanted;
};

const plus = ([a, b, c]: Coins, [d, e, f]: Coins): Coins => [a + d, b + e, c + f];

/**
 * What the credits of a lot may still bring in: what remains paid for it, less what is due for all that are gone. A lot
 * that remains a loss brings in nothing more.
 */
const dueLater = (lot: BookedLot, left: bigint): Worth => {
  const [all, back] = [lot.worth(lot.paid), lot.worth(lot.back)];
  if (left === 0n || all.net < back.net) return noWorth();
  return each((part) => {
    const remains = all[part] - back[part];
    return remains - floorOf(remains * (lot.ever - left), lot.ever);
  });
};

/** A refund: its own lot's credits first, its money at its own rate. False when there is no such lot. */
const giveBack = (
  book: MarginBook,
  { id, credits, coins }: { readonly id: string; readonly credits: bigint; readonly coins: Coins },
  moves: Moves,
): boolean => {
  const lot = book.lots.find((one) => one.id === id);
  if (lot === undefined) return false;
  const before = lot.worth(lot.back);
  lot.back = plus(lot.back, coins);
  const after = lot.worth(lot.back);
  moves.refunded = after.net - before.net;
  moves.vatDue.set(lot.currency, before.vat - after.vat);
  moves.touched.add(lot);
  const own = credits < leftOf(lot) ? credits : leftOf(lot);
  const value = rest(lot);
  for (const part of PARTS) value[part] -= after[part] - before[part];
  const remaining = leftOf(lot) - own;
  lot.ever -= own;
  const isMoneyAlone = own === 0n || PARTS.some((part) => value[part] < 0n);
  const later = isMoneyAlone || remaining === 0n ? dueLater(lot, remaining) : value;
  trueUp(moves, lot, value.net - later.net);
  restart(lot, remaining, later);
  takeInOrder(book, { lots: book.lots, credits: credits - own }, moves);
  return true;
};

/** What the disputes of a lot cost, micro-USD. */
const feesOf = ({ worth, disputed }: BookedLot): bigint => worth([0n, 0n, disputed]).fee;

/** A fee of a dispute, minor units: beside what was paid for the lot. */
const payFee = (
  book: MarginBook,
  { id, fee }: { readonly id: string; readonly fee: number },
  moves: Moves,
): boolean => {
  const lot = book.lots.find((one) => one.id === id);
  if (lot === undefined || fee === 0) return false;
  const before = feesOf(lot);
  lot.disputed += BigInt(fee);
  moves.touched.add(lot);
  moves.cost += feesOf(lot) - before;
  return true;
};

/** A lot after its money or its rate turned out otherwise, as if it had always been so; the rest is made up for. */
const restate = (lot: BookedLot, change: (lot: BookedLot) => void, moves: Moves): void => {
  const [paid, back, fees] = [lot.worth(lot.paid), lot.worth(lot.back), feesOf(lot)];
  change(lot);
  const [paidNow, backNow] = [lot.worth(lot.paid), lot.worth(lot.back)];
  moves.cost = feesOf(lot) - fees;
  moves.booked = paidNow.net - paid.net;
  moves.refunded = backNow.net - back.net;
  moves.vatDue.set(lot.currency, paidNow.vat - paid.vat - (backNow.vat - back.vat));
  moves.touched.add(lot);
  const left = leftOf(lot);
  const later = dueLater(lot, left);
  trueUp(moves, lot, rest(lot).net + moves.booked - moves.refunded - later.net);
  restart(lot, left, later);
};

/** A refund undone: all of it comes back to its own lot, and missing credits are taken at once. */
const putBack = (
  book: MarginBook,
  { id, credits, coins }: { readonly id: string; readonly credits: bigint; readonly coins: Coins },
  moves: Moves,
): boolean => {
  const lot = book.lots.find((one) => one.id === id);
  if (lot === undefined) return false;
  const before = lot.worth(lot.back);
  lot.back = plus(lot.back, [-coins[0], -coins[1], -coins[2]]);
  const after = lot.worth(lot.back);
  moves.refunded = after.net - before.net;
  moves.vatDue.set(lot.currency, before.vat - after.vat);
  moves.touched.add(lot);
  const owned = rest(lot).net - moves.refunded;
  lot.ever += credits;
  const left = leftOf(lot) + credits;
  const later = dueLater(lot, left);
  trueUp(moves, lot, owned - later.net);
  restart(lot, left, later);
  const filled = book.hole < credits ? book.hole : credits;
  if (filled > 0n) remove(lot, filled, moves);
  book.hole -= filled;
  return true;
};

/** What money of a sale is worth in micro-USD; nothing without a rate. `digits` of the minor unit. */
const worthAt =
  ({
    rate,
    price,
    digits,
  }: {
    readonly rate: string | null;
    readonly price: string;
    readonly digits: number;
  }) =>
  ([gross, vat, fee]: Coins): Worth => {
    if (rate === null) return noWorth();
    const per = 10n ** BigInt(digits);
    const [r, scale] = fraction(rate);
    const [p, priceScale] = fraction(price);
    const usd = (minor: bigint) => nearest([minor * r * 1_000_000n, per * scale]);
    return {
      net: usd(gross - vat - fee),
      amount: usd(gross - vat),
      implied: nearest([(gross - vat) * 1_000_000n * priceScale, per * p]),
      fee: usd(fee),
      vat: usd(vat),
    };
  };

/** An event of an account, with its place in the log. */
type Posted = AnyEvent & { readonly position: bigint };

type Of<Type extends AnyEvent['type']> = Extract<AnyEvent, { type: Type }>['data'];

const coinsOf = (data: Of<'CreditsGranted'> | Of<'CreditsRefunded'> | Of<'RefundReversed'>): Coins => [
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
    id: data.grant_id,
    from: data.grant_id,
    position,
    currency: data.currency,
    rate,
    worth,
    kind: rate === null ? 'unpriced' : 'priced',
    price: rate === null ? null : price,
    credits: BigInt(data.credits),
    gone: 0n,
    value: worth(coinsOf(data)),
    shown: noWorth(),
    ever: BigInt(data.credits),
    paid: coinsOf(data),
    back: NO_COINS,
    disputed: 0n,
  };
};

const giftLot = (data: Of<'CreditsAdjusted'>, position: bigint): BookedLot => ({
  id: data.adjustment_id,
  from: data.adjustment_id,
  position,
  kind: 'gift',
  currency: '',
  rate: null,
  price: null,
  worth: noWorth,
  credits: BigInt(data.credits),
  gone: 0n,
  value: noWorth(),
  shown: noWorth(),
  ever: BigInt(data.credits),
  paid: NO_COINS,
  back: NO_COINS,
  disputed: 0n,
});

type Learnt = Extract<AnyEvent, { type: 'SaleDetailsAdded' | 'SaleRateBooked' }>;

/** Facts and rates that are known later. False where the lot stays as it is. */
const learn = (book: MarginBook, { type, data }: Learnt, moves: Moves): boolean => {
  const lot = book.lots.find((one) => one.id === data.grant_id);
  if (lot === undefined) return false;
  if (type === 'SaleRateBooked') {
    const { fx_rate_to_usd: rate, price_per_1000_credits: price } = data;
    const worth = worthAt({ rate, price, digits: minorUnitDigits(lot.currency) ?? 2 });
    restate(lot, (of) => Object.assign(of, { rate, price, worth, kind: 'priced' }), moves);
    return true;
  }
  const { vat_amount_minor: vat = 0, provider_fee_minor: fee = 0 } = data.details;
  if (vat + fee === 0) return false;
  restate(lot, (of) => (of.paid = plus(of.paid, [0n, BigInt(vat), BigInt(fee)])), moves);
  return true;
};

/** Packs credits for another tenant, those of one sale first, else as they would be used. */
const pack = (book: MarginBook, data: Of<'CreditsTransferredOut'>, moves: Moves): void => {
  let wanted = BigInt(data.credits);
  const parcels: Parcel[] = [];
  const rank = (lot: BookedLot): number => (lot.from === data.of_grant ? 0 : 1);
  for (const lot of [...book.lots].sort((a, b) => rank(a) - rank(b))) {
    const left = leftOf(lot);
    const credits = wanted < left ? wanted : left;
    if (credits === 0n) continue;
    const before = rest(lot);
    const value = each((part) => (credits === left ? before[part] : floorOf(before[part] * credits, left)));
    moves.touched.add(lot);
    const { from, kind, currency, rate, price } = lot;
    parcels.push({ from, kind, currency, rate, price, credits, value });
    restart(
      lot,
      left - credits,
      each((part) => before[part] - value[part]),
    );
    wanted -= credits;
  }
  book.hole += wanted;
  book.transit.set(data.transfer_id, parcels);
};

/** Puts what another tenant sent into its own lot, if that is here, or into a new one; a hole is filled first. */
const unpack = (
  book: MarginBook,
  { id, position }: { readonly id: string; readonly position: bigint },
  moves: Moves,
): void => {
  for (const [n, parcel] of (book.transit.get(id) ?? []).entries()) {
    const own = book.lots.find((one) => one.id === parcel.from);
    const lot: BookedLot = own ?? {
      ...parcel,
      id: `${id}:${String(n).padStart(6, '0')}`,
      position,
      credits: 0n,
      value: noWorth(),
      gone: 0n,
      shown: noWorth(),
      worth: noWorth,
      ever: parcel.credits,
      paid: NO_COINS,
      back: NO_COINS,
      disputed: 0n,
    };
    if (own === undefined) book.lots.push(lot);
    moves.touched.add(lot);
    const before = rest(lot);
    restart(
      lot,
      leftOf(lot) + parcel.credits,
      each((part) => before[part] + parcel.value[part]),
    );
    const filled = book.hole < parcel.credits ? book.hole : parcel.credits;
    if (filled > 0n) remove(lot, filled, moves);
    book.hole -= filled;
  }
  book.transit.delete(id);
};

/** What is not about one sale. */
const postOther = (book: MarginBook, event: Posted, moves: Moves): Moves | undefined => {
  switch (event.type) {
    case 'CreditsTransferredOut':
      pack(book, event.data, moves);
      return moves;
    case 'CreditsTransferredIn':
      unpack(book, { id: event.data.transfer_id, position: event.position }, moves);
      return moves;
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

/** Enters one event into a tenant's book; undefined where it moves no credits or money. */
export const post = (book: MarginBook, event: Posted): Moves | undefined => {
  const moves = noMoves();
  switch (event.type) {
    case 'CreditsGranted': {
      const lot = saleLot(event.data, event.position);
      openLot(book, lot, moves);
      moves.vatDue.set(lot.currency, lot.worth(lot.paid).vat);
      return moves;
    }
    case 'SaleDetailsAdded':
    case 'SaleRateBooked':
      return learn(book, event, moves) ? moves : undefined;
    case 'CreditsRefunded': {
      const { grant_id: id, credits, dispute } = event.data;
      giveBack(book, { id, credits: BigInt(credits), coins: coinsOf(event.data) }, moves);
      if (dispute !== undefined) payFee(book, { id, fee: dispute.fee_minor }, moves);
      return moves;
    }
    case 'DisputeChanged': {
      const { grant_id: id, fee_minor, previous_fee_minor } = event.data;
      return payFee(book, { id, fee: fee_minor - previous_fee_minor }, moves) ? moves : undefined;
    }
    case 'RefundReversed': {
      const { grant_id: id, credits } = event.data;
      putBack(book, { id, credits: BigInt(credits), coins: coinsOf(event.data) }, moves);
      return moves;
    }
    default:
      return postOther(book, event, moves);
  }
};
