import { keptAt } from '../../domain/kernel/history.ts';
import type { AccountCommand, ReceiveCredits } from '../../domain/account/messages.ts';
import { account } from '../../domain/account/account.ts';
import { NEW_ACCOUNT, type AccountState } from '../../domain/account/state.ts';
import { fxRateOn, fxRates, type FxRatesState } from '../../domain/fxRates.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { metaOf } from '../support/money/accountCommands.ts';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2025-01-01T00:00:00.000Z');
const TENANTS = ['acme', 'globex', 'initech', 'umbrella'];
const scope = {
  project_id: 'default',
  task_id: 'default',
  document_id: null,
  job_id: null,
  api_key_id: null,
};

/** Rates of every working day of the year, each a little off the day before. */
const ratesOfTheYear = (random: Random): FxRatesState => {
  let state = fxRates.initialState;
  let [usd, jpy] = [1.08, 160];
  for (let day = -5; day < 365; day += 1) {
    const date = new Date(START + day * DAY_MS);
    if (date.getUTCDay() === 0 || date.getUTCDay() === 6) continue;
    usd *= 1 + (random.next() - 0.5) * 0.01;
    jpy *= 1 + (random.next() - 0.5) * 0.01;
    const rates = { USD: usd.toFixed(4), JPY: jpy.toFixed(2) };
    const data = { date: date.toISOString().slice(0, 10), base: 'EUR', rates, source: 'ecb' };
    const decision = fxRates.decide(state, { type: 'PublishFxRates', data, meta: metaOf() });
    if (decision.kind === 'accepted') state = decision.events.reduce(fxRates.evolve, state);
  }
  return state;
};

/** Prices of 1,000 credits; they change with every quarter. */
const priceOf = (currency: string, at: string): string => {
  const quarter = Math.floor((Number(at.slice(5, 7)) - 1) / 3);
  if (currency === 'JPY') return ['150', '148', '155.5', '152'][quarter] ?? '150';
  if (currency === 'EUR') return ['0.92', '0.95', '0.905', '0.93'][quarter] ?? '0.92';
  return ['1.00', '1.02', '0.98', '1.05'][quarter] ?? '1.00';
};

interface Refunded {
  readonly tenant: string;
  readonly txn: string;
}

interface Sold {
  readonly tenant: string;
  readonly txn: string;
}

