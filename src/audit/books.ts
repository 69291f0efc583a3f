import { type AnyEvent, decodeAny } from '../../domain/catalogue.ts';
import { BOOKS_STREAM, CLOSED_SUMS, type MonthFigures } from '../../domain/books.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import {
  accountOf,
  type AuditedEvent,
  auditedEvent,
  type AuditedEventOf,
  openBooks,
} from './auditedEvent.ts';
import { inPico, type Logged, PICO, type Priced, priceRow } from './expectedMoney.ts';
import { type Findings, type Place, placeOf, wrong } from './findings.ts';
import { type MarginBook, newMarginBook, post } from './lots.ts';
import { bookingRows, burnRows } from './margin.ts';

type Sums = Map<string, bigint>;

const monthOf = (time: string): string => time.slice(0, 7);

/** Sums by month of booking and currency, by the auditor's own writing of the margin report. */
const flowsBook = () => {
  const tenants = new Map<string, MarginBook>();
  const transit: MarginBook['transit'] = new Map();
  const months = new Map<string, Map<string, Sums>>();

  const sumsAt = (month: string, currency: string): Sums => {
    const currencies = months.get(month) ?? new Map<string, Sums>();
    months.set(month, currencies);
    const sums = currencies.get(currency) ?? new Map<string, bigint>();
    currencies.set(currency, sums);
    return sums;
  };
  const until = (month: string, currency: string, name: string): bigint =>
    [...months]
      .filter(([one]) => one <= month)
      .reduce((sum, [, currencies]) => sum + (currencies.get(currency)?.get(name) ?? 0n), 0n);

  return {
    /** Books a posting in a month; false where it is none. */
    post: (event: AuditedEvent, bookedIn: (time: string) => string): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined || !('created_at' in event.data)) return;
      const book = tenants.get(tenant) ?? newMarginBook(transit);
      tenants.set(tenant, book);
      const moves = post(book, event);
      if (moves === undefined) return;
      const month = bookedIn(event.data.created_at);
      const rows = event.type === 'CreditsBurned' ? burnRows(moves) : bookingRows(event, book, moves);
      for (const [currency, row] of rows) {
        const sums = sumsAt(month, currency);
        for (const [name, value] of Object.entries(row)) sums.set(name, (sums.get(name) ?? 0n) + value);
      }
    },
    /** Currencies that anything was booked in until the end of a month. */
    currencies: (month: string): readonly string[] =>
      [...new Set([...months].filter(([one]) => one <= month).flatMap(([, all]) => [...all.keys()]))].sort(),
    sum: (month: string, currency: string, name: string): bigint =>
      months.get(month)?.get(currency)?.get(name) ?? 0n,
    /** Booked, and neither given back nor recognised. */
    deferred: (month: string, currency: string): bigint =>
      until(month, currency, 'booked') -
      until(month, currency, 'refunded') -
      until(month, currency, 'net') -
      until(month, currency, 'true_up'),
  };
};

/** What models cost in a month, pico-USD; `free`: the part of free pages. */
interface Cost {
  readonly all: bigint;
  readonly free: bigint;
}

const NO_COST: Cost = { all: 0n, free: 0n };

interface Freed {
  readonly pages: bigint;
  readonly free: bigint;
}

const jobOf = (tenant: string, operation: string): string => `${tenant} ${operation}`;

const freePart = (cost: bigint, { data }: Logged, freed: Freed | undefined): bigint => {
  if (data.free_tier) return cost;
  return freed === undefined ? 0n : (cost * freed.free) / freed.pages;
};

type OfProvider = AuditedEventOf<'ProviderPricePublished'>;

const later = (a: OfProvider, b: OfProvider) => (b.data.effective_from >= a.data.effective_from ? b : a);
const earlier = (a: OfProvider, b: OfProvider) => (b.data.effective_from <= a.data.effective_from ? b : a);

/** The price of a call: its provider's in force, else that provider's first; else the last that was set by name. */
const priceOf = (prices: readonly Priced[], { data: call }: Logged): Priced | undefined => {
  const own = prices.filter(
    (price): price is OfProvider =>
      price.type === 'ProviderPricePublished' &&
      price.data.provider === call.provider &&
      price.data.model_name === call.model_name,
  );
  const [first, ...others] = own.filter(({ data }) => data.effective_from <= call.occurred_at);
  if (first !== undefined) return others.reduce(later, first);
  const [any, ...rest] = own;
  if (any !== undefined) return rest.reduce(earlier, any);
  const named = (name: string) =>
    prices.findLast(({ type, data }) => type === 'ModelPriceSet' && data.model_name === name);
  return named(`${call.provider}/${call.model_name}`) ?? named(call.model_name);
};

