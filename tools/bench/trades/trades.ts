import { type AccountCommand, paymentStream } from '../../../domain/account/messages.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import type { AnyEvent } from '../../../domain/catalogue.ts';
import { extract, FREE_PAGES, RATES } from './tradedWork.ts';
import type { Moment, Trade } from './trade.ts';

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
