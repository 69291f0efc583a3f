import {
  accountOf,
  type AuditedEvent,
  auditedEvent,
  type AuditedEventOf,
  byType,
  openBooks,
  recordedAt,
} from './auditedEvent.ts';
import {
  type AccountBook,
  type Books,
  bookRate,
  burn,
  checkAvailable,
  newBook,
  noteStaleHolds,
  openHold,
  refund,
  releaseHold,
  sell,
  takeOnce,
  tellMore,
} from './rules.ts';
import { checkBudgets, finishBudgets } from './budgets.ts';
import { reverse, tellDispute } from './reversals.ts';
import { wrong } from './findings.ts';
import { checkMoment } from './claims.ts';
import { BOOKS_STREAM } from '../../domain/books.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import { everything } from './streams.ts';
import { balanceTotals } from './expectedMoney.ts';

type Posting = AuditedEventOf<
  | 'CreditsGranted'
  | 'CreditsRefunded'
  | 'RefundReversed'
  | 'CreditsTransferredOut'
  | 'CreditsTransferredIn'
  | 'CreditsAdjusted'
  | 'CreditsBurned'
>;

const isPosting = (event: AuditedEvent): event is Posting => 'balance_after' in event.data;

const TAKEN: ReadonlySet<string> = new Set(['CreditsRefunded', 'CreditsTransferredOut', 'CreditsBurned']);

const signed = ({ type, data }: Posting): number => (TAKEN.has(type) ? 0 - data.credits : data.credits);

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
  SaleDetailsAdded: tellMore,
  SaleRateBooked: bookRate,
  CreditsRefunded: refund,
  RefundReversed: reverse,
  DisputeChanged: tellDispute,
  CreditsTransferredOut: (event, books, book) => {
    const { idempotency_key: key, to_tenant_id } = event.data;
    if (key !== null)
      takeOnce(books, event, {
        identity: `transfer ${book.tenant_id} ${key}`,
        message: `The transfer ${key} of ${book.tenant_id} took effect twice.`,
      });
    if (to_tenant_id === book.tenant_id)
      wrong(books.findings, 'transfer', event)(`${book.tenant_id} sends credits to itself.`);
    checkAvailable(event, books, book);
  },
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
      checkBudgets(event, books.findings, book);
      move(event, books, book);
    },
    /** `before`: holds that ran out earlier should have been released. */
    finish: (before: string): void => {
      for (const book of accounts.values()) {
        finishBudgets(books.findings, book);
        noteStaleHolds(books, book, before);
      }
    },
  };
};

/** What is shown of a tenant's balance, and the title of each column. */
export const BALANCE_COLUMNS = {
  tenant_id: 'TENANT',
  plan: 'PLAN',
  balance_credits: 'BALANCE',
  held_credits: 'HELD',
  available_credits: 'AVAILABLE',
  purchased_credits: 'PURCHASED',
  used_credits: 'USED',
  adjusted_credits: 'ADJUSTED',
  free_pages_used: 'FREE USED',
  free_pages_held: 'FREE HELD',
} as const;
type Column = keyof typeof BALANCE_COLUMNS;

/** A tenant's credits and free pages at a moment; whole numbers as text. */
export type BalanceAt = Readonly<Record<Exclude<Column, 'plan'>, string>> & { readonly plan: string | null };

/**
 * Balances by the events that were booked at or before a moment, by tenant ID: when they were recorded, or, where that
 * month was closed, when the books were open.
 */
export const balancesAt = async (
  feed: Pick<EventFeed, 'subscribe'>,
  { at, tenant }: { readonly at: string; readonly tenant?: string | undefined },
): Promise<readonly BalanceAt[]> => {
  const totals = balanceTotals();
  const over = new Set<string>();
  const open = openBooks();
  for await (const recorded of everything(feed)) {
    if (recorded.stream === BOOKS_STREAM) open.see(auditedEvent(recorded, decodeAny(recorded)));
    const owner = accountOf(recorded.stream);
    if (owner === undefined || (tenant !== undefined && owner !== tenant)) continue;
    if (open.bookedAt(recordedAt(recorded)) > at) over.add(owner);
    if (!over.has(owner)) totals.apply(auditedEvent(recorded, decodeAny(recorded)));
  }
  const columns = Object.keys(BALANCE_COLUMNS) as Column[];
  return [...totals.rows()]
    .sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
    .map((row) => {
      const shown = { ...row, available_credits: row.balance_credits - row.held_credits };
      const entries = columns.map((column) => [column, shown[column]?.toString() ?? null]);
      return Object.fromEntries(entries) as BalanceAt;
    });
};
