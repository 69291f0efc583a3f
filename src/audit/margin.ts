import { decimalOf, divideHalfEven, parseDecimal, powerOfTen } from '../../domain/kernel/amounts.ts';
import {
  accountOf,
  type AuditedEvent,
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  type ExpectedSum,
  keptRows,
  openBooks,
  recordedAt,
} from './auditedEvent.ts';
import {
  BOOKING_SUMS,
  BURN_SUMS,
  marginBookings,
  marginBooks,
  marginBurns,
  marginDays,
  marginDeficits,
  marginLots,
  marginTransit,
} from '../../projections/marginTables.ts';
import { marginLotDays, marginUses } from '../../projections/recognition.ts';
import { allZero, type Exact, noSums, type RowOf, sumsOf } from '../../projections/engine/table.ts';
import type { PriceListEntry } from '../../domain/priceList.ts';
import { type BillingRate, type BillingTerms, withLaterRates } from '../../domain/billingConfig.ts';
import { type Findings, wrong } from './findings.ts';
import { type MarginBook, type Moves, newMarginBook, type Parcel, post } from './lots.ts';
import { entryOf, recognition } from './recognised.ts';

type Burn = RowOf<typeof BURN_SUMS, Exact>;
type Booking = RowOf<typeof BOOKING_SUMS, Exact>;

const NO_BOOKING: Booking = allZero(BOOKING_SUMS);
const SUMMED = sumsOf(marginDays.columns);

/** What a burn recognised, by currency. */
export const burnRows = ({ used }: Moves): Map<string, Burn> =>
  new Map(
    [...used].map(([currency, { priced, gift, unpriced, ...worth }]) => [
      currency,
      { priced_credits: priced, given_credits: gift, unpriced_credits: unpriced, ...worth },
    ]),
  );

/** A rate counts as too old when more than seven days lie between its day and the sale's. */
const staleAt = (day: string | null, occurredAt: string): bigint => {
  const oldest = new Date(Date.parse(occurredAt.slice(0, 10)) - 7 * 86_400_000).toISOString().slice(0, 10);
  return day !== null && day < oldest ? 1n : 0n;
};

/** What became known after a sale: its fee and VAT, or its rate. */
const laterBooking = (
  event: AuditedEventOf<'SaleDetailsAdded' | 'SaleRateBooked'>,
  book: MarginBook,
  { booked, refunded, cost }: Moves,
): Map<string, Booking> => {
  const { currency = '' } = book.lots.find(({ id }) => id === event.data.grant_id) ?? {};
  if (event.type === 'SaleDetailsAdded') {
    const { vat_amount_minor: vat = 0, provider_fee_minor: fee = 0 } = event.data.details;
    return new Map([[currency, { ...NO_BOOKING, booked, vat_minor: BigInt(vat), fee_minor: BigInt(fee) }]]);
  }
  const { previous_rate, previous_rate_date: before, fx_rate_date: after, sale_occurred_at: at } = event.data;
  const without_rate = previous_rate === null ? -1n : 0n;
  const stale_rate = staleAt(after, at) - staleAt(before, at);
  return new Map([
    [currency, { ...NO_BOOKING, booked, refunded, without_rate, stale_rate, dispute_fee: cost }],
  ]);
};

const saleBooking = ({ data }: AuditedEventOf<'CreditsGranted'>, book: MarginBook): Booking => {
  const lot = book.lots.find(({ id }) => id === data.grant_id);
  const coins = [data.gross_amount_minor ?? 0, data.vat_amount_minor, data.provider_fee_minor] as const;
  const [gross, vat, fee] = [BigInt(coins[0]), BigInt(coins[1]), BigInt(coins[2])];
  const own = {
    booked: lot?.worth([gross, vat, fee]).net ?? 0n,
    sales: 1n,
    gross_minor: gross,
    vat_minor: vat,
    fee_minor: fee,
    without_amount: data.gross_amount_minor === null ? 1n : 0n,
    without_rate: data.gross_amount_minor !== null && data.fx_rate_to_usd === null ? 1n : 0n,
    stale_rate: data.gross_amount_minor === null ? 0n : staleAt(data.fx_rate_date, data.occurred_at),
  };
  return { ...NO_BOOKING, ...own };
};

