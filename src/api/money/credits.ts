import type { Clock } from '../../../domain/ports/log.ts';
import type { Queries, ReadYourWrites } from '../../queries/queries.ts';
import type { sellCredits as sell, refundCredits as refund } from '../../commands/sales.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
import { z } from 'zod';
import { type AdjustCredits, disputeStatus, plan } from '../../../domain/account/messages.ts';
import { adjustmentAt } from '../../../domain/account/state.ts';
import {
  creditsOut,
  currencyIn,
  decimalOut,
  instantOut,
  minorIn,
  minorOut,
  occurredIn,
  pageFacts,
  pageIn,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  tenantParams,
  checkKnown,
} from '../schemas/basics.ts';
import type { AccountKind } from '../../../domain/account/account.ts';
import { isStaleRate, rateAgeDays } from '../../../domain/fxRates.ts';
import { fingerprintOf } from '../../../domain/kernel/chain.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import type { Outcome } from '../../writer/decideBatch.ts';
import { KEPT_A_DAY, routesOver } from '../../server/routes.ts';
import { accountRejections, REFUND_REJECTIONS, SALE_REJECTIONS } from '../schemas/rejections.ts';

/** What these routes need. */
export interface CreditsDeps {
  readonly accounts: AccountWriter;
  readonly sellCredits: ReturnType<typeof sell>;
  readonly refundCredits: ReturnType<typeof refund>;
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'grantsOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly clock: Clock;
}

const { get, post } = routesOver<CreditsDeps>();

/** A name that a provider gives: without spaces around it, in one line. */
const nameOf = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'Must not contain control characters.');

export const provider = nameOf(100);
export const transaction = nameOf(255).meta({
  description: 'Together with the provider it identifies this payment, for ever and across tenants.',
});

/** One movement is at most 10^12 credits, so that sums are exact. */
const creditsAboveZero = z.int().min(1).max(MOVEMENT_MAX);

const percent = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,4})?$/, 'Percent as decimal text, with a point.')
  .refine((text) => Number(text) <= 100, { error: 'More than 100 percent.' });

const country = z.string().regex(/^[A-Z]{2}$/, 'Two letters of ISO 3166-1, as DE.');

interface SaleAmounts {
  readonly credits?: number | null | undefined;
  readonly gross_amount_minor?: number | null | undefined;
  readonly discount_minor?: number | null | undefined;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
}

type Flaw = readonly [member: string, message: string];

const ABOVE = 'More than the gross amount.';

/** Parts of a sale that are more than the whole. */
const excessesOf = ({ vat_amount_minor, provider_fee_minor }: SaleAmounts, gross: number): readonly Flaw[] =>
  Object.entries({ vat_amount_minor, provider_fee_minor })
    .filter(([, part]) => part > gross)
    .map(([member]) => [member, ABOVE]);

/** Members of a sale that do not go together, and why. */
const flawsOf = (sale: SaleAmounts): readonly Flaw[] => {
  const [gross, discount] = [sale.gross_amount_minor ?? null, sale.discount_minor ?? 0];
  const flaws: Flaw[] = [...excessesOf(sale, gross ?? 0)];
  if (gross === null && sale.credits == null)
    flaws.push(['credits', 'Either credits or gross_amount_minor is required.']);
  if (gross === 0 && discount === 0)
    flaws.push(['gross_amount_minor', 'Credits given for nothing are an adjustment.']);
  if (gross === null && discount > 0) flaws.push(['discount_minor', 'A discount needs gross_amount_minor.']);
  return flaws;
};

