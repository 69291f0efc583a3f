import { expect } from 'chai';
import fc from 'fast-check';
import { llmCost } from '../../domain/llmCost.ts';
import {
  microOfPico,
  modelCost,
  picoOf,
  priceFor,
  priceNamed,
  providerPricing,
  type PublishedPrice,
  usdOfPico,
} from '../../domain/modelPrices.ts';
import { metaOf } from '../support/money/accountCommands.ts';

const prices = {
  input_usd_per_million_tokens: '0.15',
  output_usd_per_million_tokens: '0.60',
  cached_input_usd_per_million_tokens: '0.075',
  usd_per_page: '0.0015',
};

describe('what a model call costs', () => {
  it('is tokens by their prices, and pages', () => {
    const usage = { input_tokens: 1200, output_tokens: 300, cached_input_tokens: 200, pages: 2 };
    // 1000 × 0.15 + 200 × 0.075 + 300 × 0.60 per million, + 2 × 0.0015
    expect(usdOfPico(modelCost(prices, usage))).to.equal('0.003345');
    const plain = { ...prices, cached_input_usd_per_million_tokens: null, usd_per_page: null };
    expect(usdOfPico(modelCost(plain, usage))).to.equal('0.00036');
  });

  it('adds up: a call in two parts costs what it costs in one', () => {
    const tokens = fc.nat(1_000_000_000);
    fc.assert(
      fc.property(fc.tuple(tokens, tokens, tokens, tokens), ([a, b, c, d]) => {
        const of = (input_tokens: number, output_tokens: number) =>
          modelCost(prices, { input_tokens, output_tokens, cached_input_tokens: 0, pages: null });
        expect(of(a, c) + of(b, d)).to.equal(of(a + b, c + d));
      }),
    );
  });

  it('is written exactly, and read back the same', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (pico) => {
        expect(picoOf(usdOfPico(pico))).to.equal(pico);
      }),
    );
    expect([0n, 1n, 10n ** 12n, 123_450_000_000n].map(usdOfPico)).to.deep.equal([
      '0.00',
      '0.000000000001',
      '1.00',
      '0.12345',
    ]);
    expect([1_500_000n, 2_500_000n, 2_500_001n].map(microOfPico)).to.deep.equal([2n, 2n, 3n]);
  });
});

const priced = (price_id: string, provider: string | null, effective_from: string): PublishedPrice => ({
  price_id,
  provider,
  model_name: provider === null ? 'x/m' : 'm',
  ...prices,
  effective_from,
  created_at: effective_from,
});
const call = (occurred_at: string, provider = 'x') => ({ provider, model_name: 'm', occurred_at });

describe('the price in force', () => {
  const list = [
    priced('set', null, '2026-06-01T00:00:00.000Z'),
    priced('march', 'x', '2026-03-01T00:00:00.000Z'),
    priced('january', 'x', '2026-01-01T00:00:00.000Z'),
    priced('march again', 'x', '2026-03-01T00:00:00.000Z'),
  ];
  it('is the last at that time, of one instant the last published', () => {
    expect(priceFor(list, call('2026-02-01T00:00:00.000Z'))?.price_id).to.equal('january');
    expect(priceFor(list, call('2026-03-01T00:00:00.000Z'))?.price_id).to.equal('march again');
  });
  it('is the first there ever was for what came before', () => {
    expect(priceFor(list, call('2020-01-01T00:00:00.000Z'))?.price_id).to.equal('january');
  });
  it('is the one set by name where the provider has none', () => {
    const without = list.slice(0, 1);
    expect(priceFor(without, call('2020-01-01T00:00:00.000Z'))?.price_id).to.equal('set');
    expect(priceFor(without, call('2020-01-01T00:00:00.000Z', 'y'))).to.equal(undefined);
  });
  it('is found by the bare name and by the full one', () => {
    const now = '2026-02-01T00:00:00.000Z';
    expect(priceNamed(list, 'm', now)?.price_id).to.equal('january');
    expect(priceNamed(list, 'x/m', now)?.price_id).to.equal('set');
    expect(priceNamed(list, 'y/m', now)).to.equal(undefined);
    const bare = { ...list[0]!, price_id: 'bare', model_name: 'm' };
    expect(priceNamed([bare], 'y/m', now)?.price_id).to.equal('bare');
  });
});

describe('model prices and costs, decided', () => {
  it('a price set again changes nothing; another one does', () => {
    const command = (input: string, id: string) => ({
      type: 'SetModelPrice' as const,
      data: { price_id: id, model_name: 'm', ...prices, input_usd_per_million_tokens: input },
      meta: metaOf(),
    });
    let state = providerPricing.initialState;
    const run = (input: string, id: string) => {
      const decision = providerPricing.decide(state, command(input, id));
      if (decision.kind !== 'accepted') throw new Error('refused');
      state = decision.events.reduce(providerPricing.evolve, state);
      return decision.events.length;
    };
    expect([run('1', 'a'), run('1', 'b'), run('2', 'c')]).to.deep.equal([1, 0, 1]);
  });

  it('an entry with an ID counts once, with another payload not at all', () => {
    const command = (entry_id: string | null, fingerprint: string) => ({
      type: 'LogLlmCost' as const,
      meta: metaOf(),
      data: {
        cost_id: `llm_${fingerprint}`,
        tenant_id: 'acme',
        entry_id,
        fingerprint,
        job_id: 'j',
        operation: 'extract',
        provider: 'x',
        model_name: 'm',
        input_tokens: 1,
        output_tokens: 1,
        cached_input_tokens: 0,
        pages: null,
        cost_usd: null,
        cost_source: null,
        document_id: null,
        task_id: null,
        billing_type: 'full_service' as const,
        free_tier: false,
        occurred_at: '2026-01-01T00:00:00.000Z',
      },
    });
    const first = llmCost.decide(llmCost.initialState, command('e', 'one'));
    if (first.kind !== 'accepted') throw new Error('refused');
    const state = first.events.reduce(llmCost.evolve, llmCost.initialState);
    expect(llmCost.decide(state, command('e', 'one'))).to.deep.equal({ kind: 'accepted', events: [] });
    expect(llmCost.decide(state, command('e', 'two'))).to.deep.include({ kind: 'rejected' });
    expect(llmCost.decide(state, command(null, 'one'))).to.have.nested.property('events.length', 1);
  });
});
