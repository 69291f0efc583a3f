import { type AuditedEvent, type AuditedEventOf, recordedAt } from './auditedEvent.ts';
import { type BudgetBooks, noBudgets } from './budgets.ts';
import type { CompactSet } from './streams.ts';
import { type Findings, wrong } from './findings.ts';
import { RACE_MS, rateKey, type Reference } from './margin.ts';
import { parseDecimal, powerOfTen } from '../../domain/kernel/amounts.ts';
import type { PriceListEntry } from '../../domain/priceList.ts';
import { NO_END, isRated, type RatedOperation } from '../../domain/account/messages.ts';

/** A sale and its refunds: credits and minor units. */
interface SaleBook {
  sale: AuditedEventOf<'CreditsGranted'>['data'];
  credits: number;
  gross: number;
  vat: number;
  fee: number;
  /** What of each of its refunds is not reversed, by ID. */
  readonly refunds: Map<string, Taken>;
}

/** Credits and minor units. */
export type Taken = Pick<SaleBook, 'credits' | 'gross' | 'vat' | 'fee'> & {
  /** A dispute as it is known now; undefined: it is none. */
  dispute: AuditedEventOf<'CreditsRefunded'>['data']['dispute'];
  /** Revision of the reversal that a dispute was won by. */
  wonAt?: bigint;
};

/** One tenant's account, added up by the auditor. */
export interface AccountBook {
  readonly tenant_id: string;
  opened: boolean;
  plan: string;
  balance: number;
  held: number;
  free_used: number;
  free_held: number;
  /** The difference between stated and computed balance, so far: reported once, not for every later event. */
  drift: number;
  readonly holds: Map<string, AuditedEventOf<'CreditsHeld'>['data']>;
  /** The hold that was released last. */
  released: {
    readonly hold: AuditedEventOf<'CreditsHeld'>['data'];
    readonly revision: bigint;
    readonly at: string;
  } | null;
  readonly sales: Map<string, SaleBook>;
  readonly budgets: BudgetBooks;
}

export const newBook = (tenant_id: string): AccountBook => ({
  tenant_id,
  opened: false,
  plan: 'free',
  balance: 0,
  held: 0,
  free_used: 0,
  free_held: 0,
  drift: 0,
  holds: new Map(),
  released: null,
  sales: new Map(),
  budgets: noBudgets(),
});

const availableIn = ({ balance, held }: AccountBook): number => balance - held;

/** What the rules of an account use beside the account. */
export interface Books {
  readonly findings: Findings;
  readonly reference: Reference;
  /** Everything that may take effect once. */
  readonly once: CompactSet;
  /** Told of all by whose name a rule brings events of different streams together. */
  readonly touch: (name: string) => void;
}

/** Reports an identity that takes effect a second time. */
export const takeOnce = (
  { findings, once, touch }: Books,
  event: AuditedEvent,
  { identity, message }: { readonly identity: string; readonly message: string },
): void => {
  findings.checked('identity');
  touch(identity);
  if (!once.add(identity)) wrong(findings, 'identity', event)(message);
};

type Held = AuditedEventOf<'CreditsHeld'>;
type Burned = AuditedEventOf<'CreditsBurned'>;
type Priced = Pick<
  Held['data'],
  | 'pages'
  | 'free_pages'
  | 'credits_per_page'
  | 'credits'
  | 'operation'
  | 'extraction_mode'
  | 'billing_type'
  | 'completion_window'
>;

/** (pages − free pages) × credits a page; the service caps what it cannot count. */
const priceOf = ({ pages, free_pages, credits_per_page }: Priced): number =>
  Math.min(Math.max(0, pages - free_pages) * credits_per_page, Number.MAX_SAFE_INTEGER);

