import { accountOf, byType, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { newBook, takeOnce, type AccountBook, type Books } from './accountBooks.ts';
import { wrong } from '../findings.ts';
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
  wrong(books.findings, 'balance', event)(
    `The balance of ${book.tenant_id} does not follow from the events before it.`,
    book.balance + book.drift,
    event.data.balance_after,
  );
  book.drift = event.data.balance_after - book.balance;
};

const move = byType<[Books, AccountBook]>({
  AccountOpened: (event, { findings }, book) => {
    if (book.opened) wrong(findings, 'owner', event)(`The account of ${book.tenant_id} is opened twice.`);
    book.opened = true;
  },
  PlanSet: (event, { findings }, book) => {
    const { plan, previous_plan } = event.data;
    if (previous_plan !== book.plan)
      wrong(findings, 'owner', event)(
        `It does not follow the plan that ${book.tenant_id} had.`,
        book.plan,
        previous_plan,
      );
    book.plan = plan;
  },
  CreditsGranted: sell,
  CreditsRefunded: refund,
  CreditsAdjusted: (event, books, book) => {
    const { idempotency_key: key, credits, allow_negative } = event.data;
    if (key !== null)
      takeOnce(books, event, {
        identity: `adjustment ${book.tenant_id} ${key}`,
        message: `The adjustment ${key} of ${book.tenant_id} took effect twice.`,
      });
    if (credits < 0 && !allow_negative) checkAvailable(event, books, book);
  },
  CreditsHeld: openHold,
  HoldReleased: releaseHold,
  CreditsBurned: burn,
});

/** All accounts, folded by the auditor's own rules. */
export const accountsCheck = (books: Books) => {
  const accounts = new Map<string, AccountBook>();
  return {
    tenants: () => accounts.size,
    /** As it stands so far; undefined: it was never opened. */
    bookOf: (tenantId: string): AccountBook | undefined => accounts.get(tenantId),
    apply: (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined) return;
      const book = accounts.get(tenant) ?? newBook(tenant);
      accounts.set(tenant, book);
      if (!book.opened && event.type !== 'AccountOpened') {
        wrong(books.findings, 'owner', event)(`The account of ${tenant} was never opened.`);
        book.opened = true;
      }
      checkMoment(books, event);
      if (isPosting(event)) post(books, book, event);
      move(event, books, book);
    },
    /** `before`: holds that ran out earlier should have been released. */
    finish: (before: string): void => {
      for (const book of accounts.values()) noteStaleHolds(books, book, before);
    },
  };
};
