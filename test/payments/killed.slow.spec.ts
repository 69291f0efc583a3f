import { expect } from 'chai';
import { until } from '../../engine/test/support/until.ts';
import { freePort } from '../support/freePort.ts';
import { runCommand, startCommand, type RunningCommand } from '../support/quireCommand.ts';
import type { Delivery } from './stripeDouble.ts';
import { CHECKOUT_TOKEN, newTenant, startWorld, type World } from './world.ts';

const PAYMENTS = 12;

describe('quire payments serve', () => {
  let world: World;
  let running: RunningCommand | undefined;
  let port = 0;

  const env = () => ({
    QUIRE_URL: world.config.url,
    QUIRE_API_KEY: world.config.key,
    CHECKOUT_TOKEN,
    STRIPE_SECRET_KEY: world.config.stripeKey,
    STRIPE_API_URL: world.config.stripeUrl,
    STRIPE_WEBHOOK_SECRET: world.config.webhookSecrets.join(','),
  });
  const url = (path: string) => `http://127.0.0.1:${port}${path}`;
  const start = async () => {
    running = startCommand(env(), ['payments', 'serve', '--port', String(port)]);
    await until(async () => (await fetch(url('/health')).catch(() => undefined))?.status === 200);
  };
  const kill = async (signal: NodeJS.Signals) => {
    running?.child.kill(signal);
    return running?.done;
  };

  before(async () => {
    world = await startWorld();
    port = await freePort();
    await start();
  });
  after(async () => {
    await kill('SIGKILL');
    await world.stop();
  });

  it('says what it lacks', async () => {
    const { QUIRE_API_KEY: _, ...rest } = env();
    const lacking = await runCommand({ ...rest, STRIPE_SECRET_KEY: 'pk_test_public' }, 'payments', 'serve');
    expect(lacking.err).to.include('STRIPE_SECRET_KEY must be a secret or restricted key of Stripe');
    expect(lacking.err).to.include('QUIRE_API_KEY');
    expect(lacking.code).to.be.above(0);
  });

  it('books each payment once, though it is killed in the middle of its work', async () => {
    const tenant = newTenant();
    const waiting: Delivery[] = [];
    for (let n = 0; n < PAYMENTS; n += 1) {
      const intent = world.stripe.pay(await world.page({ tenant_id: tenant, credits: 1_000 }));
      if (n % 3 === 0) world.stripe.refund(intent, 500);
      waiting.push(...world.stripe.take());
    }
    const send = async (event: Delivery): Promise<Delivery | undefined> => {
      const answer = await fetch(url('/webhooks/stripe'), world.stripe.signed(event)).catch(() => undefined);
      return answer?.status === 200 ? undefined : event;
    };
    let kills = 0;
    while (waiting.length > 0) {
      const all = waiting.splice(0, 10).map(send);
      if (kills < 3) {
        await Promise.race(all);
        await kill('SIGKILL');
        kills += 1;
        await start();
      }
      waiting.push(...(await Promise.all(all)).flatMap((event) => event ?? []));
    }
    const grants = await world.grants(tenant);
    expect(grants.filter(({ kind }) => kind === 'sale')).to.have.length(PAYMENTS);
    expect(grants.filter(({ kind }) => kind === 'refund')).to.have.length(4);
    expect(await world.balance(tenant)).to.equal(PAYMENTS * 1_000 - 4 * 500);
  });

  it('finishes what runs when it is stopped, and writes no secret', async () => {
    const tenant = newTenant();
    world.stripe.pay(await world.page({ tenant_id: tenant, credits: 1_000 }));
    const [event] = world.stripe.take();
    const asked = () => world.stripe.asked.get('GET payment_intents/one') ?? 0;
    const before = asked();
    const sent = fetch(url('/webhooks/stripe'), world.stripe.signed(event!));
    await until(() => asked() > before);
    const ended = await kill('SIGTERM');
    expect((await sent).status).to.equal(200);
    expect(await world.balance(tenant)).to.equal(1_000);
    for (const secret of [world.config.key, world.config.stripeKey, CHECKOUT_TOKEN])
      expect(`${ended?.out ?? ''}${ended?.err ?? ''}`).not.to.include(secret);
  });
});