/** A training job has a price of its own, which its stream says: no pages and no rate. */
const checkFlat = (books: Books, event: Held | Burned): void => {
  const { pages, free_pages, credits_per_page } = event.data;
  if (pages + free_pages + credits_per_page === 0) return;
  wrong(books.findings, 'rate', event)(
    'Training is not billed by the page.',
    '0 pages at 0 credits',
    `${pages} pages at ${credits_per_page} credits`,
  );
};

/** What may wait costs what other work costs where the config has no rate for it. */
const rateIn = (
  rates: ReadonlyMap<string, number>,
  { extraction_mode: mode, billing_type, completion_window }: Priced,
  operation: RatedOperation,
): number | undefined => {
  const key = { operation, extraction_mode: mode ?? 'standard', billing_type };
  return rates.get(rateKey({ ...key, completion_window })) ?? rates.get(rateKey(key));
};

/** The rate must be that of the config that the event names, and the credits its product. */
const checkRate = (books: Books, event: Held | Burned): void => {
  const { data } = event;
  books.findings.checked('rate');
  const say = wrong(books.findings, 'rate', event);
  const version = data.billing_config_version;
  const config = books.reference.config(version);
  if (config === undefined) {
    say(`It points at billing config ${version}, which was not published before.`);
    return;
  }
  if (data.operation === 'training') checkFlat(books, event);
  if (!isRated(data.operation)) return;
  const rate = rateIn(config.rates, data, data.operation);
  if (rate !== data.credits_per_page)
    say(
      `Its rate differs from billing config ${version} for ` +
        `${data.operation} ${data.extraction_mode ?? ''} ${data.billing_type}.`,
      rate ?? 'none',
      data.credits_per_page,
    );
  if (data.credits !== priceOf(data))
    say('Its credits are not its paid pages times its rate.', priceOf(data), data.credits);
};

/** Free pages come first, as many as the tenant has left by the config that the hold names: no more and no fewer. */
const checkFreePages = (books: Books, book: AccountBook, event: Held): void => {
  const allowance = books.reference.config(event.data.billing_config_version)?.free_pages;
  if (allowance === undefined) return;
  const { pages, free_pages } = event.data;
  const left = Math.max(0, allowance - book.free_used - book.free_held);
  const say = wrong(books.findings, 'available', event);
  if (free_pages > Math.min(pages, left))
    say(
      `${book.tenant_id} has used and held more free pages than it was given.`,
      `at most ${allowance}`,
      book.free_used + book.free_held + free_pages,
    );
  else if (free_pages < Math.min(pages, left))
    say(`Pages are paid while ${book.tenant_id} has free ones left.`, Math.min(pages, left), free_pages);
};

/**
 * Earlier releases changed the price of an open hold: released and placed again in one decision, with the free pages
 * that it had. Those that name the request of a hold never do.
 */
const checkRepriced = (books: Books, event: Held, before: Held['data']): void => {
  const { data } = event;
  const say = wrong(books.findings, 'hold', event);
  if (data.free_pages !== before.free_pages)
    say(`It changes the free pages of hold ${data.hold_id}.`, before.free_pages, data.free_pages);
  const isAnother = data.credits_per_page !== before.credits_per_page || data.credits !== before.credits;
  if (before.fingerprint !== undefined && isAnother)
    say(`It changes the price of hold ${data.hold_id}.`, before.credits, data.credits);
};

/** The hold that this one replaced in the same decision: of the same work, next to it, and of the same time. */
const replacedBy = ({ released }: AccountBook, { data, revision }: Held): Held['data'] | undefined => {
  if (released?.hold.hold_id !== data.hold_id || released.revision + 1n !== revision) return undefined;
  const { hold, at } = released;
  return at === data.created_at && hold.operation_id === data.operation_id ? hold : undefined;
};

const isPlacedAgain = (tenant: string, { hold_id, expires_at }: Held['data']): string | undefined =>
  expires_at === NO_END ? `released hold ${tenant} ${hold_id}` : undefined;

