import { expect } from 'chai';
import { sidesOf } from '../../src/payments/runPayments.ts';
import { newTenant, startWorld, type World } from './world.ts';

const all = <T>(items: readonly T[], like: T) => items.every((item) => item === like);

describe('payments that Stripe tells of', () => {
  let world: World;
  let tenant: string;

  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(() => {
    tenant = newTenant();
    world.stripe.take();
  });

  const page = (asked: object = {}) => world.page({ tenant_id: tenant, credits: 5_000, ...asked });
  /** Pays a page of 5,000 credits for 50 dollars, with everything told that follows. */
  const paid = async (): Promise<string> => {
    const intent = world.stripe.pay(await page());
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    return intent;
  };
  const kinds = async () => (await world.grants(tenant)).map(({ kind }) => kind);

  it('are credited once, whichever of its events come, in which order and how often', async () => {
    const intent = world.stripe.pay(await page());
    const events = world.stripe.take();
    expect(events.map(({ type }) => type)).to.include.members([
      'charge.succeeded',
      'checkout.session.completed',
    ]);
    for (const event of [...events].reverse().concat(events))
      expect(await world.deliver(event)).to.equal(200);
    const [sale, ...others] = await world.grants(tenant);
    expect(others).to.deep.equal([]);
    expect(sale).to.include({ kind: 'sale', credits: 5_000, currency: 'USD', gross_amount_minor: 5_000 });
    expect(sale).to.include({ provider: 'stripe', provider_txn_id: intent, provider_fee_minor: 175 });
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('are credited once where several events come at the same moment', async () => {
    world.stripe.pay(await page());
    const events = world.stripe.take();
    const statuses = await Promise.all(
      [...events, ...events, ...events].map((event) => world.deliver(event)),
    );
    // What met another of them at work is sent again.
    expect(statuses.every((status) => status === 200 || status === 503)).to.equal(true);
    for (const event of events) expect(await world.deliver(event)).to.equal(200);
    expect(await kinds()).to.deep.equal(['sale']);
  });

  it('are credited by the webhook alone: nobody has to come back to the shop', async () => {
    world.stripe.pay(await page());
    await world.deliverAll('checkout.session.completed');
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('are credited under one name, whether a page or its invoice tells of them', async () => {
    const metadata = { quire_tenant_id: tenant, quire_credits: '2000', quire_price_list_version: '2' };
    const invoice = world.stripe.invoice({ currency: 'usd', total: 2_380, tax: 380, metadata });
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    const [sale, ...others] = await world.grants(tenant);
    expect(others).to.deep.equal([]);
    expect(sale).to.include({ credits: 2_000, gross_amount_minor: 2_380, vat_amount_minor: 380 });
    expect(sale?.['provider_txn_id']).to.match(/^pi_/);
    expect(sale?.['invoice_ref']).to.equal(world.stripe.invoices.get(invoice)?.number);
  });

  it('are one sale where an invoice was paid in two parts, and a refund of either is a refund of it', async () => {
    const metadata = { quire_tenant_id: tenant, quire_credits: '2000' };
    world.stripe.invoice({ currency: 'usd', total: 2_000, metadata }, 2);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await kinds()).to.deep.equal(['sale']);
    const [, second] = [...world.stripe.intents.keys()].slice(-2);
    world.stripe.refund(second ?? '', 500);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await world.balance(tenant)).to.equal(1_500);
  });

  it('are not credited while their page is not paid, and then once', async () => {
    const session = await page();
    world.stripe.pay(session, { isSlow: true });
    expect(await world.deliverAll()).to.deep.equal([200]);
    expect(await world.grants(tenant)).to.deep.equal([]);
    world.stripe.arrive(session);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await kinds()).to.deep.equal(['sale']);
  });

  it('are not credited where the money never arrives', async () => {
    const session = await page();
    world.stripe.pay(session, { isSlow: true });
    world.stripe.arrive(session, { isPaid: false });
    expect(await world.deliverAll()).to.deep.equal([200, 200]);
    expect(await world.grants(tenant)).to.deep.equal([]);
  });

  it('get their fee when Stripe knows it', async () => {
    const intent = world.stripe.pay(await page(), { feeKnown: false });
    await world.deliverAll();
    expect((await world.grants(tenant))[0]).to.include({ provider_fee_minor: 0 });
    world.stripe.feeBecomesKnown(intent);
    expect(await world.deliverAll()).to.deep.equal([200]);
    expect((await world.grants(tenant))[0]).to.include({ provider_fee_minor: 175 });
  });

  it('get their payout when it is paid', async () => {
    await paid();
    const payout = world.stripe.payOut();
    expect(await world.deliverAll()).to.deep.equal([200]);
    expect((await world.grants(tenant))[0]).to.include({ payout_id: payout, provider_fee_minor: 175 });
  });

  it('are found by their payout where every earlier event was lost', async () => {
    world.stripe.pay(await page());
    world.stripe.take();
    const payout = world.stripe.payOut();
    expect(await world.deliverAll()).to.deep.equal([200]);
    expect((await world.grants(tenant))[0]).to.include({ credits: 5_000, payout_id: payout });
  });

  it('are refunded in parts, and never by more than was paid', async () => {
    const intent = await paid();
    world.stripe.refund(intent, 2_000);
    world.stripe.refund(intent, 3_000);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await world.balance(tenant)).to.equal(0);
    world.stripe.refund(intent, 1);
    expect(all(await world.deliverAll(), 422)).to.equal(true);
    expect(world.logged.at(-1)?.text).to.match(/needs a person: refund_exceeds_original/);
    expect(await kinds()).to.deep.equal(['refund', 'refund', 'sale']);
  });

  it('are sold and refunded where the refund is told first', async () => {
    const intent = world.stripe.pay(await page());
    const sold = world.stripe.take();
    world.stripe.refund(intent, 2_000);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    for (const event of sold) expect(await world.deliver(event)).to.equal(200);
    expect(await kinds()).to.deep.equal(['refund', 'sale']);
    expect(await world.balance(tenant)).to.equal(3_000);
  });

  it('take the credits that are there where some are used: the money went back', async () => {
    const intent = await paid();
    const json = { credits: -4_000, reason: 'used' };
    await world.api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, { json });
    world.stripe.refund(intent, 5_000);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    const [refund] = await world.grants(tenant);
    expect(refund).to.include({ kind: 'refund', credits: -1_000, gross_amount_minor: 5_000 });
    expect(await world.balance(tenant)).to.equal(0);
  });

  it('take them once, though another delivery books the refund at the same moment', async () => {
    const intent = await paid();
    await world.api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, {
      json: { credits: -4_000, reason: 'used' },
    });
    const refund = world.stripe.refund(intent, 5_000);
    const [event] = world.stripe.take();
    expect(await world.deliver(event!)).to.equal(200);
    const { quire } = sidesOf(world.config);
    let isEarly = true;
    await world.restart({
      quire: {
        ...quire,
        // As it was when the other had not booked it yet.
        getPayment: (input) => {
          const { provider, provider_txn_id: id } = input.path;
          const asked = id === refund && isEarly ? 'nobody' : id;
          if (id === refund) isEarly = false;
          return quire.getPayment({ path: { provider, provider_txn_id: asked } });
        },
      },
    });
    expect(await world.deliver(event!)).to.equal(200);
    expect(isEarly).to.equal(false);
    await world.restart();
    expect(await kinds()).to.deep.equal(['refund', 'sale']);
    expect(await world.balance(tenant)).to.equal(0);
  });

  it('belong to their tenant again where a refund failed, also if that is told before the refund', async () => {
    const intent = await paid();
    const refund = world.stripe.refund(intent, 5_000, 'pending');
    const made = world.stripe.take();
    expect(await world.deliver(made[0]!)).to.equal(200);
    expect(await world.balance(tenant)).to.equal(0);
    world.stripe.changeRefund(refund, 'failed');
    expect(await world.deliverAll()).to.deep.equal([200]);
    for (const event of made) expect(await world.deliver(event)).to.equal(200);
    expect(await world.balance(tenant)).to.equal(5_000);
    expect(await kinds()).to.deep.equal(['reversal', 'refund', 'sale']);
  });

  it('are not refunded while the payer has to help', async () => {
    const intent = await paid();
    const refund = world.stripe.refund(intent, 5_000, 'requires_action');
    await world.deliverAll();
    expect(await world.balance(tenant)).to.equal(5_000);
    world.stripe.changeRefund(refund, 'succeeded');
    await world.deliverAll();
    expect(await world.balance(tenant)).to.equal(0);
  });

  it('lose what is disputed, with its fee, and have it again where the dispute is won', async () => {
    const intent = await paid();
    const dispute = world.stripe.dispute(intent, 5_000);
    expect(await world.deliverAll()).to.deep.equal([200]);
    const [opened] = await world.grants(tenant);
    expect(opened).to.include({ kind: 'dispute', dispute_status: 'opened', dispute_fee_minor: 1_500 });
    expect(await world.balance(tenant)).to.equal(0);
    world.stripe.closeDispute(dispute, 'won');
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('lose nothing by an inquiry, and all of it by a dispute that was lost before it was told', async () => {
    const intent = await paid();
    world.stripe.dispute(intent, 5_000, 'warning_needs_response');
    expect(await world.deliverAll()).to.deep.equal([200]);
    expect(await world.balance(tenant)).to.equal(5_000);
    world.stripe.closeDispute(world.stripe.dispute(intent, 5_000), 'lost');
    for (const event of [...world.stripe.take()].reverse()) expect(await world.deliver(event)).to.equal(200);
    expect(await world.balance(tenant)).to.equal(0);
  });

  for (const [currency, credits, gross, sent] of [
    ['JPY', 2_000, 3_000, 3_000],
    ['ISK', 2_000, 2_800, 280_000],
    ['UGX', 1_000, 37_000, 3_700_000],
    ['MGA', 1_000, 4_500_000, 45_000],
  ] as const)
    it(`are in the minor units of the books, as ${currency}, which Stripe sends in its own`, async () => {
      const session = await page({ currency, credits });
      expect(world.stripe.sessions.get(session)?.amount_total).to.equal(sent);
      const intent = world.stripe.pay(session);
      expect(all(await world.deliverAll(), 200)).to.equal(true);
      expect((await world.grants(tenant))[0]).to.include({ credits, currency, gross_amount_minor: gross });
      world.stripe.refund(intent, sent);
      expect(all(await world.deliverAll(), 200)).to.equal(true);
      expect((await world.grants(tenant))[0]).to.include({ kind: 'refund', gross_amount_minor: gross });
      expect(await world.balance(tenant)).to.equal(0);
    });

  it('have their fee in their own currency, which Stripe keeps in that of the account', async () => {
    world.stripe.pay(await page({ currency: 'EUR', credits: 10_000 }));
    await world.deliverAll();
    // 291 US cents of a payment of 90.00 EUR that was 112.50 USD.
    expect((await world.grants(tenant))[0]).to.include({
      gross_amount_minor: 9_000,
      provider_fee_minor: 233,
    });
  });

  it('that are not of credits are left alone', async () => {
    const made = await world.page({ tenant_id: tenant, credits: 1_000 });
    const session = { ...world.stripe.sessions.get(made)!, metadata: {} };
    world.stripe.sessions.set(made, session);
    world.stripe.refund(world.stripe.pay(made), 500);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await world.grants(tenant)).to.deep.equal([]);
  });

  it('that somebody else recorded are refunded too', async () => {
    const made = await world.page({ tenant_id: tenant, credits: 1_000 });
    world.stripe.sessions.set(made, { ...world.stripe.sessions.get(made)!, metadata: {} });
    const intent = world.stripe.pay(made);
    const json = {
      tenant_id: tenant,
      provider: 'stripe',
      provider_txn_id: intent,
      gross_amount_minor: 1_000,
    };
    expect((await world.api.call('post', '/v1/billing/credits', { json })).status).to.equal(200);
    world.stripe.refund(intent, 400);
    expect(all(await world.deliverAll(), 200)).to.equal(true);
    expect(await world.balance(tenant)).to.equal(600);
  });

  it('whose amount the price list contradicts are credited to nobody, and told to a person', async () => {
    const metadata = { quire_tenant_id: tenant, quire_credits: '200000' };
    world.stripe.invoice({ currency: 'usd', total: 2_000, metadata });
    expect(all(await world.deliverAll(), 422)).to.equal(true);
    expect(world.logged.at(-1)).to.include({ level: 'error' });
    expect(world.logged.at(-1)?.text).to.match(/needs a person: price_mismatch/);
    expect(await world.grants(tenant)).to.deep.equal([]);
  });
});