/** What a sale, a refund or its reversal books in its own currency; nothing of its own for an adjustment. */
const ownBooking = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Booking> => {
  if (event.type === 'CreditsRefunded') {
    const { currency, gross_amount_minor, dispute } = event.data;
    const own = { refunded: moves.refunded, refunds: 1n, refunded_minor: BigInt(gross_amount_minor) };
    const fee = { dispute_fee: moves.cost, dispute_fee_minor: BigInt(dispute?.fee_minor ?? 0) };
    return new Map([[currency, { ...NO_BOOKING, ...own, ...fee }]]);
  }
  if (event.type === 'DisputeChanged') {
    const { currency, fee_minor, previous_fee_minor } = event.data;
    const dispute_fee_minor = BigInt(fee_minor - previous_fee_minor);
    return new Map([[currency, { ...NO_BOOKING, dispute_fee: moves.cost, dispute_fee_minor }]]);
  }
  if (event.type === 'RefundReversed') {
    const { currency, gross_amount_minor } = event.data;
    const own = { refunded: moves.refunded, refunded_minor: -BigInt(gross_amount_minor) };
    return new Map([[currency, { ...NO_BOOKING, ...own }]]);
  }
  if (event.type === 'SaleDetailsAdded' || event.type === 'SaleRateBooked')
    return laterBooking(event, book, moves);
  if (event.type !== 'CreditsGranted') return new Map();
  return new Map([[event.data.currency, saleBooking(event, book)]]);
};

/** What another posting booked, by currency. */
export const bookingRows = (event: AuditedEvent, book: MarginBook, moves: Moves): Map<string, Booking> => {
  const rows = ownBooking(event, book, moves);
  for (const [currency, net] of moves.trueUps)
    rows.set(currency, { ...(rows.get(currency) ?? NO_BOOKING), true_up: net });
  return rows;
};

const lotRow = (tenant_id: string, lot: MarginBook['lots'][number]): ExpectedRow<typeof marginLots> => ({
  tenant_id,
  lot_id: lot.id,
  origin: lot.from,
  position: lot.position,
  currency: lot.currency,
  fx_rate: lot.rate,
  price: lot.price,
  credits: lot.credits,
  used: lot.gone,
  ...lot.value,
  issued: lot.ever,
  paid_gross: lot.paid[0],
  paid_vat: lot.paid[1],
  paid_fee: lot.paid[2],
  refunded_gross: lot.back[0],
  refunded_vat: lot.back[1],
  refunded_fee: lot.back[2],
  disputed_fee: lot.disputed,
  is_open: lot.credits > lot.gone,
});

const parcelRow = (
  at: { readonly transfer_id: string; readonly part: number },
  { from: origin, currency, rate: fx_rate, price, credits, value }: Parcel,
): ExpectedRow<typeof marginTransit> => ({ ...at, origin, currency, fx_rate, price, credits, ...value });

interface Entered {
  readonly tenant: string;
  readonly book: MarginBook;
  readonly moves: Moves;
  readonly booked_at: string;
}

/** Credits of an event's transfer while they are on their way. */
const parcelsOf = (transit: MarginBook['transit'], { data }: AuditedEvent): readonly Parcel[] | undefined =>
  'transfer_id' in data ? transit.get(data.transfer_id) : undefined;

/** What is left when all was posted: lots, holes, and credits on their way. */
const emitStand = (
  emit: Emit,
  {
    books,
    transit,
  }: { readonly books: ReadonlyMap<string, MarginBook>; readonly transit: MarginBook['transit'] },
): void => {
  for (const [tenant_id, { lots, hole }] of books) {
    for (const lot of lots) emit(marginLots, lotRow(tenant_id, lot));
    if (hole > 0n) emit(marginDeficits, { tenant_id, credits: hole });
  }
  for (const [transfer_id, parcels] of transit)
    for (const [part, parcel] of parcels.entries())
      emit(marginTransit, parcelRow({ transfer_id, part }, parcel));
};