/** A price holds from its acceptance on: what is held again for accepted work keeps the config that it had. */
const checkInForce = (books: Books, tenant: string, event: Held | Burned): void => {
  const { billing_config_version: version, created_at } = event.data;
  if (event.type === 'CreditsHeld') {
    const again = isPlacedAgain(tenant, event.data);
    if (again !== undefined && books.once.has(again)) return;
  }
  const { published_at: replaced_at = created_at } = books.reference.config(version + 1) ?? {};
  // What decides by it may be a moment behind.
  if (Date.parse(replaced_at) > Date.parse(created_at) - RACE_MS) return;
  wrong(books.findings, 'rate', event)(`Billing config ${version} had been replaced when it was used.`);
};

/** After an event that takes, nothing may be overdrawn. */
export const checkAvailable = (
  event: AuditedEventOf<
    'CreditsHeld' | 'CreditsBurned' | 'CreditsRefunded' | 'CreditsTransferredOut' | 'CreditsAdjusted'
  >,
  { findings }: Books,
  book: AccountBook,
): void => {
  findings.checked('available');
  const available = availableIn(book);
  if (available >= 0) return;
  const message = `${book.tenant_id} spent credits that it did not have.`;
  wrong(findings, 'available', event)(message, 'at least 0 available', available);
};

export const openHold = (event: Held, books: Books, book: AccountBook): void => {
  const { data } = event;
  books.findings.checked('hold');
  if (book.holds.has(data.hold_id))
    wrong(books.findings, 'hold', event)(`Hold ${data.hold_id} is opened while it is open.`);
  checkRate(books, event);
  checkInForce(books, book.tenant_id, event);
  const before = replacedBy(book, event);
  if (before === undefined) checkFreePages(books, book, event);
  else checkRepriced(books, event, before);
  book.holds.set(data.hold_id, data);
  book.held += data.credits;
  book.free_held += data.free_pages;
  if (data.credits > 0) checkAvailable(event, books, book);
};

/** Takes the hold off the book; undefined, and a finding, when none is open. */
const closeHold = (
  books: Books,
  book: AccountBook,
  event: Burned | AuditedEventOf<'HoldReleased'>,
): Held['data'] | undefined => {
  const id = event.data.hold_id ?? '';
  const hold = book.holds.get(id);
  if (hold === undefined) {
    wrong(books.findings, 'hold', event)(`It closes hold ${id}, which is not open.`);
    return undefined;
  }
  book.holds.delete(id);
  book.held -= hold.credits;
  book.free_held -= hold.free_pages;
  return hold;
};

export const releaseHold = (event: AuditedEventOf<'HoldReleased'>, books: Books, book: AccountBook): void => {
  books.findings.checked('hold');
  const hold = closeHold(books, book, event);
  if (hold === undefined) return;
  book.released = { hold, revision: event.revision, at: event.data.released_at };
  const again = isPlacedAgain(book.tenant_id, hold);
  if (again !== undefined) books.once.add(again);
};

const SAME = [
  'operation_id',
  'operation',
  'category',
  'extraction_mode',
  'billing_type',
  'completion_window',
  'credits_per_page',
  'billing_config_version',
] as const;

/** Members that holds of older releases do not have. */
const SAME_SCOPE = ['project_id', 'task_id', 'api_key_id'] as const;

/** What work is for is said by its hold, and by its burn again. */
const checkScope = (data: Burned['data'], hold: Held['data'], say: ReturnType<typeof wrong>): void => {
  for (const member of SAME_SCOPE)
    if (hold[member] !== undefined && data[member] !== hold[member])
      say(`Its ${member} is not that of its hold ${hold.hold_id}.`, hold[member], data[member]);
  const [tags, held] = [JSON.stringify(data.tags), JSON.stringify(hold.tags)];
  if (tags !== held) say(`Its tags are not those of its hold ${hold.hold_id}.`, held, tags);
};

