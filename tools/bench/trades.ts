import { paymentStream, type AccountCommand } from '../../domain/account/messages.ts';
import type { AccountState } from '../../domain/account/state.ts';
import type { AnyEvent } from '../../domain/catalogue.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Random } from '../../engine/test/support/random.ts';
import type { BillingRate } from '../../domain/billingConfig.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';

/** Where trades go. */
export interface Trade {
  readonly tenants: number;
  readonly random: Random;
  readonly accounts: {
    readonly stateOf: (tenant: string) => AccountState;
    readonly execute: (command: AccountCommand) => Promise<void>;
  };
  readonly metaAt: (now: string, id: string) => CommandMeta;
  readonly publish: (stream: string, events: readonly AnyEvent[], meta: CommandMeta) => Promise<void>;
}

/** The number of a piece of business, and its time. */
interface Moment {
  readonly serial: number;
  readonly at: string;
}

const MODES = [
  { mode: 'fast', full_service: 10, byok: 2 },
  { mode: 'standard', full_service: 40, byok: 5 },
  { mode: 'robust', full_service: 80, byok: 10 },
] as const;

/** Pages that every tenant has free. */
const FREE_PAGES = 50;

/** What a page costs, by mode and billing type. */
const RATES: readonly BillingRate[] = MODES.flatMap(({ mode, ...prices }) =>
  (['full_service', 'byok'] as const).map((billing_type) => ({
    operation: 'extract',
    extraction_mode: mode,
    billing_type,
    credits_per_page: asCredits(prices[billing_type]),
  })),
);

const work = (random: Random, tenant: string, { serial, at }: Moment) => {
  const { mode, ...prices } = random.pick(MODES);
  const billing_type = random.next() < 0.2 ? ('byok' as const) : ('full_service' as const);
  return {
    tenant,
    at,
    mode,
    billing_type,
    credits_per_page: asCredits(prices[billing_type]),
    pages: random.between(1, 8),
    fails: random.next() < 0.04,
    task_id: random.pick(['default', 'invoices', 'contracts', 'receipts']),
    extraction_id: `ext_${serial}`,
    document_id: `doc_${serial}`,
    hold_id: `hold_${serial}`,
    id: String(serial),
  };
};

type Work = ReturnType<typeof work>;

const asked = ({ tenant, at, ...of }: Work): readonly [AnyEvent, AnyEvent] => {
  const scope = { tenant_id: tenant, project_id: 'default', task_id: of.task_id };
  const { document_id, extraction_id, mode, billing_type, pages, hold_id } = of;
  const file = { file_name: `${of.id}.pdf`, mime_type: 'application/pdf', bytes: 84_213, pages };
  const seen = { document_id, ...scope, ...file, sha256: of.id.padStart(64, '0') };
  const request = { extraction_id, ...scope, document_id, document_sha256: seen.sha256, mode, billing_type };
  const models = { model: 'local/default', ocr_model: null };
  return [
    { type: 'DocumentRegistered', data: { ...seen, source: 'extract', created_at: at } },
    {
      type: 'ExtractionRequested',
      data: { ...request, ...models, pages, hold_id, api_key_id: 'key_bench', requested_at: at },
    },
  ];
};

const hold = ({ tenant, mode, billing_type, ...of }: Work, meta: CommandMeta): AccountCommand => ({
  type: 'HoldCredits',
  data: {
    tenant_id: tenant,
    hold_id: of.hold_id,
    operation_id: of.extraction_id,
    operation: 'extract',
    category: 'extraction',
    extraction_mode: mode,
    billing_type,
    pages: of.pages,
    credits_per_page: of.credits_per_page,
    free_pages_allowance: FREE_PAGES,
    billing_config_version: 1,
    expires_at: of.at,
  },
  meta,
});

const settle = ({ tenant, ...of }: Work, meta: CommandMeta): AccountCommand => ({
  type: 'SettleHold',
  data: {
    tenant_id: tenant,
    usage_id: `use_${of.id}`,
    hold_id: of.hold_id,
    pages: of.pages,
    project_id: 'default',
    task_id: of.task_id,
    document_id: of.document_id,
    job_id: null,
    api_key_id: 'key_bench',
  },
  meta,
});

