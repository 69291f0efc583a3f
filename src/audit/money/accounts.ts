import { accountOf, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { newBook, takeOnce, wrong, type AccountBook, type Books } from './accountBooks.ts';
import { burn, checkAvailable, noteStaleHolds, openHold, releaseHold } from './holdRules.ts';
import { checkMoment } from './intents.ts';
import { refund, sell } from './saleRules.ts';

type Posting = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'CreditsAdjusted' | 'CreditsBurned'>;

const isPosting = (event: AuditedEvent): event is Posting => 'balance_after' in event.data;

const signed = ({ type, data }: Posting): number =>
  type === 'CreditsGranted' || type === 'CreditsAdjusted' ? data.credits : 0 - data.credits;

/** The running balance is the auditor's own; what the event says must be the same. */
const post = (books: Books, book: AccountBook, event: Posting): void => {
  books.findings.checked('balance');
  book.balance += signed(event);
  const said = event.data.balance_after - book.drift;
  if (said === book.balance) return;
  wrong(books, event, {
    check: 'balance',
    message: `The balance of ${book.tenant_id} does not follow from the events before it.`,
    expected: book.balance + book.drift,
    found: event.data.balance_after,
  });
  book.drift = event.data.balance_after - book.balance;
};

const adjust = (books: Books, book: AccountBook, event: AuditedEventOf<'CreditsAdjusted'>): void => {
  const { data } = event;
  if (data.idempotency_key !== null)
    takeOnce(books, event, {
      identity: `adjustment ${book.tenant_id} ${data.idempotency_key}`,
      message: `The adjustment ${data.idempotency_key} of ${book.tenant_id} took effect twice.`,
    });
  if (data.credits < 0 && !data.allow_negative) checkAvailable(books, book, event);
};

const setPlan = (books: Books, book: AccountBook, event: AuditedEventOf<'PlanSet'>): void => {
  const { plan, previous_plan } = event.data;
  if (previous_plan !== book.plan)
    wrong(books, event, {
      check: 'owner',
      message: `It does not follow the plan that ${book.tenant_id} had.`,
      expected: book.plan,
      found: previous_plan,
    });
  book.plan = plan;
};

const openAccount = (books: Books, book: AccountBook, event: AuditedEventOf<'AccountOpened'>): void => {
  if (book.opened)
    wrong(books, event, { check: 'owner', message: `The account of ${book.tenant_id} is opened twice.` });
  book.opened = true;
};

const applyTo = (books: Books, book: AccountBook, event: AuditedEvent): void => {
  switch (event.type) {
    case 'AccountOpened': {
      openAccount(books, book, event);
      return;
    }
    case 'PlanSet': {
      setPlan(books, book, event);
      return;
    }
    case 'CreditsGranted': {
      sell(books, book, event);
      return;
    }
    case 'CreditsRefunded': {
      refund(books, book, event);
      return;
    }
    case 'CreditsAdjusted': {
      adjust(books, book, event);
      return;
    }
    case 'CreditsHeld': {
      openHold(books, book, event);
      return;
    }
    case 'HoldReleased': {
      releaseHold(books, book, event);
      return;
    }
    case 'CreditsBurned': {
      burn(books, book, event);
      return;
    }
    default:
  }
};

/** All accounts, folded by the auditor's own rules. */
export const accountsCheck = (books: Books) => {
  const accounts = new Map<string, AccountBook>();
  return {
    tenants: () => accounts.size,
    apply: (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined) return;
      const book = accounts.get(tenant) ?? newBook(tenant);
      accounts.set(tenant, book);
      if (!book.opened && event.type !== 'AccountOpened') {
        wrong(books, event, { check: 'owner', message: `The account of ${tenant} was never opened.` });
        book.opened = true;
      }
      checkMoment(books, event);
      if (isPosting(event)) post(books, book, event);
      applyTo(books, book, event);
    },
    /** `before`: holds that ran out earlier should have been released. */
    finish: (before: string): void => {
      for (const book of accounts.values()) noteStaleHolds(books, book, before);
    },
  };
};