const checkAgainstHold = (books: Books, event: Burned, hold: Held['data']): void => {
  const { data } = event;
  const say = wrong(books.findings, 'hold', event);
  for (const member of SAME)
    if (data[member] !== hold[member])
      say(`Its ${member} is not that of its hold ${hold.hold_id}.`, hold[member], data[member]);
  checkScope(data, hold, say);
  if (data.fingerprint !== (hold.fingerprint ?? null))
    say(`It is for another request than its hold ${hold.hold_id}.`, hold.fingerprint, data.fingerprint);
  const free_pages = Math.min(data.pages, hold.free_pages);
  if (data.pages > hold.pages || data.credits > hold.credits || data.free_pages !== free_pages)
    say(
      `It burns more than hold ${hold.hold_id} set aside, or other free pages.`,
      `at most ${hold.pages} pages, ${free_pages} of them free, and ${hold.credits} credits`,
      `${data.pages} pages, ${data.free_pages} of them free, and ${data.credits} credits`,
    );
};

/** A burn without a hold is a charge: flat, under a key, and once. */
const checkCharge = (books: Books, book: AccountBook, event: Burned): void => {
  const { data } = event;
  if (data.idempotency_key === null || isRated(data.operation))
    wrong(
      books.findings,
      'hold',
      event,
    )(`It burns ${data.credits} credits for ${data.operation} with neither a hold nor a key of its own.`);
  else
    takeOnce(books, event, {
      identity: `charge ${book.tenant_id} ${data.idempotency_key}`,
      message: `The charge ${data.idempotency_key} of ${book.tenant_id} took effect twice.`,
    });
  const fee = books.reference.config(data.billing_config_version)?.examples_export_fee_credits;
  if (data.operation === 'examples_export' && fee !== undefined && data.credits !== fee)
    wrong(books.findings, 'rate', event)('Its flat fee differs from its billing config.', fee, data.credits);
  if (data.credits > 0) checkAvailable(event, books, book);
};

/** The balance has moved already. */
export const burn = (event: Burned, books: Books, book: AccountBook): void => {
  const { data } = event;
  books.findings.checked('hold');
  checkRate(books, event);
  book.free_used += data.free_pages;
  if (data.hold_id === null) {
    checkInForce(books, book.tenant_id, event);
    checkCharge(books, book, event);
    return;
  }
  takeOnce(books, event, {
    identity: `burn ${book.tenant_id} ${data.operation_id}`,
    message: `Operation ${data.operation_id} of ${book.tenant_id} was billed twice.`,
  });
  const hold = closeHold(books, book, event);
  if (hold !== undefined) checkAgainstHold(books, event, hold);
};

/** Holds that ran out long before the end of the log: the sweeper should have released them. */
export const noteStaleHolds = ({ findings }: Books, book: AccountBook, before: string): void => {
  for (const hold of book.holds.values())
    if (hold.expires_at < before)
      findings.note(
        `Hold ${hold.hold_id} of ${book.tenant_id} ran out at ${hold.expires_at} and is still open; ` +
          'the service releases it.',
      );
};

type Granted = AuditedEventOf<'CreditsGranted'>;
type Refunded = AuditedEventOf<'CreditsRefunded'>;

/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** `occurred_at` ≤ `recorded_at` + 1 day. */
export const checkTimes = (
  books: Pick<Books, 'findings'>,
  event: AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed' | 'LlmCostLogged'>,
): void => {
  books.findings.checked('time');
  const { occurred_at } = event.data;
  if (Date.parse(occurred_at) <= Date.parse(recordedAt(event)) + AHEAD_MAX_MS) return;
  const latest = `at most a day after ${recordedAt(event)}`;
  wrong(books.findings, 'time', event)('It happened after it was recorded.', latest, occurred_at);
};

const absolute = (n: bigint): bigint => (n < 0n ? -n : n);

/**
 * `|credits × p − A × 1000| < max(p, 1000)`, all in minor units; `p` is the price of 1,000 credits, `A` net
 * or, where the price includes tax, gross, with the discount that was taken off it. A bonus has no price. Worked with
 * numerators only. Source: docs/reference.
 */