const called = ({ tenant, at, ...of }: Work): AnyEvent => ({
  type: 'LlmCostLogged',
  data: {
    cost_id: `llm_${of.id}`,
    tenant_id: tenant,
    entry_id: null,
    fingerprint: of.id,
    job_id: of.extraction_id,
    operation: 'extract',
    provider: 'openai',
    model_name: 'gpt-4o-mini',
    input_tokens: of.pages * 900,
    output_tokens: of.pages * 150,
    cached_input_tokens: 0,
    pages: of.pages,
    cost_usd: `0.${String(of.pages * 225).padStart(6, '0')}`,
    cost_source: 'computed',
    document_id: of.document_id,
    task_id: of.task_id,
    billing_type: of.billing_type,
    free_tier: false,
    occurred_at: at,
    created_at: at,
  },
});

/** A document that arrives, is held for, worked on, and settled or released. */
const extract = async (trade: Trade, tenant: string, moment: Moment): Promise<void> => {
  const { random, accounts, publish, metaAt } = trade;
  const of = work(random, tenant, moment);
  const meta = (step: string) => metaAt(of.at, `${step}-${of.id}`);
  const [seen, requested] = asked(of);
  const stream = `extraction-${of.extraction_id}`;
  await publish(`document-${of.document_id}`, [seen], meta('doc'));
  await accounts.execute(hold(of, meta('hold')));
  await publish(stream, [requested], meta('ask'));
  const { extraction_id, pages } = of;
  if (of.fails) {
    const data = { extraction_id, tenant_id: tenant, code: 'unreadable_file', failed_at: of.at };
    const released = { tenant_id: tenant, hold_id: of.hold_id, reason: 'failed' as const };
    await accounts.execute({ type: 'ReleaseHold', data: released, meta: meta('release') });
    await publish(stream, [{ type: 'ExtractionFailed', data }], meta('end'));
    return;
  }
  if (of.mode === 'robust') await publish(`llmCost-${tenant}`, [called(of)], meta('llm'));
  const usedBefore = accounts.stateOf(tenant).free_pages_used;
  await accounts.execute(settle(of, meta('settle')));
  const free_pages = accounts.stateOf(tenant).free_pages_used - usedBefore;
  const done = { extraction_id, tenant_id: tenant, status: 'success' as const, pages, free_pages };
  const completed = { ...done, duration_ms: 120, completed_at: of.at };
  await publish(stream, [{ type: 'ExtractionCompleted', data: completed }], meta('end'));
};

const CURRENCIES = [
  { currency: 'USD', price: '1.00', minor: 100, rate: '1' },
  { currency: 'EUR', price: '0.92', minor: 92, rate: '1.0842' },
  // 1.0842 USD ÷ 161.8 JPY, as sales are booked.
  { currency: 'JPY', price: '150', minor: 150, rate: '0.006700865265760198' },
] as const;

/** The one day whose rates are published: sales of later days are booked at them. */
const RATES_DAY = '2025-01-01';

const billingConfig = (at: string): AnyEvent => ({
  type: 'BillingConfigPublished',
  data: {
    version: 1,
    terms: {
      free_pages: FREE_PAGES,
      examples_export_fee_credits: asCredits(0),
      training: {
        base_credits: { light: asCredits(0), medium: asCredits(0), heavy: asCredits(0) },
        credits_per_example: asCredits(0),
        credits_per_metric_call: asCredits(0),
      },
      hold_ttl_seconds: 900,
    },
    rates: [...RATES],
    note: null,
    created_at: at,
    created_by: 'key_bench',
  },
});

/** The first price list, billing config and rates. */
export const publications = async ({ publish, metaAt }: Trade, at: string): Promise<void> => {
  const entries = CURRENCIES.map(({ currency, price }) => ({
    currency,
    price_per_1000_credits: price,
    tax_basis: 'exclusive' as const,
    minor_unit_digits: currency === 'JPY' ? 0 : 2,
  }));
  const published = { published_at: at, published_by: 'key_bench', note: null };
  const data = { version: 1, entries, ...published };
  await publish('priceList', [{ type: 'PriceListPublished', data }], metaAt(at, 'list'));
  await publish('billingConfig', [billingConfig(at)], metaAt(at, 'config'));
  const rates = { USD: '1.0842', JPY: '161.8' };
  const day = { date: RATES_DAY, base: 'EUR', rates, source: 'ecb', published_at: at };
  await publish('fxRates', [{ type: 'FxRatesPublished', data: day }], metaAt(at, 'fx'));
  const price = {
    price_id: 'ppr_bench',
    provider: 'openai',
    model_name: 'gpt-4o-mini',
    input_usd_per_million_tokens: '0.15',
    output_usd_per_million_tokens: '0.60',
    cached_input_usd_per_million_tokens: null,
    usd_per_page: null,
    effective_from: at,
    created_at: at,
  };
  await publish('providerPricing', [{ type: 'ProviderPricePublished', data: price }], metaAt(at, 'p'));
};

