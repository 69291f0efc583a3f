import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EVENT_TYPES } from '../../src/payments/app.ts';
import { sidesOf } from '../../src/payments/runPayments.ts';
import { newTenant, startWorld, type World } from './world.ts';
import type { Delivery } from './stripeDouble.ts';

describe('requests to the payments process', () => {
  let world: World;
  let tenant: string;

  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    tenant = newTenant();
    await world.restart();
    world.stripe.take();
    world.stripe.nowMs = () => Date.now();
    world.stripe.livemode = false;
  });

  const completed = async (): Promise<Delivery> => {
    world.stripe.pay(await world.page({ tenant_id: tenant, credits: 1_000 }));
    return world.stripe.take().find(({ type }) => type === 'checkout.session.completed')!;
  };
  const nothingSold = async () => expect(await world.grants(tenant)).to.deep.equal([]);
  const secondsNow = () => Math.floor(Date.now() / 1000);

  it('with a forged signature, or none, sell nothing', async () => {
    const event = await completed();
    const forged = world.stripe.signed(event, undefined, 'whsec_of_somebody_else');
    expect(await world.deliver(event, forged)).to.equal(400);
    expect(await world.deliver(event, { method: 'POST', body: event.body })).to.equal(400);
    const { headers } = world.stripe.signed(event);
    const changed = event.body.replace('"livemode":false', '"livemode": false');
    expect(await world.deliver(event, { method: 'POST', headers, body: changed })).to.equal(400);
    await nothingSold();
  });

  it('that were recorded and are sent again later sell nothing', async () => {
    const event = await completed();
    const recorded = world.stripe.signed(event);
    world.stripe.nowMs = () => Date.now() + 301_000;
    expect(await world.deliver(event, recorded)).to.equal(400);
    await nothingSold();
  });

  it('are taken from clocks that are some minutes off, fast or slow', async () => {
    for (const skew of [-240, 240]) {
      tenant = newTenant();
      const event = await completed();
      expect(await world.deliver(event, world.stripe.signed(event, secondsNow() + skew))).to.equal(200);
      expect(await world.balance(tenant)).to.equal(1_000);
    }
  });

  it('are taken with either secret during a rotation', async () => {
    await world.restart({ webhookSecrets: ['whsec_next', ...world.config.webhookSecrets] });
    const event = await completed();
    expect(await world.deliver(event, world.stripe.signed(event, undefined, 'whsec_next'))).to.equal(200);
    expect(await world.deliver(event)).to.equal(200);
  });

  it('of test mode sell nothing where real money moves, and those of real money nothing in a test', async () => {
    const event = await completed();
    await world.restart({ isLive: true });
    expect(await world.deliver(event)).to.equal(400);
    await nothingSold();
    await world.restart();
    world.stripe.livemode = true;
    expect(await world.deliver(await completed())).to.equal(400);
    await nothingSold();
  });

  it('that are larger than any event, or compressed, are not read', async () => {
    const event = { type: 'x', body: JSON.stringify({ filler: 'x'.repeat(1_100_000) }) };
    expect(await world.deliver(event)).to.equal(413);
    const { headers } = world.stripe.signed(event);
    const zipped = { method: 'POST', headers: { ...headers, 'content-encoding': 'gzip' }, body: 'x' };
    expect(await world.deliver(event, zipped)).to.equal(415);
  });

  it('that are no event, or of a type that nobody listens to, change nothing', async () => {
    const about = { id: 'cus_1', object: 'customer' };
    const other = { id: 'evt_1', type: 'customer.created', livemode: false, data: { object: about } };
    expect(await world.deliver({ type: 'x', body: JSON.stringify(other) })).to.equal(200);
    expect(await world.deliver({ type: 'x', body: '{"id": "evt_2"}' })).to.equal(400);
    expect(await world.deliver({ type: 'x', body: 'no JSON' })).to.equal(400);
  });

  it('are of the events that the guide tells to choose at Stripe', () => {
    const guide = readFileSync('docs/how-to/take-payments.md', 'utf8');
    const named = [
      ...guide.matchAll(/`((?:checkout|invoice|payment_intent|charge|refund|payout)\.[a-z_.]+)`/g),
    ];
    expect(named.map(([, type]) => type)).to.have.members(EVENT_TYPES);
  });

  it('wait for a service or a provider that is away: the event is sent again', async () => {
    const event = await completed();
    const away = { ...world.config, url: 'http://127.0.0.1:9' };
    await world.restart(sidesOf(away));
    expect(await world.deliver(event)).to.equal(503);
    await world.restart(sidesOf({ ...world.config, stripeUrl: 'http://127.0.0.1:9' }));
    expect(await world.deliver(event)).to.equal(503);
    await world.restart();
    expect(await world.deliver(event)).to.equal(200);
    expect(await world.balance(tenant)).to.equal(1_000);
  });

  it('wait for a key that was revoked', async () => {
    const event = await completed();
    await world.restart(sidesOf({ ...world.config, key: 'quire_p_nobody' }));
    expect(await world.deliver(event)).to.equal(503);
  });

  it('for a page make one for the price of the list, its discount and bonus', async () => {
    const asked = { tenant_id: tenant, credits: 10_000, bonus_credits: 500, coupon: 'TENTH' };
    const session = await world.page(asked);
    world.stripe.pay(session);
    expect(new Set(await world.deliverAll())).to.deep.equal(new Set([200]));
    const [sale] = await world.grants(tenant);
    expect(sale).to.include({ credits: 10_500, bonus_credits: 500, gross_amount_minor: 9_000 });
    expect(sale).to.include({ discount_minor: 1_000, discount_code: 'TENTH', price_list_version: 2 });
  });

  it('for a page that a coupon pays in full sell its credits, with nothing paid', async () => {
    world.stripe.pay(await world.page({ tenant_id: tenant, credits: 1_000, coupon: 'GIFT' }));
    expect(await world.deliverAll()).to.deep.equal([200]);
    const [sale] = await world.grants(tenant);
    expect(sale).to.include({ credits: 1_000, gross_amount_minor: 0, discount_minor: 1_000 });
  });

  for (const [currency, gross, vat] of [
    ['USD', 11_900, 1_900],
    ['EUR', 9_000, 1_437],
  ] as const)
    it(`for a page have the VAT that Stripe computes, on top or within, as the list says: ${currency}`, async () => {
      await world.restart({ automaticTax: true });
      world.stripe.pay(await world.page({ tenant_id: tenant, credits: 10_000, currency }));
      expect(new Set(await world.deliverAll())).to.deep.equal(new Set([200]));
      const [sale] = await world.grants(tenant);
      expect(sale).to.include({ credits: 10_000, gross_amount_minor: gross, vat_amount_minor: vat });
    });

  it('for a page need the token of the shop, and are served only where there is one', async () => {
    const asked = { tenant_id: tenant, credits: 1_000 };
    expect(
      (await world.checkout(asked, { authorization: 'Bearer checkout-token-of-a-thief' })).status,
    ).to.equal(401);
    await world.restart({ checkoutToken: undefined });
    expect((await world.checkout(asked)).status).to.equal(404);
  });

  it('for a page say what is wrong with them', async () => {
    const wrong = async (change: object) => {
      const answer = await world.checkout({ tenant_id: tenant, credits: 1_000, ...change });
      return [answer.status, ((await answer.json()) as { error: string }).error];
    };
    expect(await wrong({ credits: 0 })).to.deep.equal([422, 'validation_error']);
    expect(await wrong({ price: 1 })).to.deep.equal([422, 'validation_error']);
    expect(await wrong({ success_url: 'javascript:alert(1)' })).to.deep.equal([422, 'validation_error']);
    expect(await wrong({ currency: 'GBP' })).to.deep.equal([422, 'needs_a_person']);
    expect(await wrong({ coupon: 'NONE' })).to.deep.equal([422, 'needs_a_person']);
    // 3.075 dinars: the last of three decimals would have to be 0.
    expect(await wrong({ currency: 'KWD' })).to.deep.equal([422, 'needs_a_person']);
    expect(await wrong({ currency: 'KWD', credits: 2_000 })).to.deep.equal([201, undefined]);
  });

  it('for a page that are sent again with the same key get the same page', async () => {
    world.stripe.nowMs = () => 1_800_000_000_000;
    const asked = { tenant_id: tenant, credits: 1_000 };
    const made = async () =>
      ((await (await world.checkout(asked, { 'idempotency-key': tenant })).json()) as { url: string }).url;
    expect(await made()).to.equal(await made());
  });
});
