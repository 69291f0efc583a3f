import { expect } from 'chai';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import { placesStream } from '../../../domain/places.ts';
import { ABANDONED_AFTER_MS, takePlace } from '../../../src/writer/places.ts';
import { WEBHOOKS_MAX } from '../../../src/commands/webhooks.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { webhookBench, type WebhookBench } from '../../support/webhookBench.ts';

describe('webhooks of a tenant', () => {
  let bench: WebhookBench;
  beforeEach(async () => {
    bench = await webhookBench();
  });
  afterEach(() => bench.dispose());

  const outcome = async (tenant = 'acme'): Promise<string> => {
    const made = await bench.create(tenant);
    return made.kind === 'problem' ? made.code : made.outcome.kind;
  };
  /** As far as a process gets that dies before it creates what it has a place for. */
  const takeOnly = (webhook_id: string) =>
    takePlace(bench, {
      tenant_id: 'acme',
      thing: 'webhooks',
      name: webhook_id,
      max: WEBHOOKS_MAX,
      meta: bench.meta,
      isOver: () => Promise.resolve(false),
    });

  it('have each one of so many places, which is free when they are removed', async () => {
    const first = await bench.told('acme');
    for (let at = 1; at < WEBHOOKS_MAX; at += 1) await bench.told('acme');
    expect(await outcome()).to.equal('too_many_webhooks');
    expect(await outcome('other'), 'of its own').to.equal('done');
    await bench.webhooks.remove(first, bench.meta());
    expect(await outcome()).to.equal('done');
    expect(await outcome()).to.equal('too_many_webhooks');
  });

  it('that were never created lose their place after a while, and are not created then', async () => {
    await takeOnly('wh_lost');
    for (let at = 1; at < WEBHOOKS_MAX; at += 1) await bench.told('acme');
    expect(await outcome(), 'it may still be created').to.equal('too_many_webhooks');
    bench.time.now = laterBy(bench.time.now, ABANDONED_AFTER_MS);
    expect(await outcome()).to.equal('done');
    const name = { webhook_id: 'wh_lost', tenant_id: 'acme' };
    const data = { ...name, ...bench.settings('https://hooks.example.com'), secret_id: 'sec_1' };
    const late = await bench.streams.handle(name, { type: 'CreateWebhook', data, meta: bench.meta() });
    expect(late).to.have.nested.property('rejection.code', 'webhook_not_found');
    expect(await outcome()).to.equal('too_many_webhooks');
  });

  it('have their place as of when it is taken, however long their request stood still', async () => {
    const meta = bench.meta();
    bench.time.now = laterBy(bench.time.now, ABANDONED_AFTER_MS);
    await bench.webhooks.create('acme', bench.settings('https://hooks.example.com'), meta);
    const [taken] = await eventsOf(bench.store, placesStream({ tenant_id: 'acme', thing: 'webhooks' }));
    expect(taken?.data).to.include({ taken_at: bench.time.now });
  });

  it('that are created as their place is wanted keep it', async () => {
    await takeOnly('wh_late');
    for (let at = 1; at < WEBHOOKS_MAX; at += 1) await bench.told('acme');
    bench.time.now = laterBy(bench.time.now, ABANDONED_AFTER_MS);
    const name = { webhook_id: 'wh_late', tenant_id: 'acme' };
    const data = { ...name, ...bench.settings('https://hooks.example.com'), secret_id: 'sec_1' };
    const [late, wanted] = await Promise.all([
      bench.streams.handle(name, { type: 'CreateWebhook', data, meta: bench.meta() }),
      outcome(),
    ]);
    const both = `${late.kind}, ${wanted}`;
    expect(both, 'never both').to.be.oneOf(['done, too_many_webhooks', 'rejected, done']);
  });
});
