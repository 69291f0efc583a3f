import type { ProjectedEvent } from '../../projections/engine/event.ts';

/** An exact fraction. */
type Fraction = readonly [bigint, bigint];

const fraction = (text: string): Fraction => {
  const [whole = '', decimals = ''] = text.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
};

/** To the nearest whole number, a half to the even one: by looking at both neighbours. */
const nearest = ([over, under]: Fraction): bigint => {
  const low = over >= 0n ? over / under : -((-over + under - 1n) / under);
  const [below, above] = [over - low * under, (low + 1n) * under - over];
  if (below !== above) return below < above ? low : low + 1n;
  return low % 2n === 0n ? low : low + 1n;
};

const PARTS = ['net', 'amount', 'implied', 'fee', 'vat'] as const;
type Part = (typeof PARTS)[number];
type Money = Record<Part, bigint>;

const EXPONENT: Readonly<Record<string, bigint>> = { USD: 100n, EUR: 100n, JPY: 1n };

interface PlainLot {
  readonly id: string;
  readonly kind: 'priced' | 'gift' | 'unpriced';
  readonly worth: (gross: bigint, vat: bigint, fee: bigint) => Money;
  /** Credits of the present stretch, how many of them are gone, its value, and what of it was recognised. */
  credits: bigint;
  gone: bigint;
  value: Money;
  shown: Money;
  back: { gross: bigint; vat: bigint; fee: bigint };
}

/** What a period came to, in micro-USD and credits. */
export interface PlainSums extends Money {
  priced: bigint;
  gift: bigint;
  unpriced: bigint;
  trueUp: bigint;
  /** Net value of unconsumed credits at its end. */
  deferred: bigint;
}

const nothing = (): Money => ({ net: 0n, amount: 0n, implied: 0n, fee: 0n, vat: 0n });
const left = (lot: PlainLot): bigint => lot.credits - lot.gone;

const floorOf = (over: bigint, under: bigint): bigint =>
  over >= 0n ? over / under : -((-over + under - 1n) / under);

/** One tenant's lots, written down the way a bookkeeper would: imperatively, lot by lot. */
class Book {
  readonly lots: PlainLot[] = [];
  hole = 0n;
  readonly sums: PlainSums;
  constructor(sums: PlainSums) {
    this.sums = sums;
  }

  private restart(lot: PlainLot, credits: bigint, value: Money): void {
    lot.credits = credits;
    lot.gone = 0n;
    lot.value = value;
    lot.shown = nothing();
  }

  private rest(lot: PlainLot): Money {
    const value = nothing();
    for (const part of PARTS) value[part] = lot.value[part] - lot.shown[part];
    return value;
  }

  remove(lot: PlainLot, credits: bigint): void {
    const value = this.rest(lot);
    const kept = nothing();
    for (const part of PARTS)
      kept[part] =
        value[part] - (credits === left(lot) ? value[part] : floorOf(value[part] * credits, left(lot)));
    this.sums.trueUp += value.net - kept.net;
    this.restart(lot, left(lot) - credits, kept);
  }

  removeInOrder(lots: readonly PlainLot[], credits: bigint): void {
    let wanted = credits;
    for (const lot of lots) {
      const part = wanted < left(lot) ? wanted : left(lot);
      if (part > 0n) this.remove(lot, part);
      wanted -= part;
    }
    this.hole += wanted;
  }

  open(lot: PlainLot): void {
    this.lots.push(lot);
    const filled = this.hole < lot.credits ? this.hole : lot.credits;
    if (filled > 0n) this.remove(lot, filled);
    this.hole -= filled;
  }

  burn(credits: bigint): void {
    let wanted = credits;
    for (const lot of this.lots) {
      const part = wanted < left(lot) ? wanted : left(lot);
      if (part === 0n) continue;
      lot.gone += part;
      wanted -= part;
      this.sums[lot.kind] += part;
      for (const name of PARTS) {
        const due =
          lot.gone === lot.credits ? lot.value[name] : floorOf(lot.value[name] * lot.gone, lot.credits);
        this.sums[name] += due - lot.shown[name];
        lot.shown[name] = due;
      }
    }
    this.sums.unpriced += wanted;
    this.hole += wanted;
  }