const sell = async ({ random, accounts, publish, metaAt }: Trade, tenant: string, { serial, at }: Moment) => {
  const { currency, price, minor, rate } = random.pick(CURRENCIES);
  const thousands = random.between(5, 80);
  const net = thousands * minor;
  const vat = random.between(0, 1) * Math.floor(net / 5);
  const identity = { provider: 'stripe', provider_txn_id: `pi_${serial}` };
  const sale = {
    tenant_id: tenant,
    grant_id: `grt_${serial}`,
    ...identity,
    credits: asCredits(thousands * 1000),
    currency,
    gross_amount_minor: net + vat,
    vat_amount_minor: vat,
    provider_fee_minor: Math.floor(net / 40),
    price_list_version: 1,
    price_per_1000_credits: price,
    tax_basis: 'exclusive' as const,
    fx_rate_to_usd: rate,
    fx_rate_date: currency === 'USD' ? at.slice(0, 10) : RATES_DAY,
    fingerprint: `sale ${serial}`,
    invoice_ref: null,
    note: null,
    occurred_at: at,
  };
  const meta = metaAt(at, `sale-${serial}`);
  const claim = { ...identity, tenant_id: tenant, kind: 'sale' as const, fingerprint: `sale ${serial}` };
  const claimed = { ...claim, intent: { type: 'GrantCredits' as const, data: sale, meta }, claimed_at: at };
  await publish(paymentStream(identity), [{ type: 'PaymentClaimed', data: claimed }], meta);
  await accounts.execute({ type: 'GrantCredits', data: sale, meta });
  if (random.next() < 0.06) await refund({ accounts, publish, metaAt }, sale, { serial, at });
};

const refund = async (
  { accounts, publish, metaAt }: Pick<Trade, 'accounts' | 'publish' | 'metaAt'>,
  sale: { readonly tenant_id: string; readonly provider_txn_id: string; readonly credits: number },
  { serial, at }: Moment,
): Promise<void> => {
  const identity = { provider: 'stripe', provider_txn_id: `re_${serial}` };
  const data = {
    tenant_id: sale.tenant_id,
    refund_id: `rfd_${serial}`,
    ...identity,
    original_provider: 'stripe',
    original_provider_txn_id: sale.provider_txn_id,
    credits: asCredits(Math.floor(sale.credits / 2)),
    currency: null,
    gross_amount_minor: null,
    vat_amount_minor: null,
    provider_fee_minor: 0,
    fingerprint: `refund ${serial}`,
    reason: 'half returned',
    occurred_at: at,
  };
  const meta = metaAt(at, `refund-${serial}`);
  const claim = { ...identity, tenant_id: sale.tenant_id, kind: 'refund' as const };
  const claimed = {
    ...claim,
    fingerprint: data.fingerprint,
    intent: { type: 'RefundCredits' as const, data, meta },
    claimed_at: at,
  };
  await publish(paymentStream(identity), [{ type: 'PaymentClaimed', data: claimed }], meta);
  await accounts.execute({ type: 'RefundCredits', data, meta });
};

const adjust = ({ metaAt }: Trade, tenant: string, { serial, at }: Moment): AccountCommand => ({
  type: 'AdjustCredits',
  data: {
    tenant_id: tenant,
    adjustment_id: `adj_${serial}`,
    idempotency_key: `adj-${serial}`,
    fingerprint: String(serial),
    credits: asCredits(500),
    reason: 'goodwill',
    allow_negative: false,
  },
  meta: metaAt(at, `adjust-${serial}`),
});

/** One piece of business of a random tenant: it buys when it has little, else it mostly extracts. */
export const tradeOnce = async (trade: Trade, moment: Moment): Promise<void> => {
  const { random, tenants, accounts } = trade;
  const tenant = `tenant-${random.between(1, tenants)}`;
  if (accounts.stateOf(tenant).balance < 2_000) return sell(trade, tenant, moment);
  if (random.next() < 0.005) return accounts.execute(adjust(trade, tenant, moment));
  return extract(trade, tenant, moment);
};
