import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type BookedPayment,
  comparePayout,
  PAYOUT_FINDINGS,
  type PayoutFinding,
  type PayoutFindingKind,
  type PayoutResult,
} from '../../domain/payout.ts';
import {
  type NamedMapping,
  type OtherRows,
  payoutReader,
  type PayoutLine,
  type PayoutReader,
  UnreadablePayoutFile,
} from '../../domain/payoutFile.ts';
import type { BookedAt } from '../../projections/payments.ts';
import type { Queries } from './queries.ts';

/** Rows of one file: both sides are in memory, some 2 kB a row. */
const ROWS_MAX = 100_000;
/** Rows whose names are looked up with one statement. */
const LINES_AT_ONCE = 250;
/** Payments that are read with one statement. */
const PAYMENTS_AT_ONCE = 500;
/** Longest stretch of the main thread before others get their turn, ms. */
const SLICE_MS = 8;

/** Rows of a CSV file, some at a time. Throws UnreadablePayoutFile. */
export type RowsOfFile = (path: string, signal: AbortSignal) => AsyncIterable<readonly (readonly string[])[]>;

/** The file and the books. */
export interface PayoutDeps {
  readonly rows: RowsOfFile;
  readonly books: Pick<Queries, 'paymentsNamed' | 'paymentsExpected'>;
}

/** Which payments the file should have. Left out: those of the days from its first row to its last. */
export interface PayoutScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly payout_id?: string | undefined;
}

/** What is to be compared. */
export interface PayoutAsked {
  readonly path: string;
  /** Left out: the first of the service's that fits. */
  readonly mapping?: NamedMapping | undefined;
  readonly scope: PayoutScope;
  readonly signal: AbortSignal;
}

/** A provider's file beside the books. */
export interface PayoutComparison extends PayoutResult {
  /** Name of the mapping. */
  readonly mapping: string;
  readonly provider: string;
  /** Payments that the file should have: when they happened, or in which payout they are. */
  readonly from: string | null;
  readonly to: string | null;
  readonly payout_id: string | null;
  /** Rows that are payments. */
  readonly rows: number;
  readonly is_matching: boolean;
  readonly counts: Readonly<Record<PayoutFindingKind, number>>;
  readonly findings: readonly PayoutFinding[];
  readonly not_compared: readonly OtherRows[];
}

/** A file that was read. */
interface ReadFile {
  readonly lines: readonly PayoutLine[];
  readonly reader: PayoutReader;
  /** Days of its first and its last payment; empty: it has none. */
  readonly first: string;
  readonly last: string;
  readonly payouts: ReadonlySet<string | null>;
}

/** Collects the payments of a file while it is read. */
const collecting = () => {
  const lines: PayoutLine[] = [];
  const payouts = new Set<string | null>();
  let [first, last] = ['', ''];
  return {
    add: (line: PayoutLine): void => {
      lines.push(line);
      payouts.add(line.payout_id);
      if (first === '' || line.day < first) first = line.day;
      if (line.day > last) last = line.day;
    },
    all: () => ({ lines, payouts, first, last }),
  };
};

const readFile = async ({ rows }: PayoutDeps, { path, mapping, signal }: PayoutAsked): Promise<ReadFile> => {
  const collected = collecting();
  let reader: PayoutReader | undefined;
  let count = 0;
  for await (const some of rows(path, signal)) {
    const [header, ...below] = reader === undefined ? some : [[], ...some];
    if (header === undefined) continue;
    reader ??= payoutReader(header, mapping);
    count += below.length;
    if (count > ROWS_MAX)
      throw new UnreadablePayoutFile(
        `The file has more than ${String(ROWS_MAX)} rows. Split it by payout or by day.`,
      );
    for (const row of below) {
      const line = reader.read(row);
      if (line !== undefined) collected.add(line);
    }
  }
  if (reader === undefined || count === 0)
    throw new UnreadablePayoutFile('The file has no rows below its header.');
  return { ...collected.all(), reader };
};