export const addCreditsRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    provider: provider.default('manual'),
    provider_txn_id: transaction,
    credits: creditsAboveZero.nullish().meta({
      description: 'As shown at checkout, without a bonus; left out: derived.',
    }),
    bonus_credits: z.int().min(0).max(MOVEMENT_MAX).nullish().meta({
      description: 'Given on top at no price: part of the sale, and of its refund.',
    }),
    currency: currencyIn.default('USD'),
    gross_amount_minor: minorIn.nullish(),
    discount_minor: minorIn.nullish().meta({
      description:
        'Taken off the list price, of the amount that the price is of: net, or gross where it includes tax.',
    }),
    discount_code: plainText(1, 100).nullish(),
    vat_amount_minor: minorIn.default(0),
    tax_rate: percent.nullish().meta({ description: 'VAT in percent, decimal text: `19`.' }),
    tax_country: country.nullish().meta({ description: 'Country whose VAT it is, ISO 3166-1.' }),
    provider_fee_minor: minorIn.default(0),
    payout_id: plainText(1, 255)
      .nullish()
      .meta({ description: "The provider's payout that has the payment." }),
    price_list_version: z.int().min(1).nullish(),
    occurred_at: occurredIn.nullish(),
    invoice_ref: plainText(1, 255).nullish(),
    note: plainText(1, 1000).nullish(),
  })
  .superRefine((sale, context) => {
    for (const [member, message] of flawsOf(sale))
      context.addIssue({ code: 'custom', path: [member], message });
  })
  .meta({ id: 'AddCreditsRequest' });

/** Further facts of a sale; null where nothing is known of them. */
const factsOut = {
  discount_code: z.string().nullable(),
  payout_id: z.string().nullable(),
  tax_rate: z.string().nullable(),
  tax_country: z.string().nullable(),
};

/** State of a dispute; null and 0 for what is none. */
export const disputeOut = {
  dispute_status: disputeStatus.nullable().meta({ description: 'Of a dispute; null: it is none.' }),
  dispute_fee_minor: minorOut.meta({ description: 'Fee that the provider kept for a dispute.' }),
};

/** How old the booked rate was. */
const rateAgeOut = {
  fx_rate_age_days: z.int().nullable().meta({
    description: 'Days between the day of the rate and that of the payment; null: it has no rate.',
  }),
  fx_rate_stale: z.boolean().meta({ description: 'Whether the rate was more than 7 days old.' }),
};

const addCreditsResponse = z
  .strictObject({
    grant_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut.meta({ description: 'All of the sale, its bonus among them.' }),
    bonus_credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    discount_minor: minorOut,
    vat_amount_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    provider_fee_minor: minorOut,
    ...factsOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    price_list_version: z.int(),
    fx_rate_to_usd: decimalOut.nullable(),
    fx_rate_date: z.iso.date().nullable(),
    ...rateAgeOut,
    balance_credits: creditsOut,
    credited: z.boolean().meta({ description: 'False for a retry: the answer is the original grant.' }),
    details_added: z.array(z.string()).meta({
      description: 'Members that this retry added, as a fee that was not known before.',
    }),
    occurred_at: instantOut,
    created_at: instantOut,
  })
  .meta({ id: 'AddCreditsResponse' });

const refundRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    provider: provider.default('manual'),
    provider_txn_id: transaction,
    original_provider_txn_id: transaction,
    original_provider: provider.nullish().meta({ description: 'Default: `provider`.' }),
    credits: z.int().min(0).max(MOVEMENT_MAX).nullish(),
    currency: currencyIn.nullish(),
    gross_amount_minor: minorIn.nullish(),
    vat_amount_minor: minorIn.nullish().meta({
      description:
        'Left out: in proportion to all that was refunded so far, so that the parts add up to the whole.',
    }),
    provider_fee_minor: minorIn
      .nullable()
      .default(0)
      .meta({ description: 'Fee that the provider gives back; null: in proportion to the money.' }),
    occurred_at: occurredIn.nullish(),
    reason: plainText(1, 500).nullish(),
  })
  .superRefine(({ credits, gross_amount_minor: gross, ...refund }, context) => {
    if ((credits ?? 0) === 0 && (gross ?? 0) === 0)
      context.addIssue({ code: 'custom', path: ['credits'], message: 'Credits or money are required.' });
    for (const member of ['vat_amount_minor', 'provider_fee_minor'] as const)
      if ((refund[member] ?? 0) > (gross ?? 0))
        context.addIssue({ code: 'custom', path: [member], message: 'More than the gross amount.' });
  })
  .meta({ id: 'RefundRequest' });

const refundResponse = z
  .strictObject({
    refund_id: z.string(),
    grant_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    balance_credits: creditsOut,
    refundable_credits: creditsOut,
    refundable_amount_minor: minorOut.nullable(),
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'RefundResponse' });

