import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { signedHeaders } from '../../src/commands/webhooks.ts';
import { sidesOf } from '../../src/payments/runPayments.ts';
import { LOW_BALANCE_SECRET, newTenant, startWorld, type World } from './world.ts';

const HOUR_MS = 3_600_000;

describe('top-ups', () => {
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
    world.stripe.declines = false;
    world.stripe.nowMs = () => Date.now();
    await world.api.newKey(tenant);
  });

  /** 5,000 credits for 50 dollars whenever there are fewer than 1,000, and at most 12,000 a month. */
  const agreed = async (changes: object = {}): Promise<void> => {
    const json = {
      active: true,
      threshold_credits: 1_000,
      credits: 5_000,
      currency: 'USD',
      monthly_credits_max: 12_000,
      payer: `cus_${tenant}`,
      payment_method: 'pm_card',
      ...changes,
    };
    const set = await world.api.call('put', `/v1/billing/top-up/${tenant}`, { json });
    expect(set.status, set.text).to.equal(200);
  };
  const adjusted = async (credits: number) => {
    const json = { credits, reason: 'spec' };
    const path = `/v1/admin/tenants/${tenant}/adjust-credits`;
    expect((await world.api.call('post', path, { json })).status).to.equal(200);
  };
  /** The service says that the balance is low: each message has an ID of its own. */
  const message = (secret = LOW_BALANCE_SECRET): RequestInit => {
    const body = JSON.stringify({ type: 'balance.low', tenant_id: tenant, data: { balance_credits: 1 } });
    const timestamp = Math.floor(world.stripe.nowMs() / 1000);
    return { method: 'POST', headers: signedHeaders({ id: randomUUID(), timestamp, body }, [secret]), body };
  };
  const told = async (sent = message()): Promise<string> => {
    const answer = await fetch(`${world.url()}/webhooks/quire`, sent);
    const { outcome, error } = (await answer.json()) as {
      readonly outcome?: string;
      readonly error?: string;
    };
    return `${answer.status} ${outcome ?? error ?? ''}`;
  };
  const charges = () =>
    [...world.stripe.intents.values()].filter(
      ({ customer, status }) => customer === `cus_${tenant}` && status === 'succeeded',
    );

  it('buy what the payer agreed to, by the price list, once the balance is low', async () => {
    await agreed();
    expect(await told()).to.equal('200 charged');
    expect(charges().map(({ amount, currency }) => [amount, currency])).to.deep.equal([[5_000, 'usd']]);
    const [sale, ...others] = await world.grants(tenant);
    expect(others).to.deep.equal([]);
    expect(sale).to.include({ credits: 5_000, gross_amount_minor: 5_000, provider_fee_minor: 175 });
    expect(sale).to.include({ provider_txn_id: charges()[0]?.id });
    expect(new Set(await world.deliverAll())).to.deep.equal(new Set([200]));
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('buy once, however often and at whatever moment they are told', async () => {
    await agreed();
    const answers = await Promise.all(Array.from({ length: 6 }, () => told()));
    expect(answers).to.include('200 charged');
    expect(await told()).to.equal('200 not_due');
    expect(charges()).to.have.length(1);
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('buy once where the process dies between the charge and the books', async () => {
    await agreed();
    const sides = sidesOf(world.config);
    const addCredits = () => Promise.reject(new Error('the process is dead'));
    await world.restart({ quire: { ...sides.quire, addCredits } });
    expect(await told()).to.equal('503 try_again');
    expect(await world.balance(tenant)).to.equal(0);
    await world.restart();
    expect(await told()).to.equal('200 charged');
    expect(charges()).to.have.length(1);
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('buy again when the balance is low again, and no more than a month has room for', async () => {
    await agreed();
    for (const expected of ['200 charged', '200 charged', '200 limit']) {
      expect(await told()).to.equal(expected);
      if (expected === '200 charged') await adjusted(-4_600);
    }
    expect(charges()).to.have.length(2);
  });

  it('wait after a decline, each time longer, and stop after the fourth', async () => {
    await agreed();
    const began = Date.now();
    const at = (hours: number) => {
      world.stripe.nowMs = () => began + hours * HOUR_MS;
      return told();
    };
    world.stripe.declines = true;
    expect(await at(0)).to.equal('503 declined');
    expect(await at(0.9)).to.equal('503 waits');
    expect(await at(1.1)).to.equal('503 declined');
    expect(await at(7)).to.equal('503 waits');
    expect(await at(7.2)).to.equal('503 declined');
    expect(await at(31)).to.equal('503 waits');
    expect(await at(31.3)).to.equal('503 declined');
    world.stripe.declines = false;
    expect(await at(60)).to.equal('200 stopped');
    expect(world.logged.at(-1)).to.deep.equal({ level: 'error', text: 'a balance is low: stopped' });
    expect(charges()).to.deep.equal([]);
  });

  it('begin afresh with the next try after a decline', async () => {
    await agreed();
    const began = Date.now();
    world.stripe.declines = true;
    expect(await told()).to.equal('503 declined');
    world.stripe.declines = false;
    world.stripe.nowMs = () => began + 2 * HOUR_MS;
    expect(await told()).to.equal('200 charged');
    expect(charges()).to.have.length(1);
  });

  it('buy nothing without consent, after it was taken back, and while there is enough', async () => {
    expect(await told()).to.equal('200 not_due');
    await agreed({ active: false });
    expect(await told()).to.equal('200 not_due');
    await agreed();
    await adjusted(1_000);
    expect(await told()).to.equal('200 not_due');
    expect(charges()).to.deep.equal([]);
  });

  it('believe no message but the service’s, and no old one', async () => {
    await agreed();
    const forged = message(`whsec_${Buffer.from('a secret of somebody else entirely').toString('base64')}`);
    expect(await told(forged)).to.equal('400 wrong_signature');
    const recorded = message();
    world.stripe.nowMs = () => Date.now() + 301_000;
    expect(await told(recorded)).to.equal('400 wrong_signature');
    expect(charges()).to.deep.equal([]);
  });

  it('follow the service’s own webhook', async () => {
    await agreed();
    await adjusted(2_000);
    const secrets = [LOW_BALANCE_SECRET];
    await world.restart({ lowBalanceSecrets: secrets });
    const json = {
      tenant_id: tenant,
      url: `${world.url()}/webhooks/quire`,
      events: ['balance.low'],
      low_balance_credits: 1_000,
    };
    const made = await world.api.call('post', '/v1/webhooks', { json });
    expect(made.status, made.text).to.equal(201);
    secrets.push(String(made.body['secret']));
    await adjusted(-1_500);
    await world.api.deps.reads.settleAll();
    await world.api.webhooks.drain();
    expect(await world.balance(tenant)).to.equal(5_500);
    expect(charges()).to.have.length(1);
  });
});
