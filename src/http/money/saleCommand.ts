import { remainingOf } from '../../../domain/account/payments.ts';
import type { GrantCredits, RefundCredits } from '../../../domain/account/commands.ts';
import type { AccountEventOf } from '../../../domain/account/events.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { fxRateOn } from '../../../domain/fxRates/rates.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import { fingerprintOf } from '../../../domain/kernel/fingerprint.ts';
import { asCredits } from '../../../domain/kernel/units.ts';
import { paymentKey } from '../../../domain/payment/identity.ts';
import { isSameSale } from '../../../domain/payment/sameSale.ts';
import { priceSale } from '../../../domain/priceList/sale.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { priceProblem } from '../doneOrProblem.ts';
import { invalid, problem } from '../problems.ts';
import type { AddCreditsRequest, RefundRequest } from '../wire/money.ts';

/** Clocks and days of the world differ by so much. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

/** 422 for a time that no clock and no day of the world explain. */
export const checkNotAhead = (at: string, now: string, member = 'occurred_at'): void => {
  if (Date.parse(at) - Date.parse(now) > AHEAD_MAX_MS)
    throw invalid({ loc: ['body', member], msg: 'Lies more than a day in the future.', type: 'value_error' });
};

/** Members that were not sent and those that were null are one payload. */
const digestOf = (
  kind: string,
  body: Readonly<Record<string, string | number | boolean | null | undefined>>,
) =>
  fingerprintOf({
    kind,
    ...Object.fromEntries(
      Object.entries(body).flatMap(([key, value]) => (value == null ? [] : [[key, value]])),
    ),
  });

/** Members that were left out are null from here on. */
const withNulls = (body: AddCreditsRequest, now: string) => ({
  ...body,
  credits: body.credits ?? null,
  gross_amount_minor: body.gross_amount_minor ?? null,
  price_list_version: body.price_list_version ?? null,
  occurred_at: body.occurred_at ?? now,
  invoice_ref: body.invoice_ref ?? null,
  note: body.note ?? null,
});

/** USD per unit of the currency, as booked on the day of the sale; null when none is known. */
const bookedRate = async (
  { reference }: Pick<ApiDeps, 'reference'>,
  currency: string,
  occurredAt: string,
) => {
  const pair = { base: currency, quote: 'USD' };
  const fx = fxRateOn(await reference.fxRates(), pair, occurredAt.slice(0, 10));
  return { fx_rate_to_usd: fx?.rate ?? null, fx_rate_date: fx?.rate_date ?? null };
};

/**
 * The sale that was claimed under this identity, asked for again: prices may have changed since then, and
 * a payment that was taken at the old ones stays taken. undefined: the identity is free.
 */
const repeatOf = async (
  { claimantOf }: Pick<ApiDeps, 'claimantOf'>,
  body: AddCreditsRequest,
  meta: CommandMeta,
): Promise<GrantCredits | 'another' | undefined> => {
  const claim = await claimantOf(body);
  if (claim === undefined) return undefined;
  if (claim.kind !== 'sale') return 'another';
  const sameBody = claim.fingerprint === digestOf('sale', body);
  const { intent } = claim;
  if (intent.type !== 'GrantCredits') return sameBody ? undefined : 'another';
  // credits that were left out follow from the money
  const asked = {
    ...body,
    gross_amount_minor: body.gross_amount_minor ?? null,
    credits: body.credits ?? intent.data.credits,
  };
  const isRepeat = claim.tenant_id === body.tenant_id && (sameBody || isSameSale(intent.data, asked));
  return isRepeat ? { type: intent.type, data: intent.data, meta } : 'another';
};

/**
 * A sale as the account is asked for it: priced by the list, with the day's rate booked. What the list
 * refuses is a repeat all the same when its payment was taken before.
 */
export const saleCommand = async (
  deps: Pick<ApiDeps, 'reference' | 'clock' | 'claimantOf'>,
  body: AddCreditsRequest,
  meta: CommandMeta,
): Promise<GrantCredits> => {
  const sale = withNulls(body, meta.now);
  checkNotAhead(sale.occurred_at, meta.now);
  const pricing = priceSale(await deps.reference.priceLists(), sale);
  // credits that the list gives today may be others than those of the first time
  if (pricing.kind === 'rejected' || sale.credits === null) {
    const repeat = await repeatOf(deps, body, meta);
    if (repeat !== undefined && repeat !== 'another') return repeat;
    if (pricing.kind === 'rejected')
      throw repeat === undefined
        ? priceProblem(pricing.rejection)
        : problem('idempotency_key_reused', 'This payment was recorded with another payload.');
  }
  const { tenant_id, provider, provider_txn_id, currency, occurred_at } = sale;
  return {
    type: 'GrantCredits',
    meta,
    data: {
      tenant_id,
      grant_id: deps.clock.newId('grt'),
      provider,
      provider_txn_id,
      credits: pricing.credits,
      currency,
      gross_amount_minor: sale.gross_amount_minor,
      vat_amount_minor: sale.vat_amount_minor,
      provider_fee_minor: sale.provider_fee_minor,
      ...pricing.priced,
      ...(await bookedRate(deps, currency, occurred_at)),
      fingerprint: digestOf('sale', body),
      invoice_ref: sale.invoice_ref,
      note: sale.note,
      occurred_at,
    },
  };
};

/** The sale that the account has under this identity: this one, or the one that it repeats. */
export const saleIn = (
  { sales }: AccountState,
  { data }: GrantCredits,
): AccountEventOf<'CreditsGranted'>['data'] => {
  const sold = sales.get(paymentKey(data));
  if (sold === undefined) throw new Error('a sale that was done is not in its account');
  return sold.sale;
};

/** A refund as the account is asked for it; what was left out is derived there. */
export const refundCommand = (
  { clock }: Pick<ApiDeps, 'clock'>,
  body: RefundRequest,
  meta: CommandMeta,
): RefundCredits => {
  const occurred_at = body.occurred_at ?? meta.now;
  checkNotAhead(occurred_at, meta.now);
  return {
    type: 'RefundCredits',
    meta,
    data: {
      tenant_id: body.tenant_id,
      refund_id: clock.newId('rfd'),
      provider: body.provider,
      provider_txn_id: body.provider_txn_id,
      original_provider: body.original_provider ?? body.provider,
      original_provider_txn_id: body.original_provider_txn_id,
      credits: typeof body.credits === 'number' ? asCredits(body.credits) : null,
      currency: body.currency ?? null,
      gross_amount_minor: body.gross_amount_minor ?? null,
      vat_amount_minor: body.vat_amount_minor ?? null,
      provider_fee_minor: body.provider_fee_minor,
      fingerprint: digestOf('refund', body),
      reason: body.reason ?? null,
      occurred_at,
    },
  };
};

/** The refund under this identity, and what is left of its sale. */
export const refundIn = ({ refunds, sales }: AccountState, { data }: RefundCredits) => {
  const refund = refunds.get(paymentKey(data));
  const sold = sales.find(({ sale }) => sale.grant_id === refund?.grant_id);
  if (refund === undefined || sold === undefined)
    throw new Error('a refund that was done is not in its account');
  const { credits, gross } = remainingOf(sold);
  return {
    refund,
    refundable_credits: credits,
    refundable_amount_minor: sold.sale.gross_amount_minor === null ? null : gross,
  };
};