const adjustRequest = z
  .strictObject({
    credits: z
      .int()
      .min(-MOVEMENT_MAX)
      .max(MOVEMENT_MAX)
      .refine((credits) => credits !== 0, { error: 'Must not be 0.' })
      .meta({ description: 'Above 0 gives credits, below 0 claws them back.' }),
    reason: plainText(1, 500),
    allow_negative: z.boolean().default(false),
  })
  .meta({ id: 'AdminCreditAdjustRequest' });

const adjustResponse = z
  .strictObject({
    adjustment_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    reason: z.string(),
    balance_credits: creditsOut,
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'AdminCreditAdjustResponse' });

export const setPlanRequest = z
  .strictObject({ plan, reason: plainText(1, 500).nullish() })
  .meta({ id: 'AdminSetPlanRequest' });

export const setPlanResponse = z
  .strictObject({
    tenant_id: z.string(),
    plan,
    previous_plan: plan,
    changed: z.boolean(),
    set_at: instantOut,
  })
  .meta({ id: 'AdminSetPlanResponse' });

const grantItem = z
  .strictObject({
    grant_id: z.string(),
    kind: z.enum(['sale', 'refund', 'dispute', 'reversal']),
    credits: creditsOut.meta({
      description: 'All of the sale, its bonus among them; negative for a refund or dispute.',
    }),
    bonus_credits: creditsOut,
    original_grant_id: z.string().nullable(),
    refund_id: z.string().nullable().meta({ description: 'The refund that a reversal undoes.' }),
    refunded_credits: creditsOut,
    refunded_amount_minor: minorOut,
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    discount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    ...factsOut,
    price_list_version: z.int().nullable(),
    fx_rate_to_usd: decimalOut.nullable(),
    fx_rate_date: z.iso.date().nullable(),
    ...rateAgeOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    invoice_ref: z.string().nullable(),
    ...disputeOut,
    occurred_at: instantOut,
    created_at: instantOut,
  })
  .meta({ id: 'GrantItem' });

const grantHistory = pageOf(grantItem, 'GrantHistoryResponse');

/** What was adjusted now, or by the request that this one repeats. */
const adjustmentOf = (
  { events, state }: Extract<Outcome<AccountKind>, { kind: 'done' }>,
  idempotencyKey: string | null,
) => {
  const event = events.find(({ type }) => type === 'CreditsAdjusted');
  const adjustment =
    event?.type === 'CreditsAdjusted' ? event.data : adjustmentAt(state, idempotencyKey ?? '');
  if (adjustment === undefined) throw new Error('an adjustment that was done is not in its account');
  return { adjustment, credited: event !== undefined };
};

const REJECTIONS = accountRejections('insufficient_balance', 'idempotency_key_reused');