const costBy = (price: Priced, { data: call }: Logged): bigint => {
  const { input_pico, output_pico, cached_input_pico, page_pico } = priceRow(price);
  const cached = BigInt(call.cached_input_tokens);
  return (
    (BigInt(call.input_tokens) - cached) * input_pico +
    cached * (cached_input_pico ?? input_pico) +
    BigInt(call.output_tokens) * output_pico +
    BigInt(call.pages ?? 0) * (page_pico ?? 0n)
  );
};

const add = (costs: Map<string, Cost>, month: string, { all, free }: Cost): void => {
  const before = costs.get(month) ?? NO_COST;
  costs.set(month, { all: before.all + all, free: before.free + free });
};

/** Costs by month of the call, as far as the log was read. */
interface CostsNow {
  readonly months: ReadonlyMap<string, Cost>;
  readonly unpriced: ReadonlyMap<string, number>;
}

/** Model costs of the platform by month of the call. */
const costsBook = () => {
  const settled = new Map<string, Cost>();
  const prices: Priced[] = [];
  const open: Logged[] = [];
  const freed = new Map<string, Freed>();
  /** Calls whose operation may yet turn out to have had free pages. */
  const waiting = new Map<string, Logged[]>();

  const log = (call: Logged): void => {
    const { data } = call;
    if (data.billing_type !== 'full_service') return;
    const cost = inPico(data.cost_usd, PICO);
    if (cost === null) {
      open.push(call);
      return;
    }
    const job = jobOf(data.tenant_id, data.job_id);
    add(settled, monthOf(data.occurred_at), { all: cost, free: freePart(cost, call, freed.get(job)) });
    if (!data.free_tier && !freed.has(job)) waiting.set(job, [...(waiting.get(job) ?? []), call]);
  };
  const burn = ({ stream, data }: AuditedEventOf<'CreditsBurned'>): void => {
    const job = jobOf(accountOf(stream) ?? '', data.operation_id);
    if (data.free_pages > 0) {
      const part = { pages: BigInt(data.pages), free: BigInt(data.free_pages) };
      freed.set(job, part);
      for (const call of waiting.get(job) ?? []) {
        const free = freePart(inPico(call.data.cost_usd, PICO) ?? 0n, call, part);
        add(settled, monthOf(call.data.occurred_at), { all: 0n, free });
      }
    }
    waiting.delete(job);
  };
  return {
    apply: (event: AuditedEvent): void => {
      if (event.type === 'LlmCostLogged') log(event);
      if (event.type === 'CreditsBurned') burn(event);
      if (event.type === 'ProviderPricePublished' || event.type === 'ModelPriceSet') prices.push(event);
    },
    now: (): CostsNow => {
      const [months, unpriced] = [new Map(settled), new Map<string, number>()];
      for (const call of open) {
        const month = monthOf(call.data.occurred_at);
        const price = priceOf(prices, call);
        if (price === undefined) unpriced.set(month, (unpriced.get(month) ?? 0) + 1);
        else {
          const all = costBy(price, call);
          const job = jobOf(call.data.tenant_id, call.data.job_id);
          add(months, month, { all, free: freePart(all, call, freed.get(job)) });
        }
      }
      return { months, unpriced };
    },
  };
};

const costUntil = ({ months }: CostsNow, month: string): Cost =>
  [...months]
    .filter(([one]) => one <= month)
    .reduce((sum, [, { all, free }]) => ({ all: sum.all + all, free: sum.free + free }), NO_COST);

/** A line under a month, with what the auditor expects of its figures. */
interface Line {
  readonly place: Place;
  readonly closing: number;
  readonly month: string;
  readonly costs: CostsNow;
  readonly figures: MonthFigures;
  isClosed: boolean;
  late: { count: number; first: Place; last: bigint } | undefined;
}

const firstOfNext = (month: string): string => {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  return new Date(Date.UTC(year, index, 1)).toISOString();
};

const costFigures = (now: CostsNow, month: string, before: Line | undefined): MonthFigures['costs'] => {
  const own = now.months.get(month) ?? NO_COST;
  const [then, since] =
    before === undefined
      ? [NO_COST, NO_COST]
      : [costUntil(before.costs, before.month), costUntil(now, before.month)];
  const late = { all: since.all - then.all, free: since.free - then.free };
  return {
    billed_pico_usd: String(own.all - own.free + late.all - late.free),
    free_tier_pico_usd: String(own.free + late.free),
    unpriced_calls: now.unpriced.get(month) ?? 0,
    late: {
      billed_pico_usd: String(late.all - late.free),
      free_tier_pico_usd: String(late.free),
    },
  };
};

