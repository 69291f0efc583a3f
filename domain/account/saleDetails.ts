import { accept, type Decision, reject } from '../kernel/decider.ts';
import {
  type AccountEvent,
  type AccountRejection,
  type AddSaleDetails,
  type BookSaleRate,
  paymentKey,
  type SaleDetails,
} from './messages.ts';
import { type AccountState, paymentAt, saleOfGrant } from './state.ts';
import { isSameDecimal } from '../kernel/amounts.ts';

/** The members that identify a sale, and what one that is left out comes to. */
const FIGURES = {
  credits: null,
  bonus_credits: 0,
  currency: null,
  gross_amount_minor: null,
  discount_minor: 0,
} as const;

type Figure = keyof typeof FIGURES;

/**
 * Facts of a sale that may become known after it. The reference of an invoice is one too; it lies beside the log, so
 * that only who reads the texts can compare it.
 */
const FACTS = [
  'vat_amount_minor',
  'provider_fee_minor',
  'discount_code',
  'payout_id',
  'tax_rate',
  'tax_country',
] as const satisfies readonly (keyof SaleDetails)[];

/** A sale as somebody tells of it. */
type Told = { readonly [Member in Figure | (typeof FACTS)[number]]?: unknown };

const figureOf = (sale: Told, figure: Figure): unknown => sale[figure] ?? FIGURES[figure];

/** What was left out, null and 0 say nothing. */
const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== 0;

const contradicts = (known: unknown, told: unknown): boolean =>
  isSaid(known) && isSaid(told) && known !== told;

/** Members in which two sales under one identity are not one; facts that only one of them says do not contradict. */
export const contradictionsOf = (one: Told, other: Told): readonly string[] => [
  ...(Object.keys(FIGURES) as Figure[]).filter((name) => figureOf(one, name) !== figureOf(other, name)),
  ...FACTS.filter((name) => contradicts(one[name], other[name])),
];

/**
 * Whether two sales under one identity are one: the same credits, currency and money, and no fact of one that
 * contradicts the other. Another note or time is the same sale told again.
 */
export const isSameSale = (one: Told, other: Told): boolean =>
  one.credits !== undefined && contradictionsOf(one, other).length === 0;

/** The facts that a sale does not say yet. */
const newsIn = (sale: SaleDetails, told: SaleDetails): SaleDetails =>
  Object.fromEntries(
    Object.entries(told).filter(
      ([name, value]) => isSaid(value) && !isSaid(sale[name as keyof SaleDetails] ?? null),
    ),
  );

/** Further facts of a sale, once known: its fee, its invoice, its payout, its VAT; no more of them than its money. */
export const addSaleDetails = (
  state: AccountState,
  { data, meta }: AddSaleDetails,
): Decision<AccountEvent, AccountRejection> => {
  const sale = paymentAt(state, paymentKey(data))?.sale?.sale;
  if (sale === undefined) return reject({ code: 'original_grant_not_found' });
  const told = data.details;
  const most = sale.gross_amount_minor ?? 0;
  const members = [...FACTS, 'invoice_ref' as const].filter((name) => {
    const value = told[name];
    return contradicts(sale[name], value) || (typeof value === 'number' && value > most);
  });
  if (members.length > 0) return reject({ code: 'idempotency_key_reused', members });
  const known = { ...sale, invoice_ref: sale.invoice_ref ?? undefined };
  const details = newsIn(known, told);
  if (Object.keys(details).length === 0) return accept();
  return accept({
    type: 'SaleDetailsAdded',
    data: { grant_id: sale.grant_id, details, created_at: meta.now },
  });
};

/**
 * A rate for a sale that was booked without one; with a reason also in place of another one. A sale without money needs
 * none, and one that has this rate already keeps it.
 */
export const bookSaleRate = (
  state: AccountState,
  { data, meta }: BookSaleRate,
): Decision<AccountEvent, AccountRejection> => {
  const sale = saleOfGrant(state, data.grant_id)?.sale;
  if (sale === undefined) return reject({ code: 'original_grant_not_found' });
  const { fx_rate_to_usd: rate, fx_rate_date: date } = sale;
  const isBooked = rate !== null && (data.reason === null || isSameDecimal(rate, data.fx_rate_to_usd));
  if (sale.gross_amount_minor === null || isBooked) return accept();
  const { tenant_id: _, ...booked } = data;
  return accept({
    type: 'SaleRateBooked',
    data: {
      ...booked,
      previous_rate: rate,
      previous_rate_date: date,
      price_per_1000_credits: sale.price_per_1000_credits,
      sale_occurred_at: sale.occurred_at,
      created_at: meta.now,
    },
  });
};
