import type { PayoutKind, PayoutLine } from './payoutFile.ts';

/**
 * Differences between a provider's file and the books, in the order in which they are reported. `payout_not_booked` is
 * none: the books need not know the payout of a sale.
 */
export const PAYOUT_FINDINGS = [
  'missing_in_books',
  'missing_in_file',
  'doubled_in_books',
  'doubled_in_file',
  'other_amount',
  'other_currency',
  'other_fee',
  'fee_not_booked',
  'other_payout',
  'payout_not_booked',
] as const;
export type PayoutFindingKind = (typeof PAYOUT_FINDINGS)[number];

/** A payment as the books have it now. Amounts are minor units; negative is money that went back. */
export interface BookedPayment {
  readonly tenant_id: string;
  readonly grant_id: string;
  readonly kind: PayoutKind;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly currency: string;
  /** null: the amount is not known. */
  readonly amount_minor: number | null;
  /** What the provider kept; negative: gave back. */
  readonly fee_minor: number;
  readonly payout_id: string | null;
  readonly occurred_at: string;
  /** Figures by which a sale is told again; `credits` with those of the bonus. */
  readonly credits: number;
  readonly bonus_credits: number;
  readonly discount_minor: number;
}

/** A sale that is told again, with facts that the books do not have: the body of `POST /v1/billing/credits`. */
export interface SaleToldAgain {
  readonly tenant_id: string;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly credits: number;
  readonly bonus_credits: number;
  readonly currency: string;
  readonly gross_amount_minor: number | null;
  readonly discount_minor: number;
  readonly provider_fee_minor?: number;
  readonly payout_id?: string;
}

/** One difference: what differs, in which row of the file, and for which payment of the books. */
export interface PayoutFinding {
  readonly finding: PayoutFindingKind;
  readonly line: PayoutLine | null;
  readonly payment: BookedPayment | null;
  /** What tells the books, where one call does. */
  readonly tell: SaleToldAgain | null;
}

/** Sums of one currency on both sides, minor units. */
export interface PayoutTotals {
  readonly currency: string;
  rows: number;
  file_amount_minor: bigint;
  file_fee_minor: bigint;
  payments: number;
  booked_amount_minor: bigint;
  booked_fee_minor: bigint;
}

/** How a comparison ended. */
export interface PayoutResult {
  /** Rows that agree with the books in everything that both know. */
  readonly matched: number;
  readonly totals: readonly PayoutTotals[];
}

/** What is compared. */
export interface PayoutSides {
  readonly lines: readonly PayoutLine[];
  /** Payments that the file names, or should have. */
  readonly payments: Iterable<BookedPayment>;
  /** Whether the file should have a payment that it does not name. */
  readonly isExpected: (payment: BookedPayment) => boolean;
}

/** A dispute that was booked as a refund is the same money. */
const SIDES: Readonly<Record<PayoutKind, string>> = {
  sale: 'sale',
  refund: 'back',
  dispute: 'back',
  reversal: 'again',
};

const nameKey = (kind: PayoutKind, name: string): string => `${SIDES[kind]} ${name}`;

type Difference = Exclude<PayoutFindingKind, `missing_${string}` | `doubled_${string}`>;

/** A fee without an amount in the same currency cannot be compared. */
const differencesOf = (line: PayoutLine, payment: BookedPayment): readonly Difference[] => {
  if (line.currency !== payment.currency) return ['other_currency'];
  const { fee_minor: fee, payout_id: payout } = line;
  const found: Difference[] = [];
  if (line.amount_minor !== payment.amount_minor) found.push('other_amount');
  if (fee !== null && fee !== payment.fee_minor)
    found.push(payment.fee_minor === 0 ? 'fee_not_booked' : 'other_fee');
  // Only a sale has its payout in the books.
  if (payout === null || line.kind !== 'sale' || payout === payment.payout_id) return found;
  return [...found, payment.payout_id === null ? 'payout_not_booked' : 'other_payout'];
};

/** Facts that only the file has. A fee is at most the money of its sale. */
const newsOf = (
  { fee_minor, payout_id }: PayoutLine,
  payment: BookedPayment,
  found: readonly Difference[],
): Pick<SaleToldAgain, 'provider_fee_minor' | 'payout_id'> => {
  const fee = found.includes('fee_not_booked') ? (fee_minor ?? 0) : 0;
  const isPayoutNew = payout_id !== null && found.includes('payout_not_booked');
  return {
    ...(fee > 0 && fee <= (payment.amount_minor ?? 0) && { provider_fee_minor: fee }),
    ...(isPayoutNew && { payout_id }),
  };
};

