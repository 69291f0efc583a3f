import { expect } from 'chai';
import fc from 'fast-check';
import { pricesOfLiteLlm } from '../../domain/priceTables.ts';
import {
  perMillion,
  perMillionOfToken,
  perPage,
  picoPerToken,
  priceNewsOf,
  type PublishedPrice,
} from '../../domain/modelPrices.ts';
import { holds } from '../../engine/test/support/properties.ts';

const T = '2026-01-01T00:00:00.000Z';
const row = {
  provider: 'openai',
  model_name: 'gpt-4o',
  input_usd_per_million_tokens: '2.50',
  output_usd_per_million_tokens: '10.00',
  cached_input_usd_per_million_tokens: '1.25',
  usd_per_page: null,
};
const published = (over: Partial<PublishedPrice> = {}): PublishedPrice => ({
  ...row,
  price_id: 'ppr_1',
  effective_from: T,
  created_at: T,
  ...over,
});

describe('numbers of price tables', () => {
  it('become prices per million by their digits', () => {
    expect(perMillionOfToken('1.5e-07')).to.equal('0.15');
    expect(perMillionOfToken('2.5E-6')).to.equal('2.50');
    expect(perMillionOfToken('0.00001')).to.equal('10.00');
    expect(perMillionOfToken('7.5e-8')).to.equal('0.075');
    expect(perMillionOfToken('0')).to.equal('0.00');
    expect(perMillionOfToken('1e-3')).to.equal('1000.00');
    expect(perMillion('0.2288')).to.equal('0.2288');
    expect(perMillion('15')).to.equal('15.00');
    expect(perPage('1', 3)).to.equal('0.001');
    expect(perPage('1.5e-3')).to.equal('0.0015');
  });

  it('lose the noise that binary fractions left in them', () => {
    expect(perMillionOfToken('2.1999999999999998e-07')).to.equal('0.22');
    expect(perMillionOfToken('1.0000000000000002e-06')).to.equal('1.00');
  });

  it('are no prices when they are negative or no numbers', () => {
    for (const text of ['-1e-6', 'free', '', '1e', '1e-9999'])
      expect(perMillionOfToken(text), text).to.equal(undefined);
  });

  holds(
    'mean the same whether written plainly or with an exponent',
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 6, max: 12 }), (digits, scale) => {
      const plain = digits.toString().padStart(scale + 1, '0');
      const decimal = `${plain.slice(0, -scale)}.${plain.slice(-scale)}`;
      const text = perMillionOfToken(`${String(digits)}e-${String(scale)}`)!;
      expect(perMillionOfToken(decimal)).to.equal(text);
      expect(text).to.match(/^\d+\.\d{2,6}$/);
      expect(picoPerToken(text)).to.equal(BigInt(digits) * 10n ** BigInt(12 - scale));
    }),
  );
});

describe('news of a price', () => {
  it('is none when the figures are those in force', () => {
    expect(priceNewsOf([], row, T)).to.equal('added');
    expect(priceNewsOf([published({ input_usd_per_million_tokens: '2.5' })], row, T)).to.equal('unchanged');
    expect(priceNewsOf([published({ output_usd_per_million_tokens: '9.99' })], row, T)).to.equal('changed');
    const cachedAsInput = { ...row, cached_input_usd_per_million_tokens: null };
    expect(
      priceNewsOf([published({ cached_input_usd_per_million_tokens: '2.50' })], cachedAsInput, T),
    ).to.equal('unchanged');
  });

  it('looks at the price in force at the time, of that provider alone', () => {
    const later = published({
      effective_from: '2026-06-01T00:00:00.000Z',
      input_usd_per_million_tokens: '2.00',
    });
    expect(priceNewsOf([published(), later], row, '2026-03-01T00:00:00.000Z')).to.equal('unchanged');
    expect(priceNewsOf([published(), later], row, '2026-07-01T00:00:00.000Z')).to.equal('changed');
    expect(priceNewsOf([published({ provider: 'azure' })], row, T)).to.equal('added');
    expect(priceNewsOf([published({ provider: null })], row, T)).to.equal('added');
  });
});

const chat = (litellm_provider: string, members: string) =>
  `{"litellm_provider":"${litellm_provider}","mode":"chat",${members}}`;

describe('the price table of LiteLLM', () => {
  const both = '"input_cost_per_token":1.5e-07,"output_cost_per_token":6e-07';

  it('gives exact prices by names of this service', () => {
    const json = `{
      "sample_spec": {"litellm_provider":"one of \\"many\\" 1e5","mode":"chat",
        "input_cost_per_token":0.0,"output_cost_per_token":0.0},
      "gpt-4o-mini": ${chat('openai', `${both},"cache_read_input_token_cost":7.5e-08,"max_tokens":16384`)},
      "gemini/gemini-2.5-flash": ${chat('gemini', both)},
      "together_ai/meta/llama-3": ${chat('together_ai', both)},
      "bedrock/claude": ${chat('bedrock', both)},
      "text-embedding-3": {"litellm_provider":"openai","mode":"embedding",
        "input_cost_per_token":2e-08,"output_cost_per_token":0},
      "no-output": ${chat('openai', '"input_cost_per_token":1e-06')},
      "mistral/mistral-ocr-latest": {"litellm_provider":"mistral","mode":"ocr","ocr_cost_per_page":1e-3},
      "azure_ai/doc-intelligence/prebuilt-layout": {"litellm_provider":"azure_ai","mode":"ocr","ocr_cost_per_page":1e-2}
    }`;
    const rows = pricesOfLiteLlm(json);
    expect(rows.map(({ provider, model_name }) => `${provider}/${model_name}`)).to.deep.equal([
      'openai/gpt-4o-mini',
      'google/gemini-2.5-flash',
      'together_ai/meta/llama-3',
      'mistral/mistral-ocr-latest',
      'azure_di/prebuilt-layout',
    ]);
    expect(rows[0]).to.include({
      input_usd_per_million_tokens: '0.15',
      output_usd_per_million_tokens: '0.60',
      cached_input_usd_per_million_tokens: '0.075',
      usd_per_page: null,
    });
    expect(rows[1]?.cached_input_usd_per_million_tokens).to.equal(null);
    expect(rows[3]?.usd_per_page).to.equal('0.001');
    expect(rows[4]?.usd_per_page).to.equal('0.01');
  });

  it('is refused when it is something else', () => {
    for (const json of ['', '{"a": 01}', '[1]', '{"a": 1}'])
      expect(() => pricesOfLiteLlm(json), json).to.throw();
  });
});
