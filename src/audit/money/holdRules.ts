import type { AuditedEventOf } from '../log/auditedEvent.ts';
import { availableIn, takeOnce, wrong, type AccountBook, type Books } from './accountBooks.ts';
import { rateKey } from './reference.ts';

type Held = AuditedEventOf<'CreditsHeld'>;
type Burned = AuditedEventOf<'CreditsBurned'>;
type Priced = Pick<
  Held['data'],
  'pages' | 'free_pages' | 'credits_per_page' | 'credits' | 'operation' | 'extraction_mode' | 'billing_type'
>;

/** (pages − free pages) × credits a page; the service caps what it cannot count. */
const priceOf = ({ pages, free_pages, credits_per_page }: Priced): number =>
  Math.min(Math.max(0, pages - free_pages) * credits_per_page, Number.MAX_SAFE_INTEGER);

/** A training job has a price of its own, which its stream says: no pages and no rate. */
const checkFlat = (books: Books, event: Held | Burned): void => {
  const { pages, free_pages, credits_per_page } = event.data;
  if (pages + free_pages + credits_per_page === 0) return;
  wrong(books, event, {
    check: 'rate',
    message: 'Training is not billed by the page.',
    expected: '0 pages at 0 credits',
    found: `${pages} pages at ${credits_per_page} credits`,
  });
};

/** The rate must be that of the config that the event names, and the credits its product. */
const checkRate = (books: Books, event: Held | Burned): void => {
  const { data } = event;
  books.findings.checked('rate');
  const config = books.reference.config(data.billing_config_version);
  const version = data.billing_config_version;
  if (config === undefined) {
    wrong(books, event, {
      check: 'rate',
      message: `It points at billing config ${version}, which was not published before.`,
    });
    return;
  }
  if (data.operation === 'training') checkFlat(books, event);
  if (data.operation !== 'extract' && data.operation !== 'to_markdown') return;
  const rate = config.rates.get(
    rateKey({ ...data, operation: data.operation, extraction_mode: data.extraction_mode ?? 'standard' }),
  );
  if (rate !== data.credits_per_page)
    wrong(books, event, {
      check: 'rate',
      message:
        `Billing config ${version} has another rate for ${data.operation} ` +
        `${data.extraction_mode ?? ''} ${data.billing_type}.`,
      expected: rate ?? 'none',
      found: data.credits_per_page,
    });
  if (data.credits !== priceOf(data))
    wrong(books, event, {
      check: 'rate',
      message: 'Its credits are not its paid pages times its rate.',
      expected: priceOf(data),
      found: data.credits,
    });
};

const checkFreePages = (books: Books, book: AccountBook, event: Held): void => {
  const taken = book.free_used + book.free_held;
  const allowance = books.reference.config(event.data.billing_config_version)?.free_pages;
  if (event.data.free_pages === 0 || allowance === undefined || taken <= allowance) return;
  wrong(books, event, {
    check: 'available',
    message: `${book.tenant_id} has used and held more free pages than it was given.`,
    expected: `at most ${allowance}`,
    found: taken,
  });
};

/** After an event that takes, nothing may be overdrawn. */
export const checkAvailable = (
  books: Books,
  book: AccountBook,
  event: AuditedEventOf<'CreditsHeld' | 'CreditsBurned' | 'CreditsRefunded' | 'CreditsAdjusted'>,
): void => {
  books.findings.checked('available');
  const available = availableIn(book);
  if (available >= 0) return;
  wrong(books, event, {
    check: 'available',
    message: `${book.tenant_id} spent credits that it did not have.`,
    expected: 'at least 0 available',
    found: available,
  });
};

export const openHold = (books: Books, book: AccountBook, event: Held): void => {
  const { data } = event;
  books.findings.checked('hold');
  if (book.holds.has(data.hold_id))
    wrong(books, event, { check: 'hold', message: `Hold ${data.hold_id} is opened while it is open.` });
  book.holds.set(data.hold_id, data);
  book.held += data.credits;
  book.free_held += data.free_pages;
  checkRate(books, event);
  checkFreePages(books, book, event);
  if (data.credits > 0) checkAvailable(books, book, event);
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
    wrong(books, event, { check: 'hold', message: `It closes hold ${id}, which is not open.` });
    return undefined;
  }
  book.holds.delete(id);
  book.held -= hold.credits;
  book.free_held -= hold.free_pages;
  return hold;
};

export const releaseHold = (books: Books, book: AccountBook, event: AuditedEventOf<'HoldReleased'>): void => {
  books.findings.checked('hold');
  closeHold(books, book, event);
};

const SAME = [
  'operation_id',
  'operation',
  'category',
  'extraction_mode',
  'billing_type',
  'credits_per_page',
  'billing_config_version',
] as const;

const checkAgainstHold = (books: Books, event: Burned, hold: Held['data']): void => {
  const { data } = event;
  for (const member of SAME)
    if (data[member] !== hold[member])
      wrong(books, event, {
        check: 'hold',
        message: `Its ${member} is not that of its hold ${hold.hold_id}.`,
        expected: hold[member],
        found: data[member],
      });
  const free_pages = Math.min(data.pages, hold.free_pages);
  if (data.pages > hold.pages || data.credits > hold.credits || data.free_pages !== free_pages)
    wrong(books, event, {
      check: 'hold',
      message: `It burns more than hold ${hold.hold_id} set aside, or other free pages.`,
      expected: `at most ${hold.pages} pages, ${free_pages} of them free, and ${hold.credits} credits`,
      found: `${data.pages} pages, ${data.free_pages} of them free, and ${data.credits} credits`,
    });
};

/** A burn without a hold is a charge: flat, under a key, and once. */
const checkCharge = (books: Books, book: AccountBook, event: Burned): void => {
  const { data } = event;
  if (data.idempotency_key === null || data.operation === 'extract' || data.operation === 'to_markdown')
    wrong(books, event, {
      check: 'hold',
      message: `It burns ${data.credits} credits for ${data.operation} with neither a hold nor a key of its own.`,
    });
  else
    takeOnce(books, event, {
      identity: `charge ${book.tenant_id} ${data.idempotency_key}`,
      message: `The charge ${data.idempotency_key} of ${book.tenant_id} took effect twice.`,
    });
  const fee = books.reference.config(data.billing_config_version)?.examples_export_fee_credits;
  if (data.operation === 'examples_export' && fee !== undefined && data.credits !== fee)
    wrong(books, event, {
      check: 'rate',
      message: 'The flat fee of its billing config is another.',
      expected: fee,
      found: data.credits,
    });
  if (data.credits > 0) checkAvailable(books, book, event);
};

/** The balance has moved already. */
export const burn = (books: Books, book: AccountBook, event: Burned): void => {
  const { data } = event;
  books.findings.checked('hold');
  checkRate(books, event);
  book.free_used += data.free_pages;
  if (data.hold_id === null) {
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
        `Hold ${hold.hold_id} of ${book.tenant_id} ran out at ${hold.expires_at} and is still ` +
          'open; the service releases it.',
      );
};
