import { expect } from 'chai';
import fc from 'fast-check';
import { overriddenBy, type OverridableChannel } from '../../domain/savedConfig.ts';
import { holds } from '../../engine/test/support/properties.ts';

const BASE = 'https://models.example/v1';
const SAVED = {
  provider_model: 'openai/gpt-5-mini',
  api_key: 'saved-key',
  api_base: BASE,
  max_tokens: 100,
  temperature: 0.5,
  num_retries: 3,
} as const;
const OTHER = {
  provider_model: 'openai/gpt-5',
  api_key: 'own-key',
  api_base: 'https://other.example',
  max_tokens: 200,
  temperature: 0,
  num_retries: 0,
} as const;

const llm = (inline: OverridableChannel, saved: OverridableChannel = SAVED) =>
  overriddenBy({ llm: saved }, { llm: inline }).llm;

describe('a saved config and what a request says inline', () => {
  const fields = { schema: { type: 'object' }, mode: 'robust', artifact_id: 'art_1' } as const;
  const others = { schema: { type: 'array' }, mode: 'fast', artifact_id: 'art_2' } as const;

  for (const name of ['schema', 'mode', 'artifact_id'] as const)
    it(`${name}: inline, then the config, then nobody; empty text is absent`, () => {
      expect(overriddenBy(fields, { [name]: others[name] })[name]).to.equal(others[name]);
      expect(overriddenBy(fields, {})[name]).to.equal(fields[name]);
      expect(overriddenBy(fields, { [name]: '' })[name]).to.equal(fields[name]);
      expect(overriddenBy({ [name]: null }, {})[name]).to.equal(undefined);
    });

  for (const channel of ['llm', 'ocr'] as const)
    for (const name of Object.keys(SAVED) as (keyof typeof SAVED)[])
      it(`${channel}.${name}: inline, then the config, then nobody; empty text is absent`, () => {
        const merged = (inline: object) => overriddenBy({ [channel]: SAVED }, { [channel]: inline })[channel];
        expect(merged({ [name]: OTHER[name] })[name]).to.equal(OTHER[name]);
        expect(merged({})[name]).to.equal(SAVED[name]);
        expect(merged({ [name]: '' })[name]).to.equal(SAVED[name]);
        expect(overriddenBy({}, {})[channel][name]).to.equal(undefined);
      });

  it('uses the key of the config for another model of the same provider, by any of its names', () => {
    expect(llm({ provider_model: 'openai/gpt-5' }).api_key).to.equal('saved-key');
    const gemini = { provider_model: 'google/gemini-2.5-flash', api_key: 'saved-key' };
    expect(llm({ provider_model: 'gemini/gemini-2.5-pro' }, gemini).api_key).to.equal('saved-key');
  });

  it('sends neither key nor address of the config to another provider', () => {
    const other = llm({ provider_model: 'mistral/mistral-large' });
    expect([other.api_key, other.api_base]).to.deep.equal([undefined, undefined]);
    expect(llm({ provider_model: 'mistral/mistral-large', api_base: BASE }).api_key).to.equal(undefined);
    expect(llm({ provider_model: 'no-such-provider/x' }).api_key).to.equal(undefined);
    expect(llm({ provider_model: 'openai/gpt-5' }, { api_key: 'saved-key' }).api_key).to.equal(undefined);
  });

  it('sends the key of the config to no other address', () => {
    expect(llm({ api_base: 'https://evil.example' }).api_key).to.equal(undefined);
    expect(llm({ api_base: `${BASE}/` }).api_key).to.equal(undefined);
    expect(llm({ api_base: BASE }).api_key).to.equal('saved-key');
    expect(llm({ api_base: BASE }, { ...SAVED, api_base: null }).api_key).to.equal(undefined);
  });

  it('sends a key that comes inline with another provider to that one, not to the address of the config', () => {
    const other = llm({ provider_model: 'mistral/mistral-large', api_key: 'own-key' });
    expect([other.api_key, other.api_base]).to.deep.equal(['own-key', undefined]);
  });

  const text = <T extends string>(...values: T[]) => fc.constantFrom(undefined, null, '', ...values);
  const channels = fc.record({
    provider_model: text('openai/a', 'openai/b', 'google/a', 'gemini/a', 'nobody/a'),
    api_base: text(BASE, 'https://other.example'),
    api_key: text('own-key'),
  });
  holds(
    'never pairs the key of the config with another provider or address than its own',
    fc.property(channels, channels, (saved, inline) => {
      const merged = llm(inline, { ...saved, api_key: 'saved-key' });
      if (merged.api_key !== 'saved-key') return;
      const provider = (name: string | null | undefined) => name?.split('/')[0]?.replace('gemini', 'google');
      expect(provider(merged.provider_model) ?? '').to.equal(provider(saved.provider_model) ?? '');
      expect(merged.api_base ?? '').to.equal(saved.api_base ?? '');
    }),
    0.5,
  );
});
