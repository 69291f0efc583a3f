import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { seededRandom, type Random } from '../../engine/test/support/random.ts';
import { Quire } from '../../sdk/src/index.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import type { Delivery } from './stripeDouble.ts';
import { newTenant, startWorld, type Grant, type World } from './world.ts';

const SEED = Number(process.env['SEED'] ?? randomInt(1, 1e9));
const PAYMENTS = Number(process.env['PAYMENTS'] ?? 45);
const DELIVERIES_MIN = 300;
const AT_ONCE = 6;
/** Further from the clock of the process, a signature counts as recorded. */
const SKEW_SECONDS = 240;

const CURRENCIES = ['USD', 'EUR', 'JPY', 'ISK'] as const;
/** Stripe's smallest amount that the books can have: it sends krónur in hundredths. */
const UNIT: Readonly<Record<string, number>> = { isk: 100 };

const chance = (random: Random, percent: number): boolean => random.between(1, 100) <= percent;

/** What became of a payment at Stripe: minor units of the books. */
interface Fate {
  readonly tenant: string;
  readonly credits: number;
  readonly intent: string;
  readonly isPaid: boolean;
}

/** The process dies at a call of the service, before it is sent or before its answer is read, and is started again. */
const mortal = (world: World, random: Random) => {
  let callsLeft = Infinity;
  let isDead = false;
  const connection: typeof fetch = async (...args) => {
    if (isDead) throw new Error('the process is dead');
    callsLeft -= 1;
    if (callsLeft > 0) return fetch(...args);
    isDead = true;
    if (chance(random, 50)) await fetch(...args);
    throw new Error('the process is dead');
  };
  const { url, key } = world.config;
  return {
    quire: new Quire({ url, key, fetch: connection, patience: { attempts: 1 } }).api,
    dieAfter: (calls: number) => {
      callsLeft = calls;
    },
    start: () => {
      callsLeft = Infinity;
      isDead = false;
    },
  };
};

/** Gives money back, in parts of which some fail; what is left of it. */
function* refundsOf(world: World, random: Random, fate: Fate & { readonly unit: number }) {
  const { stripe } = world;
  const { intent, unit } = fate;
  let left = stripe.intents.get(intent)!.amount / unit;
  for (let n = random.between(0, 3); n > 0 && left > 0; n -= 1) {
    const amount = chance(random, 30) ? left : random.between(1, left);
    const fails = chance(random, 30);
    const refund = stripe.refund(intent, amount * unit, fails ? 'pending' : 'succeeded');
    yield undefined;
    if (fails) stripe.changeRefund(refund, 'failed');
    else left -= amount;
  }
  return left;
}

/** What payers, banks and the shop do to one payment, one thing after the other. */
async function* lifeOf(
  world: World,
  random: Random,
  tenant: string,
): AsyncGenerator<Fate | undefined, undefined> {
  const { stripe } = world;
  const currency = random.pick(CURRENCIES);
  const credits = random.between(1, 40) * 1_000;
  const coupon = chance(random, 20) ? { coupon: 'TENTH' } : {};
  const session = await world.page({ tenant_id: tenant, credits, currency, ...coupon });
  const isSlow = chance(random, 20);
  const intent = stripe.pay(session, { isSlow, feeKnown: chance(random, 70) });
  yield undefined;
  const isPaid = !isSlow || chance(random, 70);
  if (isSlow) stripe.arrive(session, { isPaid });
  const fate = { tenant, credits, intent, isPaid };
  yield fate;
  if (!isPaid) return;
  stripe.feeBecomesKnown(intent);
  const unit = UNIT[currency.toLowerCase()] ?? 1;
  const left = yield* refundsOf(world, random, { ...fate, unit });
  if (left === 0 || !chance(random, 25)) return;
  const dispute = stripe.dispute(intent, left * unit);
  yield undefined;
  if (chance(random, 70)) stripe.closeDispute(dispute, random.pick(['won', 'lost'] as const));
}

/** Deliveries that are lost, doubled, late, in disorder, of clocks that are wrong, and cut off by deaths. */
class Post {
  readonly #waiting: Delivery[] = [];
  delivered = 0;
  deaths = 0;
  readonly #world: World;
  readonly #random: Random;
  readonly #process: ReturnType<typeof mortal>;

  constructor(world: World, random: Random, process: ReturnType<typeof mortal>) {
    this.#world = world;
    this.#random = random;
    this.#process = process;
  }

  async #send(event: Delivery): Promise<boolean> {
    const at = Math.floor(Date.now() / 1000) + this.#random.between(-SKEW_SECONDS, SKEW_SECONDS);
    this.delivered += 1;
    return (await this.#world.deliver(event, this.#world.stripe.signed(event, at))) === 200;
  }