/** Sums by day of booking and currency. */
const marginDayRows = (emit: Emit) => {
  const days = keptRows<typeof marginDays, ExpectedSum<typeof marginDays>>(marginDays, emit);
  const addToDay = (
    { position, currency, booked_at }: { position: bigint; currency: string; booked_at: string },
    sums: Partial<Burn & Booking>,
  ): void => {
    const day = booked_at.slice(0, 10);
    const row = days.at(`${day} ${currency}`, () => ({
      ...noSums(marginDays.columns),
      day,
      currency,
      first_position: position,
      last_position: position,
    }));
    row.last_position = position;
    for (const name of SUMMED) row[name] += sums[name] ?? 0n;
  };
  return { addToDay, emitAll: days.emitAll };
};

/** Lots, and what was recognised of them, by a second writing of the report's rules. */
export const marginRows: ExpectedModel = {
  name: 'margin',
  tables: [
    marginLots,
    marginDeficits,
    marginTransit,
    marginBurns,
    marginBookings,
    marginDays,
    marginBooks,
    marginLotDays,
    marginUses,
  ],
  start: (emit) => {
    const books = new Map<string, MarginBook>();
    const transit: MarginBook['transit'] = new Map();
    const open = openBooks();
    const recognised = recognition(emit);
    const { addToDay, emitAll } = marginDayRows(emit);

    const enter = (event: AuditedEvent, { tenant, book, moves, booked_at }: Entered): void => {
      if (!('created_at' in event.data)) return;
      const { created_at } = event.data;
      const placeOf = (currency: string) => ({ position: event.position, currency, created_at, booked_at });
      recognised.noteLots(event, booked_at.slice(0, 10), { tenant, moves, book });
      if (event.type === 'CreditsBurned') {
        for (const [currency, sums] of burnRows(moves)) {
          emit(marginBurns, { ...placeOf(currency), ...sums });
          addToDay(placeOf(currency), sums);
        }
        recognised.noteUse(tenant, booked_at.slice(0, 10), { ...event, moves });
        return;
      }
      for (const [currency, sums] of bookingRows(event, book, moves)) {
        const own = { tenant_id: tenant, ...entryOf(event), vat_due: moves.vatDue.get(currency) ?? 0n };
        emit(marginBookings, { ...placeOf(currency), ...own, ...sums });
        addToDay(placeOf(currency), sums);
      }
    };
    const apply = (event: AuditedEvent): void => {
      open.see(event);
      const tenant = accountOf(event.stream);
      if (tenant === undefined || !('created_at' in event.data)) return;
      const book = books.get(tenant) ?? newMarginBook(transit);
      books.set(tenant, book);
      const { created_at } = event.data;
      const booked_at = open.bookedAt(created_at);
      const day = booked_at.slice(0, 10);
      const arriving = parcelsOf(transit, event);
      const moves = post(book, event);
      recognised.noteParcels(event, day, arriving ?? parcelsOf(transit, event) ?? []);
      if (moves !== undefined) enter(event, { tenant, book, moves, booked_at });
    };
    const finish = (): void => {
      emitStand(emit, { books, transit });
      const opens_at = open.opensAt();
      if (opens_at !== undefined) emit(marginBooks, { stream: 'books', opens_at });
      emitAll();
      recognised.emitAll();
    };
    return { apply, finish };
  },
};

/** USD for one unit of a currency, and the day it is of; null where none was known. */
interface BookedRate {
  readonly rate: string | null;
  readonly date: string | null;
}

/** Rates of one day as published: 1 `base` = rate units. */
interface DayTable {
  readonly date: string;
  readonly base: string;
  readonly rates: Readonly<Record<string, string>>;
  readonly published_at: string;
}

interface Wanted {
  readonly currency: string;
  readonly day: string;
}

const USD = 'USD';
/** Digits after the point of a rate computed from two others. */
const CROSS_DIGITS = 18;
/** Publications under way during one sale; beyond this many only the first and the last state are tried. */
const RACES_MAX = 40;

const quoted = ({ base, rates }: DayTable, currency: string): string | undefined => {
  const rate = currency === base ? '1' : rates[currency];
  return rate === undefined || parseDecimal(rate).units === 0n ? undefined : rate;
};

