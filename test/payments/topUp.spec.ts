import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import Stripe from 'stripe';
import { signedHeaders } from '../../src/commands/webhooks.ts';
import { sidesOf } from '../../src/payments/runPayments.ts';
import { topUp } from '../../src/payments/topUp.ts';
import { LOW_BALANCE_SECRET, newTenant, startWorld, type World } from './world.ts';

const HOUR_MS = 3_600_000;

describe('top-ups', () => {
  let world: World;
  let tenant: string;

  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  /** The clock of the service, and of everything that is right. */
  const nowMs = () => Date.parse(world.api.deps.clock.now());
  beforeEach(async () => {
    tenant = newTenant();
    await world.restart();
    world.stripe.take();
    world.stripe.declines = false;
    world.stripe.isSlow = false;
    world.stripe.nowMs = nowMs;
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
  const message = (secret = LOW_BALANCE_SECRET, atMs = world.stripe.nowMs()): RequestInit => {
    const body = JSON.stringify({ type: 'balance.low', tenant_id: tenant, data: { balance_credits: 1 } });
    const timestamp = Math.floor(atMs / 1000);
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
  const allCharges = () =>
    [...world.stripe.intents.values()].filter(
      ({ metadata, status }) => metadata['quire_top_up'] === tenant && status === 'succeeded',
    );
  const lastAttempt = async (): Promise<unknown> =>
    (await world.api.call('get', `/v1/billing/top-up/${tenant}`)).body['last_attempt'];
  const charges = () => allCharges().filter(({ customer }) => customer === `cus_${tenant}`);

  it('buy what the payer agreed to, by the price list, once the balance is low', async () => {
    await agreed();
    expect(await told()).to.equal('200 charged');
    expect(charges().map(({ amount, currency }) => [amount, currency])).to.deep.equal([[5_000, 'usd']]);
    const [sale, ...others] = await world.grants(tenant);
    expect(others).to.deep.equal([]);
    expect(sale).to.include({ credits: 5_000, gross_amount_minor: 5_000, provider_fee_minor: 175 });
    expect(sale).to.include({ provider_txn_id: charges()[0]?.id });
    expect(await lastAttempt()).to.deep.include({
      outcome: 'charged',
      provider_txn_id: charges()[0]?.id,
      next_attempt_at: null,
    });
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
    const began = nowMs();
    const at = (hours: number) => {
      world.api.wait(began + hours * HOUR_MS - nowMs());
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
    world.stripe.declines = true;
    expect(await told()).to.equal('503 declined');
    world.stripe.declines = false;
    world.api.wait(2 * HOUR_MS);
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

  it('buy once where another buys and books between the look at the balance and the look at Stripe', async () => {
    await agreed();
    const sides = sidesOf(world.config);
    let looks = 0;
    /** All of another top-up happens once this one has seen a low balance. */
    const getTopUp: typeof sides.quire.getTopUp = async (asked) => {
      const seen = await sides.quire.getTopUp(asked);
      looks += 1;
      if (looks === 1) expect(await told()).to.equal('200 charged');
      return seen;
    };
    expect(await topUp({ ...sides, quire: { ...sides.quire, getTopUp } }, tenant)).to.equal('not_due');
    expect(charges()).to.have.length(1);
    expect(await world.balance(tenant)).to.equal(5_000);
  });

  it('buy once where the first consent is replaced while another charges by it', async () => {
    await agreed();
    const sides = sidesOf(world.config);
    /** The consent changes, and another process tops up by the new one, as this one is about to charge. */
    const getCreditPrices: typeof sides.quire.getCreditPrices = async (...asked) => {
      await agreed({ credits: 6_000 });
      expect(await told()).to.equal('200 charged');
      return sides.quire.getCreditPrices(...asked);
    };
    const late = topUp({ ...sides, quire: { ...sides.quire, getCreditPrices } }, tenant);
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(
      Stripe.errors.StripeIdempotencyError,
    );
    expect(charges().map(({ amount }) => amount)).to.deep.equal([6_000]);
  });

  it('buy nothing on an old look, where the process stood still for a day before it charged', async () => {
    await agreed();
    const sides = sidesOf(world.config);
    const { now } = Date;
    /** Stripe has forgotten the key by then: another may have charged with the same. */
    const getCreditPrices: typeof sides.quire.getCreditPrices = async (...asked) => {
      const list = await sides.quire.getCreditPrices(...asked);
      Date.now = () => now() + 25 * HOUR_MS;
      return list;
    };
    const late = topUp({ ...sides, quire: { ...sides.quire, getCreditPrices } }, tenant);
    expect(await late.finally(() => (Date.now = now))).to.equal('waits');
    expect(charges()).to.deep.equal([]);
    expect(await told()).to.equal('200 charged');
  });

  it('buy no more than a month has room for, also when another pays', async () => {
    await agreed();
    expect(await told()).to.equal('200 charged');
    await adjusted(-4_600);
    await agreed({ payer: `cus_other_${tenant}` });
    expect(await told()).to.equal('200 charged');
    await adjusted(-4_600);
    expect(await told()).to.equal('200 limit');
    const limited = await lastAttempt();
    expect(limited).to.deep.include({ outcome: 'limit', provider_txn_id: null });
    expect(await told()).to.equal('200 limit');
    expect(await lastAttempt()).to.deep.equal(limited);
    await agreed();
    expect(await lastAttempt(), 'of another consent').to.equal(null);
    expect(await told()).to.equal('200 limit');
    expect(await lastAttempt()).to.deep.include({ outcome: 'limit', provider_txn_id: null });
    expect(allCharges()).to.have.length(2);
  });

  it('buy though a payer that was named by mistake is no customer at Stripe', async () => {
    const mistaken = `cus_typo_${tenant}`;
    world.stripe.unknown.add(mistaken);
    await agreed({ payer: mistaken });
    expect(await told()).to.equal('422 needs_a_person');
    expect(await lastAttempt()).to.deep.include({ outcome: 'needs_a_person', reason: 'resource_missing' });
    await agreed();
    expect(await told()).to.equal('200 charged');
    expect(charges()).to.have.length(1);
  });

  it('buy again in the next month, by the clock of the service and not by one that is a month ahead', async () => {
    await agreed();
    for (const expected of ['200 charged', '200 charged', '200 limit']) {
      expect(await told()).to.equal(expected);
      if (expected === '200 charged') await adjusted(-4_600);
    }
    const ahead = { nowMs: () => nowMs() + 32 * 24 * HOUR_MS };
    await world.restart(ahead);
    const signedThen = message(LOW_BALANCE_SECRET, ahead.nowMs());
    expect(await told(signedThen)).to.equal('200 limit');
    await world.restart();
    world.api.wait(32 * 24 * HOUR_MS);
    expect(await told()).to.equal('200 charged');
    expect(charges()).to.have.length(3);
  });

  it('wait for a charge that is paid later, and book it though the consent was taken back meanwhile', async () => {
    await agreed();
    world.stripe.isSlow = true;
    expect(await told()).to.equal('503 waits');
    expect(await told()).to.equal('503 waits');
    const [slow, ...more] = [...world.stripe.intents.values()].filter(
      ({ metadata }) => metadata['quire_top_up'] === tenant,
    );
    expect(more).to.deep.equal([]);
    await agreed({ active: false });
    world.stripe.arriveIntent(slow?.id ?? '');
    // Stripe's own message of it is lost.
    expect(await told()).to.equal('200 charged');
    expect(await lastAttempt()).to.deep.include({ outcome: 'charged', provider_txn_id: slow?.id });
    expect(await world.balance(tenant)).to.equal(5_000);
    expect(await told()).to.equal('200 not_due');
  });

  it('buy nothing for a tenant that was erased, until somebody new agrees to pay', async () => {
    await agreed();
    expect((await world.api.call('delete', `/v1/admin/tenants/${tenant}/data`)).status).to.equal(202);
    expect(await told()).to.equal('200 not_due');
    const path = `/v1/billing/top-up/${tenant}`;
    const left = await world.api.call('get', path);
    expect(left.body).to.include({ active: false, payer: null, payment_method: null, credits: 5_000 });
    expect(left.text).not.to.include('quire:text:');
    await agreed();
    expect(await told()).to.equal('200 charged');
    expect((await world.api.call('get', path)).body).to.deep.include({ active: true, former_payers: [] });
  });

  it('buy nothing at a price that Stripe cannot charge, and say so', async () => {
    await agreed({ currency: 'KWD' });
    expect(await told()).to.equal('422 needs_a_person');
    expect(world.logged.at(-1)?.text).to.include('Stripe charges KWD in steps of 10 minor units');
    const trouble = { outcome: 'needs_a_person', reason: 'price_not_chargeable', next_attempt_at: null };
    expect(await lastAttempt()).to.deep.include(trouble);
    expect(charges()).to.deep.equal([]);
    await agreed({ currency: 'KWD', credits: 6_000 });
    expect(await told()).to.equal('200 charged');
    expect(charges().map(({ amount, currency }) => [amount, currency])).to.deep.equal([[18_450, 'kwd']]);
    expect((await world.grants(tenant))[0]).to.include({ currency: 'KWD', gross_amount_minor: 18_450 });
  });

  it('believe no message but the service’s, and no old one', async () => {
    await agreed();
    const forged = message(`whsec_${Buffer.from('a secret of somebody else entirely').toString('base64')}`);
    expect(await told(forged)).to.equal('400 wrong_signature');
    const recorded = message();
    world.stripe.nowMs = () => nowMs() + 301_000;
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
