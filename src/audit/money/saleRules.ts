import { parseDecimal, powerOfTen } from '../../../domain/kernel/amounts.ts';
import type { PriceListEntry } from '../../../domain/priceList.ts';
import { recordedAt, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong } from '../findings.ts';
import { takeOnce, type AccountBook, type Books } from './accountBooks.ts';
import { checkAvailable } from './holdRules.ts';

type Granted = AuditedEventOf<'CreditsGranted'>;
type Refunded = AuditedEventOf<'CreditsRefunded'>;

/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** `occurred_at` ≤ `recorded_at` + 1 day. */
export const checkTimes = (
  books: Pick<Books, 'findings'>,
  event: AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'LlmCostLogged'>,
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
 * or, where the price includes tax, gross. Worked with numerators only. Source: docs/reference.
 */
const hasPrice = ({ data }: Granted, { minor_unit_digits }: PriceListEntry): boolean => {
  if (data.gross_amount_minor === null) return true;
  const { units, scale } = parseDecimal(data.price_per_1000_credits);
  const [price, one] = [units * powerOfTen(minor_unit_digits), powerOfTen(scale)];
  const net = data.gross_amount_minor - (data.tax_basis === 'inclusive' ? 0 : data.vat_amount_minor);
  const difference = absolute(BigInt(data.credits) * price - BigInt(net) * 1000n * one);
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
  const bookable = books.reference.bookable(event);
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
  book.sales.set(data.grant_id, { sale: data, credits: 0, gross: 0, vat: 0, fee: 0 });
  const gross = data.gross_amount_minor ?? 0;
  if (data.vat_amount_minor > gross || data.provider_fee_minor > gross)
    wrong(books.findings, 'price', event)('Its VAT or its fee exceeds its amount.');
  checkTimes(books, event);
  checkPrice(books, event);
  checkFx(books, event);
};

const LIMITS = [
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
  for (const [sum, member, word] of LIMITS) {
    of[sum] += data[member];
    const limit = of.sale[member] ?? 0;
    if (of[sum] > limit)
      say(`The refunds of sale ${data.grant_id} exceed its ${word}.`, `at most ${limit}`, of[sum]);
  }
};
