import type {
  AddSaleDetails,
  AdjustCredits,
  BookSaleRate,
  ChargeCredits,
  Dispute,
  GrantCredits,
  HoldCredits,
  OpenAccount,
  ReceiveCredits,
  RefundCredits,
  ReleaseHold,
  ReverseRefund,
  TellDispute,
  SetPlan,
  SendCredits,
  SettleHold,
} from '../../../domain/account/messages.ts';
import type { ChangeBudget, RemoveBudget, SetBudget } from '../../../domain/account/budgetMessages.ts';
import { fingerprintOf } from '../../../domain/kernel/chain.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { asCredits, MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';

export const TENANT = 'acme';
export const NOW = '2026-01-31T08:00:00.000Z';
export const LATER = '2026-01-31T08:15:00.000Z';

export const meta: CommandMeta = {
  now: NOW,
  actor: { key_id: 'key_1', role: 'admin' },
  correlation_id: 'req-1',
  command_id: '2f1c6f0e-7a8b-4c8d-9e10-111213141516',
};

type Printed<Data> = Omit<Data, 'tenant_id' | 'fingerprint'>;
const printed = <Data extends object>(data: Data) => ({
  tenant_id: TENANT,
  ...data,
  fingerprint: fingerprintOf(data as unknown as Json),
});
const scope = {
  project_id: 'default',
  task_id: 'default',
  document_id: null,
  job_id: null,
  api_key_id: null,
};

export const open = (): OpenAccount => ({ type: 'OpenAccount', data: { tenant_id: TENANT }, meta });

export const setPlan = (plan: SetPlan['data']['plan']): SetPlan => ({
  type: 'SetPlan',
  data: { tenant_id: TENANT, plan, reason: null },
  meta,
});

/** 1,000 credits for 11.90 EUR with 1.90 VAT and 0.45 fee, unless said otherwise. */
export const sell = (over: Partial<Printed<GrantCredits['data']>> = {}): GrantCredits => ({
  type: 'GrantCredits',
  data: printed({
    grant_id: `grt_${over.provider ?? 'stripe'}_${over.provider_txn_id ?? 'pay_1'}`,
    provider: 'stripe',
    provider_txn_id: 'pay_1',
    credits: asCredits(1_000),
    currency: 'EUR',
    gross_amount_minor: 1_190,
    vat_amount_minor: 190,
    provider_fee_minor: 45,
    price_list_version: 1,
    price_per_1000_credits: '10',
    tax_basis: 'exclusive',
    fx_rate_to_usd: '1.1',
    fx_rate_date: '2026-01-30',
    invoice_ref: null,
    note: null,
    occurred_at: NOW,
    ...over,
  }),
  meta,
});

/** Facts of the sale that `sell` makes. */
export const tellMore = (
  details: AddSaleDetails['data']['details'],
  payment: Partial<Omit<AddSaleDetails['data'], 'details'>> = {},
): AddSaleDetails => ({
  type: 'AddSaleDetails',
  data: { tenant_id: TENANT, provider: 'stripe', provider_txn_id: 'pay_1', ...payment, details },
  meta,
});

/** A rate for the sale that `sell` makes. */
export const bookRate = (
  over: Partial<Omit<BookSaleRate['data'], 'tenant_id'>> &
    Pick<BookSaleRate['data'], 'fx_rate_to_usd' | 'fx_rate_date'>,
): BookSaleRate => ({
  type: 'BookSaleRate',
  data: { tenant_id: TENANT, grant_id: 'grt_stripe_pay_1', reason: null, ...over },
  meta,
});

/** As the service's own, an ID is never that of another payment: one transaction may be there with two providers. */
const idOf = (kind: 'rfd' | 'dsp', { provider = 'stripe', txn }: { provider?: string; txn: string }) =>
  provider.toLowerCase() === 'stripe' ? `${kind}_${txn}` : `${kind}_${provider}_${txn}`;

/** Names the sale and itself, and leaves all amounts to be derived: say one of them. */
export const refund = (over: Partial<Printed<RefundCredits['data']>> = {}): RefundCredits => ({
  type: 'RefundCredits',
  data: printed({
    refund_id: idOf('rfd', { ...over, txn: over.provider_txn_id ?? 'ref_1' }),
    provider: 'stripe',
    provider_txn_id: 'ref_1',
    original_provider: 'stripe',
    original_provider_txn_id: 'pay_1',
    credits: null,
    currency: null,
    gross_amount_minor: null,
    vat_amount_minor: null,
    provider_fee_minor: 0,
    reason: null,
    occurred_at: NOW,
    ...over,
  }),
  meta,
});

/** Names the refund and itself; without amounts it is all that is left of it. */
export const reverse = (over: Partial<Printed<ReverseRefund['data']>> = {}): ReverseRefund => ({
  type: 'ReverseRefund',
  data: printed({
    reversal_id: `rev_${over.provider_txn_id ?? 'won_1'}`,
    refund_id: `rfd_${over.refund_provider_txn_id ?? 'ref_1'}`,
    refund_provider_txn_id: 'ref_1',
    provider: 'stripe',
    provider_txn_id: 'won_1',
    credits: null,
    gross_amount_minor: null,
    reason: null,
    occurred_at: NOW,
    ...over,
  }),
  meta,
});

/** A dispute of the sale that `sell` makes: a refund of what is there. */
export const dispute = (
  told: Partial<Dispute> = {},
  over: Partial<Printed<RefundCredits['data']>> = {},
): RefundCredits =>
  refund({
    provider_txn_id: 'dp_1',
    refund_id: idOf('dsp', { ...over, txn: over.provider_txn_id ?? 'dp_1' }),
    ...over,
    dispute: { status: 'opened', fee_minor: 0, ...told },
  });

