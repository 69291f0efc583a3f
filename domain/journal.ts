import { z } from 'zod';
import { divideHalfEven } from './kernel/amounts.ts';

/** An account of the ledger that the journal is entered into. */
const account = z.strictObject({
  /** As the ledger numbers it. */
  code: z.string().regex(/^[0-9A-Za-z._-]{1,20}$/),
  /** As the ledger names it: some programs find it by this. */
  name: z.string().min(1).max(100),
});

type Account = z.output<typeof account>;

/** Accounts that are not told otherwise: numbers of the German chart SKR 04. */
const ACCOUNTS = {
  /** What a payment provider owes: taken for us, without its fee, and not paid out yet. */
  clearing: { code: '1460', name: 'Payment clearing' },
  /** What is sold and not used, without VAT and fees. */
  deferred_revenue: { code: '3900', name: 'Deferred revenue' },
  vat: { code: '3806', name: 'VAT' },
  revenue: { code: '4400', name: 'Revenue' },
  /** Revenue that refunds and their reversals correct. */
  refunds: { code: '4720', name: 'Refunds' },
  /** Credits taken back by a person although they were paid for. */
  forfeited: { code: '4830', name: 'Forfeited credits' },
  provider_fees: { code: '6855', name: 'Payment provider fees' },
  /** What providers keep for disputes. */
  dispute_fees: { code: '6856', name: 'Dispute fees' },
  /** Revenue that a corrected exchange rate corrects. */
  fx_difference: { code: '6880', name: 'Exchange differences' },
} as const satisfies Readonly<Record<string, Account>>;

type AccountName = keyof typeof ACCOUNTS;

/** Of the ledger program that reads a DATEV batch. */
const datev = z.strictObject({
  consultant: z.number().int().min(1001).max(9_999_999),
  client: z.number().int().min(1).max(99_999),
  /** Month in which fiscal years begin, from 1. */
  fiscal_year_month: z.number().int().min(1).max(12).default(1),
});

/** What differs between ledgers: numbers and names of accounts, those of single providers, and whose ledger it is. */
export const journalSettings = z.strictObject({
  accounts: z
    .strictObject({
      clearing: account.default(ACCOUNTS.clearing),
      deferred_revenue: account.default(ACCOUNTS.deferred_revenue),
      vat: account.default(ACCOUNTS.vat),
      revenue: account.default(ACCOUNTS.revenue),
      refunds: account.default(ACCOUNTS.refunds),
      forfeited: account.default(ACCOUNTS.forfeited),
      provider_fees: account.default(ACCOUNTS.provider_fees),
      dispute_fees: account.default(ACCOUNTS.dispute_fees),
      fx_difference: account.default(ACCOUNTS.fx_difference),
    })
    .default(ACCOUNTS),
  /** Clearing accounts of single providers, by their names in lower case. */
  providers: z.record(z.string().min(1).max(64), account).default({}),
  datev: datev.default({ consultant: 1001, client: 1, fiscal_year_month: 1 }),
});

export type JournalSettings = z.output<typeof journalSettings>;

/** Settings of an installation that says nothing. */
export const DEFAULT_JOURNAL: JournalSettings = journalSettings.parse({});

/**
 * Entries by their text key, and the account of what they recognise at once (a true-up). One more kind of event is one
 * more entry here.
 */
const TRUED_UP_TO = {
  sale: 'revenue',
  sale_details: 'revenue',
  rate: 'revenue',
  rate_correction: 'fx_difference',
  refund: 'refunds',
  reversal: 'refunds',
  dispute: 'refunds',
  adjustment: 'forfeited',
  transfer: 'revenue',
  use: 'revenue',
} as const satisfies Readonly<Record<string, AccountName>>;

/** The text key of an entry. */
export type EntryKind = keyof typeof TRUED_UP_TO;

export const ENTRY_KINDS = Object.keys(TRUED_UP_TO) as readonly EntryKind[];

/** The kind that a text key names. Throws for a text that is none. */
export const entryKindOf = (text: string): EntryKind => {
  const kind = ENTRY_KINDS.find((one) => one === text);
  if (kind === undefined) throw new Error(`${text} is no kind of journal entry`);
  return kind;
};