export const adjustCredits = post(
  '/v1/admin/tenants/{tenant_id}/adjust-credits',
  {
    summary: 'Give a tenant credits, or claw them back',
    description: 'Send an `Idempotency-Key`: a repeat, however late, answers with `credited: false`.',
    access: 'admin',
    tenant: 'path',
    idempotency: { ...KEPT_A_DAY, keyLengthMax: 80 },
    params: tenantParams,
    body: adjustRequest,
    reply: { status: 200, schema: adjustResponse },
    problems: ['insufficient_balance', 'idempotency_key_reused', 'busy'],
  },
  async ({ params: { tenant_id }, body, idempotency_key, meta, doneOr }, deps) => {
    const command: AdjustCredits = {
      type: 'AdjustCredits',
      meta,
      data: {
        tenant_id,
        adjustment_id: deps.clock.newId('adj'),
        idempotency_key,
        fingerprint: fingerprintOf({ kind: 'adjustment', ...body }),
        ...body,
        credits: asCredits(body.credits),
      },
    };
    const done = doneOr(await deps.accounts.execute(command), REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    const { adjustment, credited } = adjustmentOf(done, idempotency_key);
    const { adjustment_id, credits, reason, created_at } = adjustment;
    return {
      adjustment_id,
      tenant_id,
      credits,
      reason,
      credited,
      created_at,
      balance_credits: done.state.balance,
    };
  },
);

export const addCredits = post(
  '/v1/billing/credits',
  {
    summary: 'Record a sale of credits',
    description:
      'The amount is checked against the price list, never priced from a default: list price − discount. A retry ' +
      'with the same `provider` and `provider_txn_id` returns the original grant with `credited: false`. Fee, VAT, ' +
      'invoice, payout and tax that were not known before are added to it (`details_added`), and what contradicts ' +
      'it is 422 with `members`.',
    access: 'admin_or_seller',
    tenant: 'body',
    idempotency: KEPT_A_DAY,
    body: addCreditsRequest,
    reply: { status: 200, schema: addCreditsResponse },
    problems: [
      'currency_not_offered',
      'ambiguous_minor_units',
      'price_mismatch',
      'price_list_version_unknown',
      'idempotency_key_reused',
      'busy',
    ],
  },
  async ({ body, meta, doneOr }, deps) => {
    const sold = doneOr(await deps.sellCredits(body, meta), SALE_REJECTIONS);
    const { sale, balance, credited, details_added } = sold;
    deps.reads.note(body.tenant_id, sold.position);
    const { gross_amount_minor: gross, vat_amount_minor } = sale;
    return {
      grant_id: sale.grant_id,
      tenant_id: body.tenant_id,
      credits: sale.credits,
      bonus_credits: sale.bonus_credits ?? 0,
      currency: sale.currency,
      gross_amount_minor: gross,
      discount_minor: sale.discount_minor ?? 0,
      vat_amount_minor,
      net_amount_minor: gross === null ? null : gross - vat_amount_minor,
      provider_fee_minor: sale.provider_fee_minor,
      discount_code: sale.discount_code ?? null,
      payout_id: sale.payout_id ?? null,
      tax_rate: sale.tax_rate ?? null,
      tax_country: sale.tax_country ?? null,
      provider: sale.provider,
      provider_txn_id: sale.provider_txn_id,
      price_list_version: sale.price_list_version,
      fx_rate_to_usd: sale.fx_rate_to_usd,
      fx_rate_date: sale.fx_rate_date,
      fx_rate_age_days: rateAgeDays(sale.fx_rate_date, sale.occurred_at),
      fx_rate_stale: isStaleRate(sale.fx_rate_date, sale.occurred_at),
      balance_credits: balance,
      credited,
      details_added: [...details_added],
      occurred_at: sale.occurred_at,
      created_at: sale.created_at,
    };
  },
);

export const listGrants = get(
  '/v1/billing/grants/{tenant_id}',
  {
    summary: "A tenant's purchases and refunds, newest first",
    description:
      'What was bought, given back or disputed, and which of that was undone, each with its money.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    query: z.object(pagingQuery),
    reply: { status: 200, schema: grantHistory },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries }) => {
    const { tenant_id } = request.params;
    const found = await queries.grantsOfTenant({ ...pageIn(request.query), tenant_id });
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    return { items: [...found.items], ...pageFacts(request.query, found) };
  },
);

export const refundCredits = post(
  '/v1/billing/refunds',
  {
    summary: 'Record a refund of all or part of a sale',
    description:
      'A refund is a negative grant linked to its sale. Members that are left out are computed in proportion. A ' +
      'retry with the same `provider` and `provider_txn_id` returns the original refund with `credited: false`.',
    access: 'admin_or_seller',
    tenant: 'body',
    idempotency: KEPT_A_DAY,
    body: refundRequest,
    reply: { status: 200, schema: refundResponse },
    problems: [
      'original_grant_not_found',
      'refund_mismatch',
      'refund_exceeds_original',
      'idempotency_key_reused',
      'insufficient_balance',
      'busy',
    ],
  },
  async ({ body, meta, doneOr }, deps) => {
    const done = doneOr(await deps.refundCredits(body, meta), REFUND_REJECTIONS);
    const { refund, refundable_credits, refundable_amount_minor, balance, credited } = done;
    deps.reads.note(body.tenant_id, done.position);
    return {
      refund_id: refund.refund_id,
      grant_id: refund.grant_id,
      tenant_id: body.tenant_id,
      credits: refund.credits,
      currency: refund.currency,
      gross_amount_minor: refund.gross_amount_minor,
      vat_amount_minor: refund.vat_amount_minor,
      provider_fee_minor: refund.provider_fee_minor,
      provider: refund.provider,
      provider_txn_id: refund.provider_txn_id,
      balance_credits: balance,
      refundable_credits,
      refundable_amount_minor,
      credited,
      created_at: refund.created_at,
    };
  },
);