/** usd ÷ own, both for one unit of the table's base; a rate of the base itself is taken as published. */
const usdOf = (table: DayTable, currency: string): string | undefined => {
  const [own, usd] = [quoted(table, currency), quoted(table, USD)];
  if (own === undefined || usd === undefined) return undefined;
  if (currency === table.base) return usd;
  const [a, b] = [parseDecimal(usd), parseDecimal(own)];
  const numerator = a.units * powerOfTen(b.scale + CROSS_DIGITS);
  return decimalOf(divideHalfEven(numerator, b.units * powerOfTen(a.scale)), CROSS_DIGITS);
};

/** Newest first; of one day EUR before other bases, and those by name from the end. */
const inOrder = (a: DayTable, b: DayTable): number => {
  if (a.date !== b.date) return a.date < b.date ? 1 : -1;
  if (a.base === b.base) return 0;
  if (a.base === 'EUR' || b.base === 'EUR') return a.base === 'EUR' ? -1 : 1;
  return a.base < b.base ? 1 : -1;
};

/** The tables in force after some publications: a later one of the same day and base replaces. */
const inForce = (tables: readonly DayTable[]): readonly DayTable[] =>
  [...new Map(tables.map((table) => [`${table.date} ${table.base}`, table])).values()].sort(inOrder);

/** Index of the first table of that day or older. */
const firstOnOrBefore = (tables: readonly DayTable[], day: string): number => {
  let [low, high] = [0, tables.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tables[middle]?.date ?? '') > day) low = middle + 1;
    else high = middle;
  }
  return low;
};

const lookUp = (tables: readonly DayTable[], { currency, day }: Wanted): BookedRate => {
  for (let at = firstOnOrBefore(tables, day); at < tables.length; at += 1) {
    const table = tables[at];
    const rate = table === undefined ? undefined : usdOf(table, currency);
    if (table !== undefined && rate !== undefined) return { rate, date: table.date };
  }
  return { rate: null, date: null };
};

/** All exchange rates published so far. */
export const fxPublications = () => {
  const published: DayTable[] = [];
  let sorted: readonly DayTable[] | undefined;
  return {
    apply: (table: DayTable): void => {
      published.push(table);
      sorted = undefined;
    },
    /**
     * The rate after all publications, and the rates after those until `surely`: the process that booked
     * the sale may have read in between.
     */
    bookable: (wanted: Wanted, surely: string): readonly BookedRate[] => {
      if (wanted.currency === USD) return [{ rate: '1', date: wanted.day }];
      sorted ??= inForce(published);
      const booked = [lookUp(sorted, wanted)];
      let known = published.length;
      while (known > 0 && (published[known - 1]?.published_at ?? '') > surely) known -= 1;
      const first = Math.max(known, published.length - RACES_MAX);
      for (const end of new Set([known, ...published.keys()].filter((at) => at === known || at >= first)))
        if (end < published.length) booked.push(lookUp(inForce(published.slice(0, end)), wanted));
      return booked;
    },
  };
};

/** Categories of what sales and burns of all tenants point at. */
export const PUBLISHED = ['priceList', 'billingConfig', 'fxRates'] as const;

/** How long a decision may be behind what it was decided by: caches, clocks, a request under way. */
export const RACE_MS = 10 * 60_000;
/** A superseded price list stays usable for sales that happened up to so long after. Source: the price list. */
const GRACE_MS = 24 * 60 * 60_000;

/** A billing config as burns are checked by it. */
interface ConfigTerms {
  readonly published_at: string;
  readonly free_pages: number;
  readonly examples_export_fee_credits: number;
  readonly training: BillingTerms['training'] | null;
  /** Credits a page by `operation mode type window`. */
  readonly rates: ReadonlyMap<string, number>;
}

interface PublishedList {
  readonly published_at: string;
  readonly entries: readonly PriceListEntry[];
}