/** What an event, or a tenant's use on a day, moved; micro-USD. */
export interface Moved {
  readonly kind: EntryKind;
  /** Of the payment; null where there is none. */
  readonly provider: string | null;
  /** Value booked for sales less what was refunded of it: without VAT and fees. */
  readonly paid: bigint;
  /** VAT that is owed by it. */
  readonly vat_due: bigint;
  /** Recognised at once. */
  readonly true_up: bigint;
  /** Fee of a dispute: a cost of its own. */
  readonly dispute_fee: bigint;
  /** Recognised by use, and the fee that was taken off it. */
  readonly net: bigint;
  readonly fee: bigint;
}

/** An amount from one account to another, micro-USD above 0. */
export interface Pair {
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: bigint;
}

/**
 * The entry of what was moved, as pairs of accounts, so that it balances by its form:
 * clearing to deferred revenue = paid; clearing to VAT = VAT; deferred revenue to revenue = recognised; fees to
 * revenue = fee, as revenue is recognised without it; dispute fees to clearing = the fee of a dispute. Amounts below 0
 * change sides.
 */
export const pairsOf = (
  { accounts, providers }: JournalSettings,
  { kind, provider, paid, vat_due, true_up, dispute_fee, net, fee }: Moved,
): readonly Pair[] => {
  const own = provider === null ? undefined : providers[provider.toLowerCase()];
  const clearing = own ?? accounts.clearing;
  const { deferred_revenue: deferred, revenue } = accounts;
  const signed: readonly (readonly [Account, Account, bigint])[] = [
    [clearing, deferred, paid],
    [clearing, accounts.vat, vat_due],
    [deferred, accounts[TRUED_UP_TO[kind]], true_up],
    [deferred, revenue, net],
    [accounts.dispute_fees, clearing, dispute_fee],
    [accounts.provider_fees, revenue, fee],
  ];
  return signed
    .filter(([, , amount]) => amount !== 0n)
    .map(([debit, credit, amount]) =>
      amount > 0n ? { debit, credit, amount } : { debit: credit, credit: debit, amount: -amount },
    );
};

/** A line of an entry: an amount on one side of an account; the other one is 0. */
export interface Line extends Account {
  readonly debit: bigint;
  readonly credit: bigint;
}

/** One line for each account of some pairs, in their order; their debits and credits are equal in sum. */
export const linesOf = (pairs: readonly Pair[]): readonly Line[] => {
  const sums = new Map<string, Account & { readonly sum: bigint }>();
  const add = ({ code, name }: Account, amount: bigint): void => {
    sums.set(code, { code, name, sum: (sums.get(code)?.sum ?? 0n) + amount });
  };
  for (const { debit, credit, amount } of pairs) {
    add(debit, amount);
    add(credit, -amount);
  }
  return [...sums.values()]
    .filter(({ sum }) => sum !== 0n)
    .map(({ code, name, sum }) => ({
      code,
      name,
      debit: sum > 0n ? sum : 0n,
      credit: sum < 0n ? -sum : 0n,
    }));
};

const MICRO_PER_CENT = 10_000n;

/**
 * Rounds the pairs of one entry after the other to cents (still as micro-USD). Of each two accounts, what all entries
 * so far come to is rounded half-even, less what was given for them: sums are never off by more than half a cent.
 */
export const inCents = () => {
  const known = new Map<string, bigint>();
  const cents = (sum: bigint): bigint => divideHalfEven(sum, MICRO_PER_CENT) * MICRO_PER_CENT;
  const rounded = ({ debit, credit, amount }: Pair): Pair => {
    const [from, to] = [debit.code, credit.code];
    const isInOrder = from < to;
    const key = isInOrder ? `${from} ${to}` : `${to} ${from}`;
    const before = known.get(key) ?? 0n;
    const after = before + (isInOrder ? amount : -amount);
    known.set(key, after);
    const step = (cents(after) - cents(before)) * (isInOrder ? 1n : -1n);
    return step < 0n ? { debit: credit, credit: debit, amount: -step } : { debit, credit, amount: step };
  };
  return (pairs: readonly Pair[]): readonly Pair[] =>
    pairs.map(rounded).filter(({ amount }) => amount !== 0n);
};
