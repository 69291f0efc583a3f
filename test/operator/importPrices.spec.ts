import { expect } from 'chai';
import { systemClock } from '../../adapters/local/local.ts';
import { packagedPrices } from '../../adapters/prices.ts';
import { priceFor, PROVIDER_PRICING_STREAM, type TablePrice } from '../../domain/modelPrices.ts';
import { referenceData } from '../../src/commands/reference.ts';
import { importPrices, type PriceChange } from '../../src/operator/records.ts';
import { eventsOf } from '../support/logs/eventLogs.ts';
import { memoryEventStore } from '../support/logs/memoryEventStore.ts';

const price = (model_name: string, input: string): TablePrice => ({
  provider: 'openai',
  model_name,
  input_usd_per_million_tokens: input,
  output_usd_per_million_tokens: '10.00',
  cached_input_usd_per_million_tokens: null,
  usd_per_page: null,
});

const importing = () => {
  const store = memoryEventStore();
  const reference = referenceData({ store });
  const changes: PriceChange[] = [];
  const steps: string[] = [];
  const take = (prices: readonly TablePrice[], over: { effective_from?: string; dry_run?: boolean } = {}) =>
    importPrices(
      { reference, clock: systemClock() },
      { prices, effective_from: null, dry_run: false, ...over },
      {
        change: (change) => Promise.resolve(void changes.push(change)),
        progress: (done, of) => Promise.resolve(void steps.push(`${String(done)}/${String(of)}`)),
      },
    );
  return { store, reference, changes, steps, take, events: () => eventsOf(store, PROVIDER_PRICING_STREAM) };
};

describe('importing model prices', () => {
  it('publishes what is new in one append, and nothing the second time', async () => {
    const { store, take, events } = importing();
    const prices = [price('a', '2.50'), price('b', '1.00')];
    const before = store.appends.length;
    expect(await take(prices)).to.include({ prices: 2, added: 2, changed: 0, unchanged: 0 });
    expect(store.appends.length - before).to.equal(1);
    expect(await take([price('a', '2.5'), price('b', '1')])).to.include({ added: 0, unchanged: 2 });
    expect(await events()).to.have.length(2);
    expect(store.appends.length - before).to.equal(1);
  });

  it('publishes a change from its time on, and leaves what was before', async () => {
    const { take, reference, events } = importing();
    await take([price('a', '2.50')], { effective_from: '2026-01-01T00:00:00.000Z' });
    const from = '2026-06-01T00:00:00.000Z';
    expect(await take([price('a', '2.00')], { effective_from: from })).to.include({ changed: 1 });
    expect(await events()).to.have.length(2);
    const { prices } = await reference.modelPrices();
    const at = (occurred_at: string) =>
      priceFor(prices, { provider: 'openai', model_name: 'a', occurred_at })?.input_usd_per_million_tokens;
    expect([at('2026-05-31T23:59:59.999Z'), at(from)]).to.deep.equal(['2.50', '2.00']);
  });

  it('publishes nothing in a dry run, and says what it would', async () => {
    const { take, changes, events } = importing();
    await take([price('a', '2.50'), price('b', '1.00')]);
    const report = await take([price('a', '2.00'), price('b', '1.00'), price('c', '3.00')], {
      dry_run: true,
    });
    expect(report).to.include({ added: 1, changed: 1, unchanged: 1, dry_run: true });
    expect(changes.map(({ news, price: { model_name } }) => [news, model_name])).to.deep.equal([
      ['changed', 'a'],
      ['added', 'c'],
    ]);
    expect(await events()).to.have.length(2);
  });

  it('takes a model of a table once', async () => {
    const { take } = importing();
    expect(await take([price('a', '2.50'), price('a', '9.00')])).to.include({ prices: 1, added: 1 });
    expect(await take([price('a', '2.50')])).to.include({ unchanged: 1 });
  });

  it('takes the whole packaged table in a few appends, once', async () => {
    const { store, take, steps } = importing();
    const prices = await packagedPrices('2026-11-21');
    const before = store.appends.length;
    expect(await take(prices)).to.include({ added: prices.length });
    expect(store.appends.length - before).to.equal(Math.ceil(prices.length / 500));
    expect(steps.at(-1)).to.equal(`${String(prices.length)}/${String(prices.length)}`);
    expect(await take(prices)).to.include({ added: 0, changed: 0, unchanged: prices.length });
  });
});