/** What the file should have: as it is asked, or of its days. */
const expectedIn = ({ first, last }: ReadFile, { from, to, payout_id }: PayoutScope) => {
  const isOfDays = payout_id === undefined && first !== '';
  return {
    from: from ?? (isOfDays ? `${first}T00:00:00.000Z` : null),
    to: to ?? (isOfDays ? `${last}T23:59:59.999Z` : null),
    payout_id: payout_id ?? null,
  };
};

type Expected = ReturnType<typeof expectedIn>;

/** A file without payments, of which nothing is said: it should have none. */
const saysNothing = ({ from, to, payout_id }: Expected): boolean =>
  from === null && to === null && payout_id === null;

/** Payments that the file names, and those that it should have. */
const paymentsFor = async (
  { books }: PayoutDeps,
  { lines, reader }: ReadFile,
  { expected, signal }: { readonly expected: Expected; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, BookedAt>> => {
  const { provider } = reader.named.mapping;
  const found = new Map<string, BookedAt>();
  const keep = (payments: readonly BookedAt[]): void => {
    for (const payment of payments) found.set(payment.grant_id, payment);
  };
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    signal.throwIfAborted();
    const names = lines.slice(at, at + LINES_AT_ONCE).flatMap((line) => line.names);
    keep(await books.paymentsNamed(provider, names));
  }
  if (saysNothing(expected)) return found;
  let [after, isLast] = [-1n, false];
  while (!isLast) {
    signal.throwIfAborted();
    const page = await books.paymentsExpected({ provider, ...expected }, after, PAYMENTS_AT_ONCE);
    keep(page);
    after = page.at(-1)?.position ?? after;
    isLast = page.length < PAYMENTS_AT_ONCE;
  }
  return found;
};

/** A payout that the file does not have is another file's. */
const expectedBy = ({ from, to, payout_id }: Expected, { payouts }: ReadFile) => {
  if (saysNothing({ from, to, payout_id })) return () => false;
  return ({ occurred_at: at, payout_id: booked }: BookedPayment): boolean => {
    if ((from !== null && at < from) || (to !== null && at > to)) return false;
    if (payout_id !== null) return booked === payout_id;
    return booked === null || payouts.has(null) || payouts.has(booked);
  };
};

const noCounts = (): Record<PayoutFindingKind, number> =>
  Object.fromEntries(PAYOUT_FINDINGS.map((kind) => [kind, 0])) as Record<PayoutFindingKind, number>;

/** Drives a comparison to its end, with a rest every few milliseconds. Differences come before what is none. */
const driven = async (steps: ReturnType<typeof comparePayout>, signal: AbortSignal) => {
  const [differences, notes]: [PayoutFinding[], PayoutFinding[]] = [[], []];
  const counts = noCounts();
  let until = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { ...value, findings: differences.concat(notes), counts };
    if (value !== undefined) {
      (value.finding === 'payout_not_booked' ? notes : differences).push(value);
      counts[value.finding] += 1;
    }
    if (performance.now() < until) continue;
    await nextTurn();
    signal.throwIfAborted();
    until = performance.now() + SLICE_MS;
  }
};

/** Compares a provider's file with the payments in the books. Throws UnreadablePayoutFile. */
const compared = async (deps: PayoutDeps, asked: PayoutAsked): Promise<PayoutComparison> => {
  const file = await readFile(deps, asked);
  const { lines, reader } = file;
  const { signal } = asked;
  const expected = expectedIn(file, asked.scope);
  const payments = (await paymentsFor(deps, file, { expected, signal })).values();
  const result = await driven(
    comparePayout({ lines, payments, isExpected: expectedBy(expected, file) }),
    signal,
  );
  const { name: mapping, mapping: used } = reader.named;
  return {
    mapping,
    provider: used.provider,
    ...expected,
    rows: lines.length,
    ...result,
    not_compared: reader.others(),
    is_matching: result.findings.length === result.counts.payout_not_booked,
  };
};

/** Comparisons of a process, one after the other: each has its file in memory. */
export const payoutComparer = (deps: PayoutDeps): ((asked: PayoutAsked) => Promise<PayoutComparison>) => {
  let before: Promise<unknown> = Promise.resolve();
  return (asked) => {
    const mine = before.then(() => compared(deps, asked));
    before = mine.catch(() => undefined);
    return mine;
  };
};
