import { expect } from 'chai';
import { activeBillingConfig } from '../../../domain/billingConfig.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { activePriceList, PRICE_LIST_STREAM, type PublishPriceList } from '../../../domain/priceList.ts';
import { referenceData } from '../../../src/commands/reference.ts';
import { metaOf, NOW } from '../../support/money/accountCommands.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { memoryEventStore } from '../../support/logs/memoryEventStore.ts';

const publication = (price: string, expected_version: number | null): PublishPriceList => ({
  type: 'PublishPriceList',
  data: {
    entries: [
      { currency: 'EUR', price_per_1000_credits: price, tax_basis: 'exclusive', minor_unit_digits: 2 },
    ],
    expected_version,
    note: null,
  },
  meta: metaOf(),
});

describe('reference data', () => {
  it('publishes the first price list and billing config once, whoever starts', async () => {
    const store = memoryEventStore();
    const processes = [1, 2, 3].map(() => referenceData({ store }));
    await Promise.all(processes.map((one) => one.ensureDefaults(NOW)));
    await processes[0]!.ensureDefaults(NOW);
    expect(await eventsOf(store, PRICE_LIST_STREAM)).to.have.length(1);
    const list = activePriceList(await processes[1]!.priceLists());
    expect(list?.entries).to.deep.equal([
      { currency: 'USD', price_per_1000_credits: '1.00', tax_basis: 'exclusive', minor_unit_digits: 2 },
    ]);
    const config = activeBillingConfig(await processes[2]!.billingConfig());
    expect(config).to.include({ version: 1 });
    expect(config?.terms.free_pages).to.equal(50);
    expect(config?.rates).to.have.length(14);
  });

  it('shows what it published at once', async () => {
    const data = referenceData({ store: memoryEventStore(), maxAgeMs: 60_000 });
    await data.ensureDefaults(NOW);
    expect((await data.publishPriceList(publication('0.92', 1))).kind).to.equal('done');
    expect(activePriceList(await data.priceLists())?.version).to.equal(2);
    const rate = {
      operation: 'extract',
      extraction_mode: 'fast',
      billing_type: 'byok',
      credits_per_page: asCredits(3),
    } as const;
    await data.changeBillingConfig({ type: 'SetBillingRate', data: rate, meta: metaOf() });
    expect(activeBillingConfig(await data.billingConfig())?.rates).to.deep.include(rate);
    const rates = { date: '2026-01-30', base: 'EUR', rates: { USD: '1.08' }, source: 'test' };
    await data.publishFxRates({ type: 'PublishFxRates', data: rates, meta: metaOf() });
    expect((await data.fxRates()).days).to.have.length(1);
  });

  it('refuses a list made for another version', async () => {
    const data = referenceData({ store: memoryEventStore() });
    await data.ensureDefaults(NOW);
    const outcomes = await Promise.all([1, 2].map(() => data.publishPriceList(publication('0.92', 1))));
    expect(outcomes.map(({ kind }) => kind).sort()).to.deep.equal(['done', 'rejected']);
  });

  it('sees what another process published when its copy is old', async () => {
    const store = memoryEventStore();
    const [here, there] = [referenceData({ store, maxAgeMs: -1 }), referenceData({ store })];
    await there.ensureDefaults(NOW);
    expect((await here.priceLists()).versions).to.have.length(1);
    await there.publishPriceList(publication('0.92', null));
    expect((await here.priceLists()).versions).to.have.length(2);
  });
});
