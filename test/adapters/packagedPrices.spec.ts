import { expect } from 'chai';
import { packagedPrices } from '../../adapters/prices.ts';
import { providerNamed } from '@quire/engine/ports/modelProvider';
import { modelPriceMembers } from '../../domain/modelPrices.ts';

const DAY = '2026-11-21';

describe('the packaged price table', () => {
  const named = async (name: string, day = DAY) =>
    (await packagedPrices(day)).find(({ provider, model_name }) => `${provider}/${model_name}` === name);

  it('has prices of known providers alone, each model once, as events take them', async () => {
    const rows = await packagedPrices(DAY);
    expect(rows.length).to.be.above(500);
    expect(new Set(rows.map(({ provider, model_name }) => `${provider}/${model_name}`)).size).to.equal(
      rows.length,
    );
    for (const { provider, model_name, ...prices } of rows) {
      expect(providerNamed(provider), model_name).to.equal(provider);
      expect(modelPriceMembers.safeParse(prices).success, model_name).to.equal(true);
      expect(prices.input_usd_per_million_tokens).to.match(/^\d+\.\d{2,6}$/);
    }
  });

  it('asks no network', async () => {
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.reject(new Error('the network was asked'));
    try {
      expect(await packagedPrices(DAY)).to.not.be.empty;
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('takes the base tier, and by the day what has begun by then', async () => {
    const sonnet = { input_usd_per_million_tokens: '3.00', output_usd_per_million_tokens: '15.00' };
    expect(await named('anthropic/claude-sonnet-4-6', '2026-01-01')).to.include(sonnet);
    const before = await named('deepseek/deepseek-v4-flash', '2026-08-16');
    expect(before).to.include({ input_usd_per_million_tokens: '0.14' });
    const after = await named('deepseek/deepseek-v4-flash', '2026-08-17');
    expect(after).to.include({ input_usd_per_million_tokens: '0.22' });
  });

  it('has what recognition costs by the page', async () => {
    for (const name of ['mistral/mistral-ocr-latest', 'azure_di/prebuilt-read', 'azure_di/prebuilt-layout'])
      expect(Number((await named(name))?.usd_per_page), name).to.be.within(0.0005, 0.02);
  });

  it("gives Azure OpenAI's price where Azure has none of its own", async () => {
    const [azure, openai] = [await named('azure/gpt-4o'), await named('openai/gpt-4o')];
    expect(azure?.input_usd_per_million_tokens)
      .to.equal(openai?.input_usd_per_million_tokens)
      .and.be.a('string');
  });
});