/** News of that dispute. */
export const tellDispute = (
  status: Dispute['status'],
  over: Partial<Omit<TellDispute['data'], 'status'>> = {},
): TellDispute => ({
  type: 'TellDispute',
  data: {
    tenant_id: TENANT,
    provider: 'stripe',
    provider_txn_id: 'dp_1',
    gross_amount_minor: null,
    fee_minor: 0,
    reversal_id: 'rev_dp_1',
    ...over,
    status,
  },
  meta,
});

/** Credits for the tenant `other`, under a key. */
export const send = (
  credits: number | null,
  over: Partial<Printed<SendCredits['data']>> = {},
): SendCredits => ({
  type: 'SendCredits',
  data: printed({
    transfer_id: `trf_${over.idempotency_key ?? 'k'}`,
    to_tenant_id: 'other',
    reason: 'merged',
    idempotency_key: 'send_1',
    credits: credits === null ? null : asCredits(credits),
    ...over,
  }),
  meta,
});

/** Credits from the tenant `other`. */
export const receive = (
  credits: number,
  transfer_id = 'trf_1',
  over: Partial<ReceiveCredits['data']> = {},
): ReceiveCredits => ({
  type: 'ReceiveCredits',
  data: {
    tenant_id: TENANT,
    transfer_id,
    from_tenant_id: 'other',
    credits: asCredits(credits),
    left_at: meta.now,
    ...over,
  },
  meta,
});

export const adjust = (
  credits: number,
  over: Partial<Printed<AdjustCredits['data']>> = {},
): AdjustCredits => ({
  type: 'AdjustCredits',
  data: printed({
    adjustment_id: 'adj_1',
    idempotency_key: null,
    credits: asCredits(credits),
    reason: 'goodwill',
    allow_negative: false,
    ...over,
  }),
  meta,
});

/** As many credits as one account can have, by movements as large as may be. */
export const richest = (): readonly AdjustCredits[] => [
  ...Array.from({ length: Math.floor(Number.MAX_SAFE_INTEGER / MOVEMENT_MAX) }, () => adjust(MOVEMENT_MAX)),
  adjust(Number.MAX_SAFE_INTEGER % MOVEMENT_MAX),
];

/** Standard extraction of `pages` pages at 40 credits, 50 free pages in all. */
export const hold = (pages: number, over: Partial<Omit<HoldCredits['data'], 'pages'>> = {}): HoldCredits => ({
  type: 'HoldCredits',
  data: {
    tenant_id: TENANT,
    hold_id: 'hold_1',
    operation_id: over.hold_id === undefined ? 'ext_1' : `ext_${over.hold_id}`,
    operation: 'extract',
    category: 'extraction',
    extraction_mode: 'standard',
    billing_type: 'full_service',
    pages,
    credits_per_page: asCredits(40),
    free_pages_allowance: 50,
    billing_config_version: 1,
    expires_at: LATER,
    ...over,
  },
  meta,
});

export const settle = (pages: number, over: Partial<Omit<SettleHold['data'], 'pages'>> = {}): SettleHold => ({
  type: 'SettleHold',
  data: {
    tenant_id: TENANT,
    usage_id: `use_${over.hold_id ?? 'hold_1'}`,
    hold_id: 'hold_1',
    pages,
    ...scope,
    ...over,
  },
  meta,
});

export const release = (over: Partial<ReleaseHold['data']> = {}): ReleaseHold => ({
  type: 'ReleaseHold',
  data: { tenant_id: TENANT, hold_id: 'hold_1', reason: 'failed', ...over },
  meta,
});

export const charge = (
  credits: number,
  over: Partial<Printed<ChargeCredits['data']>> = {},
): ChargeCredits => ({
  type: 'ChargeCredits',
  data: printed({
    usage_id: `use_${over.idempotency_key ?? 'key-1'}`,
    idempotency_key: 'key-1',
    credits: asCredits(credits),
    operation: 'examples_export',
    category: 'training',
    billing_type: 'full_service',
    billing_config_version: 1,
    paid_plan_required: true,
    ...scope,
    ...over,
  }),
  meta,
});

/** 100 credits a day of UTC for the whole tenant, by an operator, unless said otherwise. */
export const budget = (over: Partial<SetBudget['data']> = {}): SetBudget => ({
  type: 'SetBudget',
  data: {
    tenant_id: TENANT,
    by_key_id: null,
    budget_id: 'bgt_1',
    name: 'Claims',
    scope: {},
    period: 'day',
    time_zone: 'UTC',
    limit_credits: asCredits(100),
    on_reached: 'refuse',
    alert_at: [0.8, 1],
    ...over,
  },
  meta,
});

export const changeBudget = (over: Partial<ChangeBudget['data']> = {}): ChangeBudget => ({
  type: 'ChangeBudget',
  data: { tenant_id: TENANT, by_key_id: null, budget_id: 'bgt_1', ...over },
  meta,
});

export const removeBudget = (over: Partial<RemoveBudget['data']> = {}): RemoveBudget => ({
  type: 'RemoveBudget',
  data: { tenant_id: TENANT, by_key_id: null, budget_id: 'bgt_1', ...over },
  meta,
});

/** The command at another time. */
export const at = <Of extends { readonly meta: CommandMeta }>(now: string, command: Of): Of => ({
  ...command,
  meta: { ...command.meta, now },
});