/** Each figure by its name; of sums that a newer release states and this one does not know, none. */
const flat = (
  { by_currency, costs }: MonthFigures,
  known: ReadonlySet<string>,
): ReadonlyMap<string, string> =>
  new Map([
    ...by_currency.flatMap(({ currency, sums, deferred }): [string, string][] => [
      ...Object.entries(sums)
        .filter(([name]) => known.has(name))
        .map(([name, sum]): [string, string] => [`${currency} ${name}`, sum]),
      [`${currency} deferred`, deferred],
    ]),
    ['billed_pico_usd', costs.billed_pico_usd],
    ['free_tier_pico_usd', costs.free_tier_pico_usd],
    ['unpriced_calls', String(costs.unpriced_calls)],
    ['late billed_pico_usd', costs.late.billed_pico_usd],
    ['late free_tier_pico_usd', costs.late.free_tier_pico_usd],
  ]);

const KNOWN: ReadonlySet<string> = new Set(CLOSED_SUMS);

const many = (count: number): string => (count === 1 ? '1 event' : `${count.toLocaleString('en-US')} events`);

/** The books of all tenants, as far as the log was read. */
interface BooksNow {
  readonly findings: Findings;
  /** Positions in the events are those of another log. */
  readonly isCopy: boolean;
  readonly flows: ReturnType<typeof flowsBook>;
  readonly costs: ReturnType<typeof costsBook>;
  readonly open: ReturnType<typeof openBooks>;
  /** Months that are closed. */
  readonly lines: Line[];
  /** Cut-offs so far. */
  closings: number;
}

const figuresOf = ({ flows, lines }: BooksNow, month: string, now: CostsNow): MonthFigures => ({
  by_currency: flows.currencies(month).map((currency) => ({
    currency,
    sums: Object.fromEntries(CLOSED_SUMS.map((name) => [name, String(flows.sum(month, currency, name))])),
    deferred: String(flows.deferred(month, currency)),
  })),
  costs: costFigures(now, month, lines.at(-1)),
});

const checkOrder = ({ findings, lines, closings }: BooksNow, event: AuditedEventOf<'MonthCutOff'>): void => {
  const { closing, month, opens_at, cut_off_at } = event.data;
  const say = wrong(findings, 'books', event);
  const last = lines.at(-1);
  const due = last === undefined ? month : monthOf(firstOfNext(last.month));
  if (month !== due) say('Months are closed in order, and this is not the next one.', due, month);
  else if (last?.isClosed === false) say(`${last.month} has no figures, and the next month is closed.`);
  if (closing !== closings + 1) say('Closings are numbered without a gap.', closings + 1, closing);
  if (opens_at !== firstOfNext(month))
    say(`It opens the books at another time than the end of ${month}.`, firstOfNext(month), opens_at);
  if (cut_off_at < firstOfNext(month)) say(`${month} was closed before it was over.`, undefined, cut_off_at);
};

const cutOff = (books: BooksNow, event: AuditedEventOf<'MonthCutOff'>): void => {
  const { closing, month } = event.data;
  checkOrder(books, event);
  const costs = books.costs.now();
  const figures = figuresOf(books, month, costs);
  books.closings = closing;
  books.lines.push({
    place: placeOf(event),
    closing,
    month,
    costs,
    figures,
    isClosed: false,
    late: undefined,
  });
};

const checkFigures = (
  { findings, isCopy }: BooksNow,
  event: AuditedEventOf<'MonthClosed'>,
  line: Line,
): void => {
  const say = wrong(findings, 'books', event);
  const { month, position, figures, digest } = event.data;
  const at = String(line.place.position);
  if (!isCopy && position !== at) say(`${month} was cut off at another position.`, at, position);
  const due = sha256(canonicalJson({ closing: line.closing, month, position, figures }));
  if (digest !== due) say('The digest is not that of its figures.', due, digest);
  const [expected, stated] = [flat(line.figures, KNOWN), flat(figures, KNOWN)];
  const names = [...new Set([...expected.keys(), ...stated.keys()])];
  const other = names.find((name) => expected.get(name) !== stated.get(name));
  if (other === undefined) return;
  const message = `The figures of ${month} are not those of the log: ${other.trim()}.`;
  say(message, expected.get(other) ?? 'none', stated.get(other) ?? 'none');
};

const close = (books: BooksNow, event: AuditedEventOf<'MonthClosed'>): void => {
  const { closing, month } = event.data;
  const line = books.lines.at(-1);
  if (line?.closing !== closing || line.month !== month || line.isClosed) {
    const isTwice = line?.isClosed === true && line.closing === closing;
    const why = isTwice ? 'it is closed' : 'it is not cut off';
    wrong(books.findings, 'books', event)(`It closes ${month}, and ${why}.`);
    return;
  }
  line.isClosed = true;
  checkFigures(books, event, line);
};

