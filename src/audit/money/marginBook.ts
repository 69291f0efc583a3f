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
export type Coins = readonly [gross: bigint, vat: bigint, fee: bigint];

/** The auditor's own record of a lot; the rules are those of the report, written a second time. */
export interface BookedLot {
  readonly id: string;
  readonly position: bigint;
  readonly kind: 'priced' | 'gift' | 'unpriced';
  readonly currency: string;
  readonly rate: string | null;
  readonly price: string | null;
  readonly worth: (coins: Coins) => Worth;
  /** Credits of the present stretch, how many are gone, its value, and what of it was recognised. */
  credits: bigint;
  gone: bigint;
  value: Worth;
  shown: Worth;
  back: Coins;
}

/** What one posting did, by currency. */
export interface Moves {
  readonly trueUps: Map<string, bigint>;
  readonly used: Map<string, Worth & Record<BookedLot['kind'], bigint>>;
  refunded: bigint;
}

export interface MarginBook {
  readonly lots: BookedLot[];
  hole: bigint;
}

export const noWorth = (): Worth => ({ net: 0n, amount: 0n, implied: 0n, fee: 0n, vat: 0n });
export const noMoves = (): Moves => ({ trueUps: new Map(), used: new Map(), refunded: 0n });
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

const remove = (lot: BookedLot, credits: bigint, moves: Moves): void => {
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
export const takeBack = (book: MarginBook, credits: bigint, moves: Moves): void => {
  const gifts = book.lots.filter(({ kind }) => kind === 'gift');
  const lots = [...gifts, ...book.lots.filter(({ kind }) => kind !== 'gift')];
  takeInOrder(book, { lots, credits }, moves);
};

/** A new lot fills the hole first. */
export const openLot = (book: MarginBook, lot: BookedLot, moves: Moves): void => {
  book.lots.push(lot);
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
export const useUp = (book: MarginBook, credits: bigint, moves: Moves): void => {
  let wanted = credits;
  for (const lot of book.lots) {
    const part = wanted < leftOf(lot) ? wanted : leftOf(lot);
    if (part === 0n) continue;
    lot.gone += part;
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

/** A refund: its own lot's credits first, its money at its own rate. False when there is no such lot. */
export const giveBack = (
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
  const own = credits < leftOf(lot) ? credits : leftOf(lot);
  const value = rest(lot);
  for (const part of PARTS) value[part] -= after[part] - before[part];
  const remaining = leftOf(lot) - own;
  if (remaining === 0n) trueUp(moves, lot, value.net);
  restart(lot, remaining, remaining === 0n ? noWorth() : value);
  takeInOrder(book, { lots: book.lots, credits: credits - own }, moves);
  return true;
};

/** What money of a sale is worth in micro-USD; nothing without a rate. `digits` of the minor unit. */
export const worthAt =
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