  /** Sends some of what waits; `isCalm`: nothing goes wrong. */
  async round(isCalm: boolean): Promise<void> {
    const random = this.#random;
    this.#waiting.push(...this.#world.stripe.take());
    const batch: Delivery[] = [];
    while (batch.length < AT_ONCE && this.#waiting.length > 0)
      batch.push(...this.#waiting.splice(random.between(0, this.#waiting.length - 1), 1));
    const dies = !isCalm && chance(random, 25);
    if (dies) this.#process.dieAfter(random.between(1, 20));
    const lost = batch.map(() => !isCalm && chance(random, 10));
    const taken = await Promise.all(
      batch.map(async (event, at) => lost[at] !== true && (await this.#send(event))),
    );
    if (dies) {
      this.deaths += 1;
      this.#process.start();
    }
    for (const [at, event] of batch.entries())
      if (taken[at] !== true || (!isCalm && chance(random, 25))) this.#waiting.push(event);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#world.stripe.events.length === 0;
  }
}

const sumOf = (grants: readonly Grant[], member: string): number =>
  grants.reduce((sum, grant) => sum + Number(grant[member]), 0);

describe('deliveries that are lost, doubled, late and cut off', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** The books of one payment are what Stripe has of it. */
  const check = (grants: readonly Grant[], { intent, credits, isPaid }: Fate): number => {
    const { stripe } = world;
    const { amount, currency, latest_charge } = stripe.intents.get(intent)!;
    const unit = UNIT[currency] ?? 1;
    const [sale, ...doubled] = grants.filter(
      (one) => one['provider_txn_id'] === intent && one['kind'] === 'sale',
    );
    expect(doubled, intent).to.deep.equal([]);
    if (!isPaid) {
      expect(sale, intent).to.equal(undefined);
      return 0;
    }
    expect(sale, intent).to.include({ credits, gross_amount_minor: amount / unit });
    const payout = latest_charge?.balance_transaction?.payout;
    expect(sale?.['payout_id'], intent).to.equal(payout);
    expect(sale?.['provider_fee_minor'], intent).to.be.above(0);
    const mine = grants.filter((one) => one['original_grant_id'] === sale?.['grant_id']);
    const moneyBack = (kind: string) =>
      sumOf(
        mine.filter((one) => one['kind'] === kind),
        'gross_amount_minor',
      );
    const returned = moneyBack('refund') + moneyBack('dispute') - moneyBack('reversal');
    const real = [...stripe.refunds.values(), ...stripe.disputes.values()]
      .filter((one) => one.payment_intent === intent && !['failed', 'won'].includes(one.status))
      .reduce((sum, one) => sum + one.amount, 0);
    expect(returned, intent).to.equal(real / unit);
    const left = credits + sumOf(mine, 'credits');
    // Each part is rounded down by itself: a credit of it may stay.
    const share = (credits * (amount - real)) / amount;
    expect(left - share, intent).to.be.within(-0.001, real === amount ? 0 : mine.length);
    return left;
  };

  it(`leave credits and books exact (seed ${String(SEED)})`, async function () {
    this.timeout(Math.max(180_000, PAYMENTS * 4_000));
    const random = seededRandom(SEED);
    const process = mortal(world, random);
    await world.restart({ quire: process.quire });
    const post = new Post(world, random, process);
    const tenants = Array.from({ length: 5 }, newTenant);
    const lives = Array.from({ length: PAYMENTS }, () => lifeOf(world, random, random.pick(tenants)));
    const fates: Fate[] = [];
    while (lives.length > 0) {
      const at = random.between(0, Math.min(lives.length, 10) - 1);
      const { value, done } = await lives[at]!.next();
      if (done === true) lives.splice(at, 1);
      else if (value !== undefined) fates.push(value);
      if (chance(random, 5)) world.stripe.payOut();
      await post.round(false);
    }
    world.stripe.payOut();
    while (!post.isEmpty) await post.round(post.delivered > DELIVERIES_MIN);
    expect(fates).to.have.length(PAYMENTS);
    expect(post.delivered).to.be.at.least(DELIVERIES_MIN);
    expect(post.deaths).to.be.above(0);
    for (const tenant of tenants) {
      const grants = await allGrants(tenant);
      const left = fates.filter((one) => one.tenant === tenant).map((fate) => check(grants, fate));
      expect(await world.balance(tenant)).to.equal(left.reduce((sum, one) => sum + one, 0));
    }
    const { report } = await runAudit({ feed: world.api.log, dense: true });
    expect(report.findings).to.deep.equal([]);
    const { deaths, delivered } = post;
    console.log(`        ${delivered} deliveries of ${PAYMENTS} payments, ${deaths} deaths`);
  });

  const allGrants = async (tenant: string): Promise<readonly Grant[]> => {
    const all: Grant[] = [];
    for (let offset = 0; ; offset += 100) {
      const { body } = await world.api.call('get', `/v1/billing/grants/${tenant}?limit=100&offset=${offset}`);
      const items = (body['items'] ?? []) as readonly Grant[];
      all.push(...items);
      if (items.length < 100) return all;
    }
  };
});