/** Publications, as far as the log was read. */
export interface Reference {
  readonly apply: (event: AuditedEvent) => void;
  readonly config: (version: number) => ConfigTerms | undefined;
  readonly list: (version: number) => PublishedList | undefined;
  /** Whether a sale could be priced by this version: it was active, or superseded a day ago at most. */
  readonly wasInForce: (version: number, sale: AuditedEventOf<'CreditsGranted'>) => boolean;
  /** The rates that a sale could be booked at when an event was recorded; the first is the expected one. */
  readonly bookable: (
    sale: Pick<AuditedEventOf<'CreditsGranted'>['data'], 'currency' | 'occurred_at'>,
    event: AuditedEvent,
  ) => readonly BookedRate[];
}

export const rateKey = (rate: Omit<BillingRate, 'credits_per_page'>): string =>
  `${rate.operation} ${rate.extraction_mode} ${rate.billing_type} ${rate.completion_window ?? ''}`;

const ratesOf = (rates: readonly BillingRate[]): ReadonlyMap<string, number> =>
  new Map(withLaterRates(rates).map((rate) => [rateKey(rate), rate.credits_per_page]));

const versionIs = (
  findings: Findings,
  event: AuditedEventOf<'PriceListPublished' | 'BillingConfigPublished' | 'BillingRateSet'>,
  last: number,
): void => {
  findings.checked('version');
  const { version } = event.data;
  if (version === last + 1) return;
  const message = `Version ${version} was published after version ${last}.`;
  wrong(findings, 'version', event)(message, last + 1, version);
};

const NO_TERMS: ConfigTerms = {
  published_at: '',
  free_pages: 0,
  examples_export_fee_credits: 0,
  training: null,
  rates: new Map(),
};

/** Billing configs; a rate alone carries the rest of the version before over. */
const billingConfigs = (findings: Findings) => {
  const configs = new Map<number, ConfigTerms>();
  let last = 0;
  return {
    of: (version: number) => configs.get(version),
    apply: (event: AuditedEventOf<'BillingConfigPublished' | 'BillingRateSet'>): void => {
      versionIs(findings, event, last);
      if (event.type === 'BillingConfigPublished') {
        const { version, terms, rates } = event.data;
        configs.set(version, { ...terms, published_at: recordedAt(event), rates: ratesOf(rates) });
      } else {
        const { version, rate } = event.data;
        const before = configs.get(last) ?? NO_TERMS;
        const rates = new Map(before.rates).set(rateKey(rate), rate.credits_per_page);
        configs.set(version, { ...before, published_at: recordedAt(event), rates });
      }
      last = event.data.version;
    },
  };
};

const priceLists = (findings: Findings) => {
  const lists = new Map<number, PublishedList>();
  let last = 0;
  return {
    of: (version: number) => lists.get(version),
    apply: (event: AuditedEventOf<'PriceListPublished'>): void => {
      versionIs(findings, event, last);
      lists.set(event.data.version, event.data);
      last = event.data.version;
    },
    wasInForce: (version: number, sale: AuditedEventOf<'CreditsGranted'>): boolean => {
      const [list, next] = [lists.get(version), lists.get(version + 1)];
      if (list === undefined || next === undefined) return list !== undefined;
      const superseded = Date.parse(next.published_at);
      if (superseded > Date.parse(recordedAt(sale)) - RACE_MS) return true;
      const occurred = Date.parse(sale.data.occurred_at);
      // A time in whole seconds stands for all of its second.
      const latest = occurred % 1000 === 0 ? occurred + 999 : occurred;
      return latest >= Date.parse(list.published_at) && occurred <= superseded + GRACE_MS;
    },
  };
};

/** Everything that sales and burns point at. */
export const reference = (findings: Findings): Reference => {
  const [configs, lists, fx] = [billingConfigs(findings), priceLists(findings), fxPublications()];
  return {
    config: configs.of,
    list: lists.of,
    wasInForce: lists.wasInForce,
    bookable: ({ currency, occurred_at }, event) =>
      fx.bookable(
        { currency, day: occurred_at.slice(0, 10) },
        new Date(Date.parse(recordedAt(event)) - RACE_MS).toISOString(),
      ),
    apply: byType({
      PriceListPublished: lists.apply,
      BillingConfigPublished: configs.apply,
      BillingRateSet: configs.apply,
      FxRatesPublished: ({ data }) => fx.apply(data),
    }),
  };
};
