import { expect } from 'chai';
import { MONEY_ENDPOINTS, moneyCase, type MoneyEndpoint } from '../support/moneyEndpoints.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

const byName = (part: string): MoneyEndpoint => MONEY_ENDPOINTS.find(({ name }) => name.includes(part))!;

for (const endpoint of MONEY_ENDPOINTS)
  describe(`the guard of ${endpoint.name} that never expires`, () => {
    let api: TestApi;
    before(async () => {
      api = await testApi();
    });

    it('answers with the original when every replay is forgotten', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      const first = await send();
      expect(first.body[endpoint.flag], first.text).to.equal(true);
      await api.forgetReplays();
      const again = await send();
      expect(again.body).to.deep.equal({ ...first.body, [endpoint.flag]: false });
      await movedTimes(1);
    });

    it('refuses each changed member when every replay is forgotten, and has no effect', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      await send();
      for (const change of endpoint.changes) {
        await api.forgetReplays();
        const reply = await send(change);
        expect([reply.status, reply.code], JSON.stringify(change)).to.deep.equal([
          422,
          'idempotency_key_reused',
        ]);
      }
      await movedTimes(1);
    });

    for (const change of endpoint.retold ?? [])
      it(`takes ${JSON.stringify(change)} for the same, told again`, async () => {
        const { send, movedTimes } = await moneyCase(api, endpoint);
        const first = await send();
        await api.forgetReplays();
        expect((await send(change)).body).to.deep.equal({ ...first.body, [endpoint.flag]: false });
        await movedTimes(1);
      });

    for (const times of [2, 7, 50])
      it(`takes effect once when ${times} come at once with one key`, async () => {
        const { send, movedTimes } = await moneyCase(api, endpoint);
        const replies = await Promise.all(Array.from({ length: times }, () => send()));
        const allowed = endpoint.takesHeader ? [200, 409] : [200];
        expect(
          replies.map(({ status }) => status).filter((status) => !allowed.includes(status)),
        ).to.deep.equal([]);
        const effects = replies.filter(
          ({ body, headers }) => body[endpoint.flag] === true && headers.get('idempotent-replayed') === null,
        );
        expect(effects).to.have.length(1);
        await movedTimes(1);
      });

    if (endpoint.takesHeader && endpoint.ownIdentity)
      it('takes effect once when fifty come at once, each with a key of its own or none', async () => {
        const { send, movedTimes } = await moneyCase(api, endpoint);
        const replies = await Promise.all(
          Array.from({ length: 50 }, (_, n) => send({}, n % 2 === 0 ? null : `key-${n}`)),
        );
        expect(replies.filter(({ status }) => status !== 200)).to.deep.equal([]);
        expect(replies.filter(({ body }) => body[endpoint.flag] === true)).to.have.length(1);
        expect(new Set(replies.map(({ body }) => body[endpoint.id])).size).to.equal(1);
        await movedTimes(1);
      });
  });

describe('a repeat after prices have changed', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  /** Sends what `work` sends under other prices and fees, and puts the old ones back. */
  const underOtherPrices = async (entries: readonly object[], work: () => Promise<void>) => {
    const prices = (await api.call('get', '/v1/admin/credit-prices')).body['entries'] as readonly object[];
    const old = prices.map((entry) => ({ ...entry, minor_unit_digits: undefined }));
    const fees = (await api.call('get', '/v1/billing/config')).body;
    const fee = fees['examples_export_fee_credits'];
    const publish = async (list: readonly object[], credits: unknown) => {
      const replies = await Promise.all([
        api.call('post', '/v1/admin/credit-prices', { json: { entries: list } }),
        api.call('post', '/v1/billing/config', { json: { examples_export_fee_credits: credits } }),
      ]);
      expect(replies.map(({ status }) => status)).to.deep.equal([200, 201]);
    };
    try {
      await publish(entries, 1);
      await work();
    } finally {
      await publish(old, fee);
    }
  };

  for (const [what, entry] of [
    ['dearer', { currency: 'USD', price_per_1000_credits: '2.00' }],
    ['no longer offered', { currency: 'CHF', price_per_1000_credits: '1.00' }],
  ] as const)
    for (const endpoint of MONEY_ENDPOINTS.filter(({ ownIdentity }) => ownIdentity))
      it(`is the original of ${endpoint.name} when credits are ${what}`, async () => {
        const { send, movedTimes } = await moneyCase(api, endpoint);
        const first = await send();
        await underOtherPrices([entry], async () => {
          await api.forgetReplays();
          expect((await send({}, null)).body).to.deep.equal({ ...first.body, [endpoint.flag]: false });
          const change = endpoint.changes[0]!;
          expect((await send(change, null)).code).to.equal('idempotency_key_reused');
          await movedTimes(1);
        });
      });

  it('is refused for a sale that was never made', async () => {
    const { send, movedTimes } = await moneyCase(api, byName('credits'));
    const dearer = { currency: 'USD', price_per_1000_credits: '2.00' };
    await underOtherPrices([dearer], async () => {
      expect((await send({}, null)).code).to.equal('price_mismatch');
      await movedTimes(0);
    });
    expect((await send({}, null)).body['credited']).to.equal(true);
  });
});

describe('what a refused request leaves behind', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  it('binds neither the key nor the payment of a sale', async () => {
    const { send, movedTimes } = await moneyCase(api, byName('credits'));
    expect((await send({ credits: 12_000 })).code).to.equal('price_mismatch');
    expect((await send({ currency: 'EUR' })).code).to.equal('currency_not_offered');
    expect((await send({ credits: 0 })).code).to.equal('validation_error');
    await movedTimes(0);
    expect((await send()).body['credited']).to.equal(true);
    await movedTimes(1);
  });

  it('binds neither the key nor the payment of a refund', async () => {
    const { send, movedTimes } = await moneyCase(api, byName('refunds'));
    expect((await send({ original_provider_txn_id: 'none' })).code).to.equal('original_grant_not_found');
    expect((await send({ currency: 'EUR' })).code).to.equal('refund_mismatch');
    expect((await send({ credits: 10_001 })).code).to.equal('refund_exceeds_original');
    await movedTimes(0);
    expect((await send()).body['credited']).to.equal(true);
    await movedTimes(1);
  });

  it('lets one of two tenants have a payment, and the other no part of its answer', async () => {
    const sale = byName('credits');
    const one = await moneyCase(api, sale);
    const other = await moneyCase(api, sale);
    const payment = { provider_txn_id: one.json['provider_txn_id'] };
    const [first, second] = await Promise.all([one.send(), other.send(payment)]);
    const replies = [first, second];
    expect(replies.filter(({ body }) => body['credited'] === true)).to.have.length(1);
    const loser = replies.find(({ status }) => status === 422)!;
    expect(loser.code).to.equal('idempotency_key_reused');
    expect(loser.text).to.not.contain(first === loser ? other.tenant : one.tenant);
    await one.movedTimes(first === loser ? 0 : 1);
    await other.movedTimes(first === loser ? 1 : 0);
  });
});