/** What tells a sale those facts; null: there are none, or it is no sale. */
const toldAgain = (
  line: PayoutLine,
  payment: BookedPayment,
  found: readonly Difference[],
): SaleToldAgain | null => {
  const news = newsOf(line, payment, found);
  if (payment.kind !== 'sale' || Object.keys(news).length === 0) return null;
  const { tenant_id, provider, provider_txn_id, bonus_credits, currency, discount_minor } = payment;
  return {
    tenant_id,
    provider,
    provider_txn_id,
    currency,
    bonus_credits,
    discount_minor,
    credits: payment.credits - bonus_credits,
    gross_amount_minor: payment.amount_minor,
    ...news,
  };
};

/** Sums by currency. */
const summing = () => {
  const totals = new Map<string, PayoutTotals>();
  const of = (currency: string): PayoutTotals => {
    const known = totals.get(currency);
    if (known !== undefined) return known;
    const none = { rows: 0, file_amount_minor: 0n, file_fee_minor: 0n };
    const fresh = { currency, ...none, payments: 0, booked_amount_minor: 0n, booked_fee_minor: 0n };
    totals.set(currency, fresh);
    return fresh;
  };
  return {
    addLine: ({ currency, amount_minor, fee_minor }: PayoutLine): void => {
      const sum = of(currency);
      sum.rows += 1;
      sum.file_amount_minor += BigInt(amount_minor);
      sum.file_fee_minor += BigInt(fee_minor ?? 0);
    },
    addPayment: ({ currency, amount_minor, fee_minor }: BookedPayment): void => {
      const sum = of(currency);
      sum.payments += 1;
      sum.booked_amount_minor += BigInt(amount_minor ?? 0);
      sum.booked_fee_minor += BigInt(fee_minor);
    },
    all: (): readonly PayoutTotals[] =>
      [...totals.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1)),
  };
};

type Steps<Result> = Generator<PayoutFinding | undefined, Result>;

/** What a comparison has seen. */
interface Seen {
  readonly byName: ReadonlyMap<string, BookedPayment>;
  readonly rowIds: Set<string>;
  /** Payments that a row of the file was. */
  readonly found: Set<BookedPayment>;
}

/** What one row of the file comes to; true: it agrees. */
function* lineSteps(line: PayoutLine, { byName, rowIds, found }: Seen): Steps<boolean> {
  const payments = new Set(line.names.flatMap((name) => byName.get(nameKey(line.kind, name)) ?? []));
  const [payment, ...more] = payments;
  const finding = (
    kind: PayoutFindingKind,
    of: BookedPayment | undefined,
    tell: SaleToldAgain | null = null,
  ) => ({ finding: kind, line, payment: of ?? null, tell });
  const isRepeated = rowIds.has(line.row_id) || (payment !== undefined && found.has(payment));
  rowIds.add(line.row_id);
  if (isRepeated) {
    yield finding('doubled_in_file', payment);
    return false;
  }
  if (payment === undefined) {
    yield finding('missing_in_books', undefined);
    return false;
  }
  found.add(payment);
  for (const other of more) {
    if (found.has(other)) continue;
    found.add(other);
    yield finding('doubled_in_books', other);
  }
  const differences = differencesOf(line, payment);
  const tell = toldAgain(line, payment, differences);
  for (const one of differences) yield finding(one, payment, one.endsWith('_not_booked') ? tell : null);
  return more.length === 0 && differences.every((one) => one === 'payout_not_booked');
}

/**
 * Compares a provider's file with the books, in steps of one row or payment each, so that whoever drives it can rest
 * between them: a step gives a finding, or nothing. Fees are compared where the file has them, payouts where it names
 * them.
 */
export function* comparePayout({ lines, payments, isExpected }: PayoutSides): Steps<PayoutResult> {
  const byName = new Map<string, BookedPayment>();
  for (const payment of payments) {
    byName.set(nameKey(payment.kind, payment.provider_txn_id), payment);
    yield undefined;
  }
  const seen: Seen = { byName, rowIds: new Set(), found: new Set() };
  const sums = summing();
  let matched = 0;
  for (const line of lines) {
    sums.addLine(line);
    if (yield* lineSteps(line, seen)) matched += 1;
    yield undefined;
  }
  for (const payment of byName.values()) {
    const isFound = seen.found.has(payment);
    if (isFound || isExpected(payment)) sums.addPayment(payment);
    yield isFound || !isExpected(payment)
      ? undefined
      : { finding: 'missing_in_file', line: null, payment, tell: null };
  }
  return { matched, totals: sums.all() };
}