const tellLate = ({ findings }: BooksNow, { late, month }: Line): void => {
  if (late === undefined) return;
  const { stream, revision, position } = late.first;
  const [verb, to] = late.count === 1 ? ['is', ''] : ['are', ` to ${late.last}`];
  findings.note(
    `${many(late.count)} of ${month} or before came after it was closed, and ${verb} ` +
      `booked in ${monthOf(firstOfNext(month))}: ${stream} revision ${revision}, position ${position}${to}.`,
  );
};

const reopen = (books: BooksNow, event: AuditedEventOf<'MonthReopened'>): void => {
  const { closing, month, opens_at } = event.data;
  const { findings, lines } = books;
  const line = lines.at(-1);
  const say = wrong(findings, 'books', event);
  if (line?.closing !== closing || line.month !== month) {
    say('It opens a month that is not the one that was closed last.', line?.month ?? 'none', month);
    return;
  }
  lines.pop();
  tellLate(books, line);
  const before = lines.at(-1);
  const due = before === undefined ? null : firstOfNext(before.month);
  if (opens_at !== due)
    say('It opens the books at another time than the last closed month ends.', due, opens_at);
};

/** Notes a time in a closed month, at a position after its closing. */
const seeLate = ({ lines, open }: BooksNow, event: AuditedEvent, time: string): void => {
  const line = lines.at(-1);
  if (line === undefined || open.bookedAt(time) === time) return;
  line.late ??= { count: 0, first: placeOf(event), last: event.position };
  line.late.count += 1;
  line.late.last = event.position;
};

const book = (books: BooksNow, event: AuditedEvent): void => {
  books.costs.apply(event);
  books.flows.post(event, (time) => {
    seeLate(books, event, time);
    return monthOf(books.open.bookedAt(time));
  });
  if (event.type === 'LlmCostLogged') seeLate(books, event, event.data.occurred_at);
};

const follow = (books: BooksNow, event: AuditedEvent): void => {
  const { findings, open } = books;
  switch (event.type) {
    case 'MonthCutOff':
      cutOff(books, event);
      break;
    case 'MonthClosed':
      close(books, event);
      break;
    case 'MonthReopened':
      reopen(books, event);
      break;
    default:
      book(books, event);
      return;
  }
  findings.checked('books');
  open.see(event);
};

/** What is still open at the end. */
const finish = (books: BooksNow): void => {
  for (const line of books.lines) tellLate(books, line);
  const last = books.lines.at(-1);
  if (last?.isClosed === false)
    books.findings.note(
      `${last.month} was cut off at position ${last.place.position}, and its figures are not written yet: ` +
        'closing it again goes on.',
    );
};

/** Streams that the figures of a month come from. */
const FIGURED = ['account', 'llmCost', 'providerPricing', BOOKS_STREAM] as const;

async function* eventsOf(
  feed: Pick<EventFeed, 'subscribe'>,
  categories: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<AuditedEvent> {
  for await (const item of feed.subscribe({ categories, ...(signal && { signal }) })) {
    if (item.kind === 'caught_up') return;
    if (item.kind !== 'event') continue;
    const decoded = decodedOrNot(() => decodeAny(item.event));
    if (decoded !== undefined) yield auditedEvent(item.event, decoded);
  }
}

/** An event that cannot be read is reported by the rest of the audit. */
const decodedOrNot = (decode: () => AnyEvent): AnyEvent | undefined => {
  try {
    return decode();
  } catch (error) {
    if (error instanceof UndecodableEvent || error instanceof SyntaxError) return undefined;
    throw error;
  }
};

interface AuditedBooks {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly findings: Findings;
  readonly upTo: bigint;
  readonly isCopy: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Computes each closed month again and compares it with its closing, by a reading of its own: sums over all tenants
 * need the order of the whole log, which an audit by shares does not have. A log without closings is not read.
 */
export const auditBooks = async ({ feed, findings, upTo, isCopy, signal }: AuditedBooks): Promise<void> => {
  const hasBooks = await eventsOf(feed, [BOOKS_STREAM], signal).next();
  if (hasBooks.done === true) return;
  const books: BooksNow = {
    findings,
    isCopy,
    flows: flowsBook(),
    costs: costsBook(),
    open: openBooks(),
    lines: [],
    closings: 0,
  };
  for await (const event of eventsOf(feed, FIGURED, signal)) {
    if (event.position > upTo) break;
    follow(books, event);
  }
  signal?.throwIfAborted();
  finish(books);
};