const hasPrice = ({ data }: Granted, { minor_unit_digits }: PriceListEntry): boolean => {
  if (data.gross_amount_minor === null) return true;
  const { units, scale } = parseDecimal(data.price_per_1000_credits);
  const [price, one] = [units * powerOfTen(minor_unit_digits), powerOfTen(scale)];
  const net = data.gross_amount_minor - (data.tax_basis === 'inclusive' ? 0 : data.vat_amount_minor);
  const { discount_minor: discount = 0, bonus_credits: bonus = 0 } = data;
  const [listed, priced] = [net + discount, data.credits - bonus];
  if (priced < 1 || data.gross_amount_minor + discount < 1) return false;
  const difference = absolute(BigInt(priced) * price - BigInt(listed) * 1000n * one);
  return difference < (price > 1000n * one ? price : 1000n * one);
};

const checkPrice = (books: Books, event: Granted): void => {
  const { data } = event;
  books.findings.checked('price');
  const version = data.price_list_version;
  const list = books.reference.list(version);
  const entry = list?.entries.find(({ currency }) => currency === data.currency);
  const say = wrong(books.findings, 'price', event);
  if (entry === undefined) {
    say(`Price list ${version} was not published before, or has no price in ${data.currency}.`);
    return;
  }
  if (!books.reference.wasInForce(version, event))
    say(`Price list ${version} was not in force at ${data.occurred_at}.`);
  if (entry.price_per_1000_credits !== data.price_per_1000_credits || entry.tax_basis !== data.tax_basis)
    say(
      `Its price differs from price list ${version}.`,
      `${entry.price_per_1000_credits} ${entry.tax_basis}`,
      `${data.price_per_1000_credits} ${data.tax_basis}`,
    );
  else if (!hasPrice(event, entry))
    say(
      `${data.credits} credits do not match its amount at ${data.price_per_1000_credits} ${data.currency} for 1,000.`,
      undefined,
      `${data.credits} credits for ${String(data.gross_amount_minor)} minor units, ` +
        `${data.vat_amount_minor} of them VAT`,
    );
};

const checkFx = (books: Books, event: Granted): void => {
  books.findings.checked('fx');
  const { fx_rate_to_usd, fx_rate_date } = event.data;
  const bookable = books.reference.bookable(event.data, event);
  if (bookable.some(({ rate, date }) => rate === fx_rate_to_usd && date === fx_rate_date)) return;
  const [due] = bookable;
  wrong(books.findings, 'fx', event)(
    `It was not booked at the last rate from ${event.data.currency} to USD known on the day of the sale.`,
    `${due?.rate ?? 'none'} of ${due?.date ?? 'no day'}`,
    `${fx_rate_to_usd ?? 'none'} of ${fx_rate_date ?? 'no day'}`,
  );
};

export const sell = (event: Granted, books: Books, book: AccountBook): void => {
  const { data } = event;
  takeOnce(books, event, {
    identity: `grant ${data.grant_id}`,
    message: `Grant ${data.grant_id} was issued twice.`,
  });
  book.sales.set(data.grant_id, { sale: data, credits: 0, gross: 0, vat: 0, fee: 0, refunds: new Map() });
  const gross = data.gross_amount_minor ?? 0;
  if (data.vat_amount_minor > gross || data.provider_fee_minor > gross)
    wrong(books.findings, 'price', event)('Its VAT or its fee exceeds its amount.');
  checkTimes(books, event);
  checkPrice(books, event);
  checkFx(books, event);
};