  refund(id: string, credits: bigint, money: { gross: bigint; vat: bigint; fee: bigint }): void {
    const lot = this.lots.find((one) => one.id === id);
    if (lot === undefined) throw new Error(`no lot ${id}`);
    const before = lot.worth(lot.back.gross, lot.back.vat, lot.back.fee);
    lot.back = {
      gross: lot.back.gross + money.gross,
      vat: lot.back.vat + money.vat,
      fee: lot.back.fee + money.fee,
    };
    const after = lot.worth(lot.back.gross, lot.back.vat, lot.back.fee);
    const own = credits < left(lot) ? credits : left(lot);
    const value = this.rest(lot);
    for (const part of PARTS) value[part] -= after[part] - before[part];
    const remaining = left(lot) - own;
    if (remaining === 0n) this.sums.trueUp += value.net;
    this.restart(lot, remaining, remaining === 0n ? nothing() : value);
    this.removeInOrder(this.lots, credits - own);
  }
}

const worthOf = (currency: string, rate: string | null, price: string) => {
  const per = EXPONENT[currency] ?? 100n;
  return (gross: bigint, vat: bigint, fee: bigint): Money => {
    if (rate === null) return nothing();
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
};

const saleLot = ({ data }: Extract<ProjectedEvent, { type: 'CreditsGranted' }>): PlainLot => {
  const rate = data.gross_amount_minor === null ? null : data.fx_rate_to_usd;
  const worth = worthOf(data.currency, rate, data.price_per_1000_credits);
  const [gross, vat, fee] = [data.gross_amount_minor ?? 0, data.vat_amount_minor, data.provider_fee_minor];
  return {
    ...{ id: data.grant_id, kind: rate === null ? 'unpriced' : 'priced', worth },
    ...{ credits: BigInt(data.credits), gone: 0n, shown: nothing() },
    value: worth(BigInt(gross), BigInt(vat), BigInt(fee)),
    back: { gross: 0n, vat: 0n, fee: 0n },
  };
};

const giftLot = (id: string, credits: bigint): PlainLot => ({
  ...{ id, kind: 'gift', worth: nothing, credits, gone: 0n, value: nothing(), shown: nothing() },
  back: { gross: 0n, vat: 0n, fee: 0n },
});

const post = (book: Book, event: ProjectedEvent): void => {
  if (event.type === 'CreditsGranted') book.open(saleLot(event));
  if (event.type === 'CreditsBurned') book.burn(BigInt(event.data.credits));
  if (event.type === 'CreditsRefunded') {
    const { gross_amount_minor, vat_amount_minor, provider_fee_minor } = event.data;
    book.refund(event.data.grant_id, BigInt(event.data.credits), {
      gross: BigInt(gross_amount_minor),
      vat: BigInt(vat_amount_minor),
      fee: BigInt(provider_fee_minor),
    });
  }
  if (event.type === 'CreditsAdjusted') {
    const credits = BigInt(event.data.credits);
    if (credits > 0n) book.open(giftLot(event.data.adjustment_id, credits));
    else {
      const gifts = book.lots.filter(({ kind }) => kind === 'gift');
      book.removeInOrder([...gifts, ...book.lots.filter(({ kind }) => kind !== 'gift')], -credits);
    }
  }
};

const timeOf = ({ data }: ProjectedEvent): string => ('created_at' in data ? data.created_at : '');

/** Goes through all events up to `to` and adds up what happened from `from` on. */
export const plainMargin = (
  events: readonly ProjectedEvent[],
  { from, to }: { readonly from: string; readonly to: string },
): PlainSums => {
  const zero = () => ({ ...nothing(), priced: 0n, gift: 0n, unpriced: 0n, trueUp: 0n, deferred: 0n });
  const wanted: PlainSums = zero();
  const books = new Map<string, Book>();
  for (const event of events) {
    if (timeOf(event) > to) continue;
    const book = books.get(event.stream) ?? new Book(zero());
    books.set(event.stream, book);
    const before = { ...book.sums };
    post(book, event);
    if (timeOf(event) < from) continue;
    for (const name of Object.keys(wanted) as (keyof PlainSums)[])
      wanted[name] += book.sums[name] - before[name];
  }
  for (const { lots } of books.values())
    for (const lot of lots) wanted.deferred += lot.value.net - lot.shown.net;
  return wanted;
};