/** What a random year is made of; every event is one that the account's rules allowed. */
const traders = (random: Random, rates: FxRatesState) => {
  const states = new Map<string, AccountState>();
  const events: ProjectedEvent[] = [];
  const sold: Sold[] = [];
  const refunded: Refunded[] = [];
  const disputed: Refunded[] = [];
  const onTheWay: ReceiveCredits['data'][] = [];

  const execute = (tenant: string, command: AccountCommand): boolean => {
    const state = states.get(tenant) ?? NEW_ACCOUNT;
    const decision = account.decide(state, command);
    if (decision.kind === 'rejected') return false;
    states.set(tenant, decision.events.reduce(account.evolve, state));
    for (const event of decision.events)
      events.push({
        ...event,
        id: '',
        stream: `account-${tenant}`,
        revision: 0n,
        metadata: {},
        position: BigInt(events.length + 1),
      });
    return true;
  };

  const sell = (tenant: string, txn: string, at: string): void => {
    const currency = random.pick(['USD', 'EUR', 'JPY']);
    const price = priceOf(currency, at);
    const credits = random.between(500, 40_000);
    const digits = currency === 'JPY' ? 1 : 100;
    const net = Math.round((credits / 1000) * Number(price) * digits);
    const vat = random.next() < 0.6 ? Math.round(net * 0.19) : 0;
    const kind = random.next();
    const fx = fxRateOn(rates, { base: currency, quote: 'USD' }, at.slice(0, 10));
    const done = execute(tenant, {
      type: 'GrantCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: tenant,
        grant_id: `grt_${txn}`,
        provider: 'stripe',
        provider_txn_id: txn,
        credits: asCredits(credits),
        currency,
        vat_amount_minor: kind < 0.05 ? 0 : vat,
        gross_amount_minor: kind < 0.05 ? null : net + vat,
        provider_fee_minor: kind < 0.05 ? 0 : Math.floor(net * 0.029),
        price_list_version: 1,
        price_per_1000_credits: price,
        tax_basis: 'exclusive',
        fx_rate_to_usd: kind > 0.96 ? null : (fx?.rate ?? null),
        fx_rate_date: null,
        fingerprint: txn,
        invoice_ref: null,
        note: null,
        occurred_at: at,
      },
    });
    if (done) sold.push({ tenant, txn });
  };

  /** Money only, credits only, part of the money, or all of it with its fee. */
  const refundOf = (sale: Sold) => {
    const state = states.get(sale.tenant) ?? NEW_ACCOUNT;
    const known = keptAt(state.sales, `stripe\u001f${sale.txn}`)?.sale;
    const [gross, credits, fee] = [
      known?.gross_amount_minor ?? 0,
      known?.credits ?? 0,
      known?.provider_fee_minor ?? 0,
    ];
    const part = (of: number) => Math.floor(of * random.next());
    const forms = [
      { credits: asCredits(0), gross_amount_minor: part(gross), provider_fee_minor: 0 },
      { credits: asCredits(part(credits)), gross_amount_minor: null, provider_fee_minor: 0 },
      { credits: null, gross_amount_minor: part(gross), provider_fee_minor: 0 },
      { credits: null, gross_amount_minor: gross, provider_fee_minor: fee },
    ];
    return random.pick(forms);
  };

  const refund = (txn: string, at: string): void => {
    if (sold.length === 0) return;
    const sale = random.pick(sold);
    const done = execute(sale.tenant, {
      type: 'RefundCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: sale.tenant,
        refund_id: `rfd_${txn}`,
        provider: 'stripe',
        provider_txn_id: txn,
        original_provider: 'stripe',
        original_provider_txn_id: sale.txn,
        currency: null,
        ...refundOf(sale),
        vat_amount_minor: null,
        fingerprint: txn,
        reason: null,
        occurred_at: at,
      },
    });
    if (done) refunded.push({ tenant: sale.tenant, txn });
  };

  /** All that is left of a refund, part of its money, or credits alone. */
  const reverse = (txn: string, at: string): void => {
    if (refunded.length === 0) return;
    const refund_ = random.pick(refunded);
    const state = states.get(refund_.tenant) ?? NEW_ACCOUNT;
    const known = keptAt(state.refunds, `stripe\u001f${refund_.txn}`);
    const part = (of: number) => Math.floor(of * random.next());
    const forms = [
      { credits: null, gross_amount_minor: null },
      { credits: null, gross_amount_minor: part(known?.gross_amount_minor ?? 0) },
      { credits: asCredits(part(known?.credits ?? 0)), gross_amount_minor: null },
    ];
    execute(refund_.tenant, {
      type: 'ReverseRefund',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: refund_.tenant,
        reversal_id: `rev_${txn}`,
        refund_id: `rfd_${refund_.txn}`,
        refund_provider_txn_id: refund_.txn,
        provider: 'stripe',
        provider_txn_id: txn,
        ...random.pick(forms),
        fingerprint: txn,
        reason: null,
        occurred_at: at,
      },
    });
  };

  /** News of a dispute: its end, or its fee. */
  const tellDispute = ({ tenant, txn }: Refunded, at: string): void =>
    void execute(tenant, {
      type: 'TellDispute',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: tenant,
        provider: 'stripe',
        provider_txn_id: txn,
        reversal_id: `rev_${txn}_${at}`,
        status: random.pick(['opened', 'won', 'lost']),
        gross_amount_minor: null,
        fee_minor: random.pick([0, 1_500]),
      },
    });

  /** A sale is disputed, or there is news of one that was. */
  const dispute = (txn: string, at: string): void => {
    if (sold.length === 0) return;
    if (disputed.length > 0 && random.next() < 0.5) {
      tellDispute(random.pick(disputed), at);
      return;
    }
    const { tenant, txn: original } = random.pick(sold);
    const done = execute(tenant, {
      type: 'RefundCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: tenant,
        refund_id: `dsp_${txn}`,
        provider: 'stripe',
        provider_txn_id: txn,
        original_provider: 'stripe',
        original_provider_txn_id: original,
        currency: null,
        credits: null,
        gross_amount_minor: null,
        vat_amount_minor: null,
        provider_fee_minor: 0,
        dispute: { status: 'opened', fee_minor: random.pick([0, 2_000]) },
        fingerprint: txn,
        reason: null,
        occurred_at: at,
      },
    });
    if (done) disputed.push({ tenant, txn });
  };

  /** Credits go to another tenant, the oldest or those of a sale, and arrive at once or later. */
  const transfer = (from: string, id: string, at: string): void => {
    const to = random.pick(TENANTS.filter((one) => one !== from));
    const transfer_id = `trf_${id}`;
    const some = random.next() < 0.3 ? null : asCredits(random.between(1, 8_000));
    const of = random.pick([undefined, ...sold])?.txn;
    const isSent = execute(from, {
      type: 'SendCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: from,
        transfer_id,
        to_tenant_id: to,
        credits: some,
        idempotency_key: id,
        fingerprint: id,
        reason: 'year',
        ...(of === undefined ? {} : { of_grant: `grt_${of}` }),
      },
    });
    const left = events.at(-1);
    if (isSent && left?.type === 'CreditsTransferredOut')
      onTheWay.push({
        tenant_id: to,
        transfer_id,
        from_tenant_id: from,
        credits: left.data.credits,
        left_at: left.data.created_at,
      });
    for (const data of onTheWay.splice(0, random.between(0, onTheWay.length)))
      execute(data.tenant_id, { type: 'ReceiveCredits', meta: { ...metaOf(), now: at }, data });
  };

  const adjust = (tenant: string, id: string, at: string): void => {
    const credits = random.next() < 0.5 ? random.between(1, 3_000) : -random.between(1, 6_000);
    execute(tenant, {
      type: 'AdjustCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: tenant,
        adjustment_id: `adj_${id}`,
        idempotency_key: id,
        fingerprint: id,
        credits: asCredits(credits),
        reason: 'year',
        allow_negative: random.next() < 0.2,
      },
    });
  };

  const burn = (tenant: string, id: string, at: string): void => {
    execute(tenant, {
      type: 'ChargeCredits',
      meta: { ...metaOf(), now: at },
      data: {
        tenant_id: tenant,
        usage_id: `use_${id}`,
        idempotency_key: id,
        fingerprint: id,
        credits: asCredits(random.between(1, 2_500)),
        operation: 'extract',
        category: 'extraction',
        billing_type: 'full_service',
        billing_config_version: 1,
        paid_plan_required: false,
        ...scope,
      },
    });
  };

  return { events, sell, refund, reverse, dispute, transfer, adjust, burn };
};

/**
 * A year of four tenants in three currencies: sales, burns, refunds in all forms, reversals, disputes, transfers, gifts
 * and clawbacks.
 */
export const yearOfTrading = (seed: number, movements: number): readonly ProjectedEvent[] => {
  const random = seededRandom(seed);
  const { events, sell, refund, reverse, dispute, transfer, adjust, burn } = traders(
    random,
    ratesOfTheYear(random),
  );
  for (let n = 0; n < movements; n += 1) {
    const at = new Date(START + Math.floor(((n + random.next()) / movements) * 365 * DAY_MS)).toISOString();
    const tenant = random.pick(TENANTS);
    const dice = random.next();
    if (dice < 0.12) sell(tenant, `pi_${n}`, at);
    else if (dice < 0.18) refund(`re_${n}`, at);
    else if (dice < 0.2) reverse(`rev_${n}`, at);
    else if (dice < 0.22) dispute(`dp_${n}`, at);
    else if (dice < 0.25) transfer(tenant, `trf-${n}`, at);
    else if (dice < 0.31) adjust(tenant, `adj-${n}`, at);
    else burn(tenant, `burn-${n}`, at);
  }
  return events;
};