/** Facts become known once: nothing that a sale says is said again, and no more VAT or fee than money. */
export const tellMore = (
  event: AuditedEventOf<'SaleDetailsAdded'>,
  { findings }: Books,
  book: AccountBook,
): void => {
  const { grant_id, details } = event.data;
  findings.checked('agreement');
  const say = wrong(findings, 'agreement', event);
  const of = book.sales.get(grant_id);
  if (of === undefined) {
    say(`It adds to ${grant_id}, which was not sold.`);
    return;
  }
  const known = of.sale as Readonly<Record<string, unknown>>;
  const told = Object.keys(details);
  if (told.length === 0) say(`It adds nothing to ${grant_id}.`);
  for (const member of told.filter((one) => (known[one] ?? 0) !== 0))
    say(`Its ${member} was known before.`, String(known[member]));
  of.sale = { ...of.sale, ...(details as object) };
  const { vat_amount_minor: vat, provider_fee_minor: fee, gross_amount_minor: gross } = of.sale;
  if (Math.max(vat, fee) > (gross ?? 0)) say('The VAT or the fee of its sale exceeds the amount.');
};

/** A rate that became known is one that was published; one that somebody corrected follows the one before. */
export const bookRate = (
  event: AuditedEventOf<'SaleRateBooked'>,
  { findings, reference }: Books,
  book: AccountBook,
): void => {
  const { data } = event;
  findings.checked('fx');
  const say = wrong(findings, 'fx', event);
  const of = book.sales.get(data.grant_id);
  if (of === undefined) {
    say(`It books the rate of ${data.grant_id}, which was not sold.`);
    return;
  }
  const { sale } = of;
  const known = {
    previous_rate: sale.fx_rate_to_usd,
    previous_rate_date: sale.fx_rate_date,
    price_per_1000_credits: sale.price_per_1000_credits,
    sale_occurred_at: sale.occurred_at,
  } as const;
  for (const member of Object.keys(known) as (keyof typeof known)[])
    if (data[member] !== known[member])
      say(`Its ${member} is not that of its sale.`, known[member] ?? 'none', data[member] ?? 'none');
  const isPublished = reference
    .bookable(sale, event)
    .some(({ rate, date }) => rate === data.fx_rate_to_usd && date === data.fx_rate_date);
  if (data.reason === null && (data.previous_rate !== null || !isPublished))
    say('It books a rate that was not published, or in place of another one without a reason.');
  of.sale = { ...sale, fx_rate_to_usd: data.fx_rate_to_usd, fx_rate_date: data.fx_rate_date };
};

/** What a refund takes of its sale, and a reversal gives back: as the books, events and findings call it. */
export const LIMITS = [
  ['credits', 'credits', 'credits'],
  ['gross', 'gross_amount_minor', 'amount'],
  ['vat', 'vat_amount_minor', 'VAT'],
  ['fee', 'provider_fee_minor', 'fee'],
] as const;

/** In total never more than the sale, and never more VAT than money. */
export const refund = (event: Refunded, books: Books, book: AccountBook): void => {
  const { data } = event;
  books.findings.checked('refund');
  checkTimes(books, event);
  const say = wrong(books.findings, 'refund', event);
  const of = book.sales.get(data.grant_id);
  if (data.credits > 0) checkAvailable(event, books, book);
  if (of === undefined) {
    say(`It refunds ${data.grant_id}, which was not sold.`);
    return;
  }
  if (data.currency !== of.sale.currency)
    say('It is in another currency than its sale.', of.sale.currency, data.currency);
  if (data.vat_amount_minor > data.gross_amount_minor) say('Its VAT exceeds its amount.');
  takeOnce(books, event, {
    identity: `refund ${data.refund_id}`,
    message: `Refund ${data.refund_id} was made twice.`,
  });
  of.refunds.set(data.refund_id, {
    credits: data.credits,
    gross: data.gross_amount_minor,
    vat: data.vat_amount_minor,
    fee: data.provider_fee_minor,
    dispute: data.dispute,
  });
  for (const [sum, member, word] of LIMITS) {
    of[sum] += data[member];
    const limit = of.sale[member] ?? 0;
    if (of[sum] > limit)
      say(`The refunds of sale ${data.grant_id} exceed its ${word}.`, `at most ${limit}`, of[sum]);
  }
};
