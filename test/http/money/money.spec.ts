import { adjustmentAt } from '../../../domain/account/state.ts';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { issuesIn, type Reply } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('money over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const credits = (json: Record<string, unknown>, headers = {}): Promise<Reply> =>
    api.call('post', '/v1/billing/credits', { json, headers });
  const refunds = (json: Record<string, unknown>): Promise<Reply> =>
    api.call('post', '/v1/billing/refunds', { json });
  const balance = async (tenant: string) => (await api.call('get', `/v1/billing/balance/${tenant}`)).body;

  describe('POST /v1/billing/credits', () => {
    it('sells at the price list, and the balance shows it at once', async () => {
      const txn = randomUUID();
      const reply = await credits({
        tenant_id: 'sale-1',
        provider: 'stripe',
        provider_txn_id: txn,
        credits: 10_000,
        gross_amount_minor: 1190,
        vat_amount_minor: 190,
        provider_fee_minor: 45,
        invoice_ref: 'INV-1',
      });
      expect(reply.body).to.include({
        tenant_id: 'sale-1',
        credits: 10_000,
        currency: 'USD',
        net_amount_minor: 1000,
        provider: 'stripe',
        provider_txn_id: txn,
        fx_rate_to_usd: '1',
        balance_credits: 10_000,
        credited: true,
      });
      expect(await balance('sale-1')).to.include({
        balance_credits: 10_000,
        total_credits_purchased: 10_000,
        plan: 'paid',
        free_pages_remaining: 50,
      });
    });

    it('answers a retry with the original, and another payload with 422', async () => {
      const json = {
        tenant_id: 'sale-2',
        provider_txn_id: randomUUID(),
        credits: 1000,
        gross_amount_minor: 100,
      };
      const first = await credits(json);
      const again = await credits(json);
      expect(again.body).to.deep.equal({ ...first.body, credited: false });
      expect((await credits({ ...json, credits: 1001 })).code).to.equal('idempotency_key_reused');
      expect((await credits({ ...json, tenant_id: 'sale-2b' })).code).to.equal('idempotency_key_reused');
      expect(await balance('sale-2')).to.include({ balance_credits: 1000 });
    });

    it('derives the count from the amount', async () => {
      const json = { tenant_id: 'sale-3', provider_txn_id: randomUUID(), gross_amount_minor: 2500 };
      expect((await credits(json)).body).to.include({ credits: 25_000, credited: true });
    });

    it('sells with a bonus, and the bonus goes with the refund', async () => {
      const json = {
        tenant_id: 'sale-8',
        provider_txn_id: randomUUID(),
        credits: 10_000,
        bonus_credits: 2000,
        gross_amount_minor: 1000,
        payout_id: 'po_1',
        tax_rate: '19',
        tax_country: 'DE',
      };
      const { gross_amount_minor, bonus_credits, payout_id, tax_rate, tax_country } = json;
      const told = { bonus_credits, payout_id, tax_rate, tax_country, gross_amount_minor };
      const sold = { ...told, credits: 12_000, discount_minor: 0, discount_code: null };
      const reply = await credits(json);
      expect(reply.body).to.include({ ...sold, balance_credits: 12_000, credited: true });
      expect((await credits(json)).body).to.deep.equal({ ...reply.body, credited: false });
      expect((await credits({ ...json, bonus_credits: 1000 })).code).to.equal('idempotency_key_reused');
      const [row] = (await api.call('get', '/v1/billing/grants/sale-8')).body['items'] as object[];
      expect(row).to.include({ ...sold, kind: 'sale' });
      const back = { tenant_id: 'sale-8', original_provider_txn_id: json.provider_txn_id };
      const refund = await refunds({ ...back, provider_txn_id: randomUUID(), gross_amount_minor: 1000 });
      expect(refund.body).to.include({ credits: 12_000, balance_credits: 0 });
    });

    it('sells for less by a coupon, down to nothing', async () => {
      const coupon = (gross_amount_minor: number, discount_minor: number, over = {}) =>
        credits({
          tenant_id: 'sale-9',
          provider_txn_id: randomUUID(),
          credits: 10_000,
          gross_amount_minor,
          discount_minor,
          discount_code: 'WELCOME',
          ...over,
        });
      expect((await coupon(800, 200)).body).to.include({ net_amount_minor: 800, discount_minor: 200 });
      const free = await coupon(0, 1000);
      expect(free.body).to.include({ credits: 10_000, gross_amount_minor: 0, discount_code: 'WELCOME' });
      expect((await coupon(800, 100)).body).to.include({ code: 'price_mismatch', expected_minor: 900 });
      for (const over of [{ gross_amount_minor: null }, { tax_rate: '101' }, { tax_country: 'de' }])
        expect((await coupon(800, 200, over)).code).to.equal('validation_error');
    });

    it('takes a sale without money', async () => {
      const json = { tenant_id: 'sale-4', provider_txn_id: randomUUID(), credits: 7 };
      expect((await credits(json)).body).to.include({
        credits: 7,
        gross_amount_minor: null,
        net_amount_minor: null,
      });
    });

    it('knows a payment by its name, whatever spaces stand around it', async () => {
      const txn = randomUUID();
      const json = { tenant_id: 'sale-7', credits: 1000, gross_amount_minor: 100 };
      const first = await credits({ ...json, provider: 'Stripe', provider_txn_id: txn });
      expect(first.body).to.include({ credited: true, balance_credits: 1000 });
      const again = await credits({ ...json, provider: ' stripe ', provider_txn_id: `${txn}\n` });
      expect(again.body).to.include({ credited: false, balance_credits: 1000, provider_txn_id: txn });
      for (const provider_txn_id of [' ', `${txn}\u0007x`])
        expect((await credits({ ...json, provider_txn_id })).code).to.equal('validation_error');
    });

    for (const [why, change, code] of [
      ['a count that does not cost this', { credits: 12_000 }, 'price_mismatch'],
      ['a currency that is not listed', { currency: 'EUR' }, 'currency_not_offered'],
      ['a version that does not exist', { price_list_version: 99_999 }, 'price_list_version_unknown'],
      ['neither credits nor money', { credits: null, gross_amount_minor: null }, 'validation_error'],
      ['a gross amount of 0', { gross_amount_minor: 0 }, 'validation_error'],
      ['VAT above gross', { vat_amount_minor: 1001 }, 'validation_error'],
      ['a fee above gross', { provider_fee_minor: 1001 }, 'validation_error'],
      ['a currency that is no code', { currency: 'euro' }, 'validation_error'],
      ['a sale of tomorrow', { occurred_at: '2999-01-01T00:00:00Z' }, 'validation_error'],
    ] as const)
      it(`refuses ${why}`, async () => {
        const json = {
          tenant_id: 'sale-5',
          provider_txn_id: randomUUID(),
          credits: 10_000,
          gross_amount_minor: 1000,
        };
        expect((await credits({ ...json, ...change })).code).to.equal(code);
      });

    it('says what the credits cost when they do not cost that', async () => {
      const json = {
        tenant_id: 'sale-6',
        provider_txn_id: randomUUID(),
        credits: 10_000,
        gross_amount_minor: 900,
      };
      expect((await credits(json)).body['expected_minor']).to.equal(1000);
    });
  });

  describe('POST /v1/billing/refunds', () => {
    const sold = async (tenant: string, count = 10_000): Promise<string> => {
      const provider_txn_id = randomUUID();
      await credits({ tenant_id: tenant, provider_txn_id, credits: count, gross_amount_minor: count / 10 });
      return provider_txn_id;
    };

    it('takes part of a sale back, in proportion', async () => {
      const original_provider_txn_id = await sold('refund-1');
      const json = {
        tenant_id: 'refund-1',
        provider_txn_id: randomUUID(),
        original_provider_txn_id,
        gross_amount_minor: 250,
      };
      const first = await refunds(json);
      expect(first.body).to.include({
        credits: 2500,
        gross_amount_minor: 250,
        balance_credits: 7500,
        refundable_credits: 7500,
        refundable_amount_minor: 750,
        credited: true,
      });
      expect((await refunds(json)).body).to.deep.equal({ ...first.body, credited: false });
      expect((await refunds({ ...json, gross_amount_minor: 251 })).code).to.equal('idempotency_key_reused');
      expect(await balance('refund-1')).to.include({ total_credits_purchased: 7500 });
    });

    it('refuses in the order of the interface', async () => {
      const original_provider_txn_id = await sold('refund-2');
      const json = {
        tenant_id: 'refund-2',
        provider_txn_id: randomUUID(),
        original_provider_txn_id,
        credits: 100,
      };
      expect((await refunds({ ...json, original_provider_txn_id: 'nothing' })).code).to.equal(
        'original_grant_not_found',
      );
      expect((await refunds({ ...json, currency: 'EUR' })).body).to.include({
        code: 'refund_mismatch',
        reason: 'currency',
      });
      expect((await refunds({ ...json, tenant_id: 'refund-3' })).body).to.include({
        code: 'refund_mismatch',
        reason: 'tenant',
      });
      expect((await refunds({ ...json, credits: 10_001 })).body).to.include({
        code: 'refund_exceeds_original',
        refundable_credits: 10_000,
      });
      expect((await refunds({ ...json, credits: 0 })).code).to.equal('validation_error');
    });

    it('refuses what was consumed, and says how much is left to refund', async () => {
      const original_provider_txn_id = await sold('refund-4');
      const adjust = { json: { credits: -9000, reason: 'spent' } };
      expect((await api.call('post', '/v1/admin/tenants/refund-4/adjust-credits', adjust)).status).to.equal(
        200,
      );
      const json = {
        tenant_id: 'refund-4',
        provider_txn_id: randomUUID(),
        original_provider_txn_id,
        gross_amount_minor: 1000,
      };
      expect((await refunds(json)).body).to.include({
        code: 'insufficient_balance',
        available_credits: 1000,
        max_refundable_credits: 1000,
      });
      expect((await refunds({ ...json, credits: 1000 })).body).to.include({ credits: 1000, credited: true });
    });
  });

  describe('POST adjust-credits', () => {
    const adjust = (tenant: string, json: unknown, key?: string) =>
      api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, {
        json,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      });

    it('gives and claws back', async () => {
      expect((await adjust('adjust-1', { credits: 500, reason: 'welcome' })).body).to.include({
        tenant_id: 'adjust-1',
        credits: 500,
        balance_credits: 500,
        credited: true,
      });
      expect(
        (await adjust('adjust-1', { credits: -200, reason: 'mistake' })).body['balance_credits'],
      ).to.equal(300);
    });

    it('refuses to claw back more than is available, unless it is told to', async () => {
      expect((await adjust('adjust-2', { credits: -1, reason: 'x' })).body).to.include({
        code: 'insufficient_balance',
        available_credits: 0,
      });
      const forced = await adjust('adjust-2', { credits: -1, reason: 'x', allow_negative: true });
      expect(forced.body['balance_credits']).to.equal(-1);
    });

    it('takes a key of 80 characters and refuses one of 81', async () => {
      expect((await adjust('adjust-3', { credits: 1, reason: 'x' }, 'k'.repeat(80))).status).to.equal(200);
      const reply = await adjust('adjust-3', { credits: 1, reason: 'x' }, 'k'.repeat(81));
      expect(issuesIn(reply)).to.deep.equal(['header.Idempotency-Key invalid_format']);
    });

    for (const credits of [0, 1.5, '5', 1e21, 2 ** 53])
      it(`refuses ${JSON.stringify(credits)} credits`, async () => {
        expect((await adjust('adjust-4', { credits, reason: 'x' })).code).to.equal('validation_error');
      });

    it('refuses more than 10^12 credits in one movement, so that sums are exact', async () => {
      const most = { credits: 1e12, reason: 'x' };
      expect((await adjust('adjust-6', most)).status).to.equal(200);
      for (const credits of [1e12 + 1, -1e12 - 1])
        expect((await adjust('adjust-6', { ...most, credits })).code).to.equal('validation_error');
      expect((await balance('adjust-6'))['balance_credits']).to.equal(1e12);
    });

    it('remembers the key for ever, also when the replay cache has forgotten it', async () => {
      const first = await adjust('adjust-5', { credits: 10, reason: 'x' }, 'for-ever');
      const outcome = await api.deps.accounts.stateOf('adjust-5');
      expect(adjustmentAt(outcome, 'for-ever')?.adjustment_id).to.equal(first.body['adjustment_id']);
    });
  });

  describe('POST set-plan', () => {
    const set = (json: unknown) => api.call('post', '/v1/admin/tenants/plan-1/set-plan', { json });

    it('changes the plan once', async () => {
      expect((await set({ plan: 'enterprise', reason: 'contract' })).body).to.include({
        plan: 'enterprise',
        previous_plan: 'free',
        changed: true,
      });
      expect((await set({ plan: 'enterprise' })).body).to.include({
        previous_plan: 'enterprise',
        changed: false,
      });
      expect((await set({ plan: 'gold' })).code).to.equal('validation_error');
    });
  });

  describe('reads', () => {
    before(async () => {
      await api.newKey('reads-1');
      for (let n = 0; n < 3; n += 1) await api.sell('reads-1', 1000);
      await api.call('post', '/v1/admin/tenants/reads-1/adjust-credits', {
        json: { credits: 5, reason: 'x' },
      });
    });

    it('say 404 for a tenant that does not exist', async () => {
      expect((await api.call('get', '/v1/billing/balance/nobody')).code).to.equal('tenant_not_found');
      expect((await api.call('get', '/v1/billing/tenant-info/nobody')).code).to.equal('tenant_not_found');
    });

    it('page the grants, newest first', async () => {
      const all = (await api.call('get', '/v1/billing/grants/reads-1')).body;
      expect(all).to.include({ total: 3, limit: 100, offset: 0 });
      const second = (await api.call('get', '/v1/billing/grants/reads-1?limit=1&offset=1')).body;
      expect(second['items']).to.deep.equal([(all['items'] as unknown[])[1]]);
    });

    it('leave adjustments out of usage unless they are asked for', async () => {
      expect((await api.call('get', '/v1/billing/usage/reads-1')).body['total']).to.equal(0);
      const withThem = await api.call('get', '/v1/billing/usage/reads-1?include_adjustments=true');
      expect(withThem.body['total']).to.equal(1);
    });

    it('give the full billing state', async () => {
      const { body } = await api.call('get', '/v1/billing/tenant-info/reads-1');
      expect(body).to.include({ balance_credits: 3005, grants_count: 3 });
      expect(body['free_pages']).to.deep.equal({ allowance: 50, used: 0, remaining: 50 });
      expect(body['open_holds']).to.deep.equal([]);
    });

    it('quote with free pages first', async () => {
      const ask = (query: string) => api.call('get', `/v1/billing/quote?tenant_id=reads-1&${query}`);
      expect((await ask('operation=extract&billing_type=full_service&pages=60')).body).to.include({
        extraction_mode: 'standard',
        free_pages_applied: 50,
        billable_pages: 10,
        credits_per_page: 40,
        credits: 400,
        list_value_usd: '0.40',
        sufficient: true,
      });
      expect((await ask('operation=to_markdown&billing_type=byok&pages=51')).body).to.include({
        extraction_mode: 'default',
        credits: 5,
      });
      expect(
        (await ask('operation=to_markdown&billing_type=byok&pages=1&extraction_mode=robust')).code,
      ).to.equal('validation_error');
      expect((await ask('operation=extract&billing_type=byok&pages=9007199254740991')).code).to.equal(
        'validation_error',
      );
      const unknown = '/v1/billing/quote?tenant_id=nobody&operation=extract&billing_type=byok&pages=1';
      expect((await api.call('get', unknown)).code).to.equal('tenant_not_found');
    });
  });

  describe('price lists and billing configs', () => {
    let training: unknown;
    before(async () => {
      ({ training } = (await api.call('get', '/v1/billing/config')).body);
    });
    // Other specs of this run quote training at the terms that they found.
    after(async () => {
      await api.call('post', '/v1/billing/config', { json: { training } });
    });

    it('publish a list of all currencies at once, and check the version expected', async () => {
      const before = (await api.call('get', '/v1/admin/credit-prices')).body;
      const entries = [
        { currency: 'USD', price_per_1000_credits: '1.00' },
        { currency: 'JPY', price_per_1000_credits: '150', tax_basis: 'inclusive' },
      ];
      const publish = (json: unknown) => api.call('post', '/v1/admin/credit-prices', { json });
      const { body } = await publish({ entries, expected_version: before['version'], note: 'yen' });
      expect(body['version']).to.equal(Number(before['version']) + 1);
      expect((body['entries'] as { minor_unit_digits: number }[])[1]).to.include({ minor_unit_digits: 0 });
      expect((await publish({ entries, expected_version: before['version'] })).code).to.equal(
        'version_conflict',
      );
      expect((await api.call('get', '/v1/billing/credit-prices')).body).to.deep.equal(body);
      for (const bad of [
        [],
        [entries[0], entries[0]],
        [{ currency: 'ABC', price_per_1000_credits: '1' }],
        [{ currency: 'USD', price_per_1000_credits: '0.00' }],
        [{ currency: 'USD', price_per_1000_credits: '1.1234567' }],
        [{ currency: 'USD', price_per_1000_credits: 1 }],
      ])
        expect((await publish({ entries: bad })).code).to.equal('validation_error');
    });

    it('carry over what a config leaves out, and list every version', async () => {
      const before = (await api.call('get', '/v1/billing/config')).body;
      const made = await api.call('post', '/v1/billing/config', {
        json: { training: { base_credits: { light: 2001 } }, note: 'dearer' },
      });
      expect(made.status).to.equal(201);
      expect(made.body).to.include({
        version: Number(before['version']) + 1,
        free_pages: 50,
        note: 'dearer',
      });
      expect(made.body['training']).to.deep.equal({
        ...(before['training'] as object),
        base_credits: { light: 2001, medium: 6000, heavy: 18_000 },
      });
      const history = (await api.call('get', '/v1/admin/billing-config')).body;
      expect(history['active']).to.deep.equal(made.body);
      expect((history['history'] as unknown[]).length).to.equal(made.body['version']);
      const admin = await api.call('post', '/v1/admin/billing-config', { json: {} });
      expect(admin.status).to.equal(201);
    });

    it('keep all of the changes that are published at once', async () => {
      const publish = (training: object) => api.call('post', '/v1/billing/config', { json: { training } });
      for (let n = 30; n < 35; n += 1) {
        await Promise.all([
          publish({ credits_per_example: n }),
          publish({ credits_per_metric_call: n }),
          publish({ base_credits: { light: n } }),
          publish({ base_credits: { heavy: n } }),
        ]);
        const training = (await api.call('get', '/v1/billing/config')).body['training'];
        const now = training as { base_credits: object };
        expect(now).to.include({ credits_per_example: n, credits_per_metric_call: n });
        expect(now.base_credits).to.include({ light: n, heavy: n });
      }
    });

    it('set one rate as a new version, and only where there is one', async () => {
      const set = (json: unknown) => api.call('post', '/v1/billing/rates', { json });
      const rate = { operation: 'to_markdown', extraction_mode: 'fast', billing_type: 'byok' };
      const { body } = await set({ ...rate, credits_per_page: 3 });
      expect(body).to.include({ ...rate, credits_per_page: 3 });
      const rates = (await api.call('get', '/v1/billing/rates')).body;
      expect(rates['version']).to.equal(body['billing_config_version']);
      expect(rates['items']).to.deep.include(body);
      expect((await set({ ...rate, extraction_mode: 'robust', credits_per_page: 3 })).code).to.equal(
        'validation_error',
      );
      await set({ ...rate, credits_per_page: 2 });
    });

    it('set a rate of work that may wait beside that of other work, and quote it', async () => {
      const rate = { operation: 'extract', extraction_mode: 'robust', billing_type: 'byok' } as const;
      const json = { ...rate, completion_window: '24h', credits_per_page: 6 };
      const { body } = await api.call('post', '/v1/billing/rates', { json });
      expect(body).to.include(json);
      const { items } = (await api.call('get', '/v1/billing/rates')).body as { items: object[] };
      const robust = items.filter((one) =>
        Object.entries(rate).every(([key, value]) => Reflect.get(one, key) === value),
      );
      expect(robust.map((one) => Reflect.get(one, 'completion_window') as unknown)).to.have.members([
        null,
        '24h',
      ]);
      const wrong = await api.call('post', '/v1/billing/rates', {
        json: { ...json, completion_window: '48h' },
      });
      expect(wrong.code).to.equal('validation_error');
      const never = { ...json, operation: 'to_markdown', extraction_mode: 'fast' };
      expect((await api.call('post', '/v1/billing/rates', { json: never })).code).to.equal(
        'validation_error',
      );
    });
  });
});
