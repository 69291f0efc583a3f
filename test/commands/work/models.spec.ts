import { expect } from 'chai';
import type { ModelAccess } from '@quire/engine/ports/modelProvider';
import { chooseModels, type ModelChannel } from '../../../src/commands/models.ts';
import type { PlatformModels } from '../../../src/platformModels.ts';

const LOCAL: PlatformModels = {
  extraction: { name: 'local/default', access: null },
  ocr: { name: 'local/ocr', access: null },
};

const hosted = (provider: 'openai' | 'mistral', model: string): ModelAccess => ({
  ref: { provider, model },
  apiKey: 'sk-platform',
  apiBase: undefined,
  owner: 'platform',
  retries: 2,
});

/** A platform whose models are not local, so that a key may stand alone. */
const HOSTED: PlatformModels = {
  extraction: { name: 'openai/large', access: hosted('openai', 'large') },
  ocr: { name: 'mistral/mistral-ocr-latest', access: hosted('mistral', 'mistral-ocr-latest') },
};

interface Channels {
  readonly llm?: ModelChannel;
  readonly ocr?: ModelChannel;
  readonly runs?: { readonly llm: boolean; readonly ocr: boolean };
}

const choose = (
  { llm = {}, ocr = {}, runs = { llm: true, ocr: true } }: Channels,
  platform: PlatformModels = LOCAL,
) => chooseModels({ llm, ocr, runs }, platform);

const chosen = (channels: Channels, platform?: PlatformModels) => {
  const choice = choose(channels, platform);
  if (choice.kind === 'problem') throw new Error(choice.detail);
  return choice;
};

/** The members that a problem names. */
const placesOf = (choice: object) =>
  'issues' in choice ? (choice.issues as readonly { readonly loc: unknown }[]).map(({ loc }) => loc) : [];

describe('choice of models', () => {
  it('is the platform at full service, when no key is given', () => {
    expect(choose({})).to.deep.equal({
      kind: 'models',
      billing_type: 'full_service',
      model: 'local/default',
      ocr_model: 'local/ocr',
      llm: null,
      ocr: null,
      own: [],
      ocrKey: 'llm',
    });
    expect(choose({}, HOSTED)).to.deep.include({
      billing_type: 'full_service',
      llm: HOSTED.extraction.access,
      ocr: HOSTED.ocr.access,
    });
  });

  it('has no OCR model where OCR does not run', () => {
    expect(choose({ runs: { llm: true, ocr: false } }, HOSTED)).to.include({ ocr_model: null, ocr: null });
  });

  it('ignores a model that is named without a key', () => {
    const named = { provider_model: 'openai/gpt', api_base: 'https://proxy.example' };
    expect(choose({ llm: named, ocr: named })).to.include({
      billing_type: 'full_service',
      model: 'local/default',
      ocr_model: 'local/ocr',
      llm: null,
    });
  });

  it('ignores a key of a channel that does not run', () => {
    const own = { provider_model: 'openai/gpt', api_key: 'sk' };
    expect(choose({ ocr: own, runs: { llm: true, ocr: false } })).to.include({
      billing_type: 'full_service',
      ocr_model: null,
    });
    expect(choose({ llm: own, runs: { llm: false, ocr: true } })).to.include({
      billing_type: 'full_service',
      model: 'local/default',
      ocr_model: 'local/ocr',
    });
  });

  it('takes the key, the base and the overrides of a channel', () => {
    const own = {
      provider_model: 'gemini/flash',
      api_key: 'sk',
      api_base: 'https://proxy.example',
      max_tokens: 100,
      temperature: 0.5,
      num_retries: 0,
    };
    expect(chosen({ llm: own, runs: { llm: true, ocr: false } })).to.deep.include({
      billing_type: 'byok',
      model: 'google/flash',
      llm: {
        ref: { provider: 'google', model: 'flash' },
        apiKey: 'sk',
        apiBase: 'https://proxy.example',
        owner: 'caller',
        maxTokens: 100,
        temperature: 0.5,
        retries: 0,
      },
    });
  });

  it('lets OCR inherit the own extraction model with its key', () => {
    const choice = chosen({ llm: { provider_model: 'openai/gpt', api_key: 'sk' } }, HOSTED);
    expect(choice).to.include({ billing_type: 'byok', model: 'openai/gpt', ocr_model: 'openai/gpt' });
    expect(choice.ocr).to.equal(choice.llm);
  });

  it('keeps the own extraction model and an own OCR model apart', () => {
    const choice = chosen({
      llm: { provider_model: 'openai/gpt', api_key: 'sk-1' },
      ocr: { provider_model: 'mistral/mistral-ocr-latest', api_key: 'sk-2' },
    });
    expect(choice).to.include({ model: 'openai/gpt', ocr_model: 'mistral/mistral-ocr-latest' });
    expect([choice.llm?.apiKey, choice.ocr?.apiKey]).to.deep.equal(['sk-1', 'sk-2']);
  });

  it('lets an OCR key without a model fall back to the own extraction model, then to the platform', () => {
    const llm = { provider_model: 'openai/gpt', api_key: 'sk-1', api_base: 'https://proxy.example' };
    expect(chosen({ llm, ocr: { api_key: 'sk-2' } }).ocr).to.deep.include({
      ref: { provider: 'openai', model: 'gpt' },
      apiKey: 'sk-2',
      apiBase: 'https://proxy.example',
    });
    const alone = chosen({ ocr: { api_key: 'sk-2' } }, HOSTED);
    expect(alone).to.include({ ocr_model: 'mistral/mistral-ocr-latest', billing_type: 'byok' });
    expect([alone.ocr?.apiKey, alone.llm?.apiKey]).to.deep.equal(['sk-2', 'sk-platform']);
  });

  for (const channel of ['llm', 'ocr'] as const) {
    it(`refuses a key of ${channel} for a local model, named or not`, () => {
      for (const own of [{ api_key: 'sk' }, { api_key: 'sk', provider_model: 'local/default' }]) {
        const choice = choose({ [channel]: own });
        expect(choice).to.include({ kind: 'problem', code: 'validation_error' });
        expect(placesOf(choice)).to.deep.equal([['body', `${channel}_api_key`]]);
      }
    });

    it(`does not know other providers for ${channel}`, () => {
      for (const provider_model of ['acme/gpt', 'gpt', '/gpt', 'openai/', 'toString/x'])
        expect(choose({ [channel]: { api_key: 'sk', provider_model } })).to.include({
          kind: 'problem',
          code: 'unknown_model_provider',
        });
    });

    it(`needs a base for servers without an address of their own, for ${channel}`, () => {
      for (const provider_model of ['azure/gpt', 'ollama/llama', 'hosted_vllm/x', 'openai_compatible/x']) {
        const choice = choose({ [channel]: { api_key: 'sk', provider_model } });
        expect(choice).to.include({ code: 'validation_error' });
        expect(placesOf(choice)).to.deep.equal([['body', `${channel}_api_base`]]);
      }
    });
  }

  it('refuses models that only read pages for extraction, and takes them for OCR', () => {
    const own = { api_key: 'sk', provider_model: 'mistral/mistral-ocr-latest' };
    expect(choose({ llm: own })).to.include({ code: 'validation_error' });
    expect(choose({ ocr: own })).to.include({ ocr_model: 'mistral/mistral-ocr-latest' });
  });

  it('names a member as the request does', () => {
    const paths = (channel: string, member: string) => ['body', 'payload', `${channel}_${member}`];
    const channels = { llm: { api_key: 'sk' }, ocr: {}, runs: { llm: true, ocr: false }, paths };
    expect(placesOf(chooseModels(channels, LOCAL))).to.deep.equal([['body', 'payload', 'llm_api_key']]);
  });

  it('never repeats a key', () => {
    for (const provider_model of ['acme/gpt', 'azure/gpt', 'local/default'])
      expect(JSON.stringify(choose({ llm: { api_key: 'sk-secret', provider_model } }))).not.to.contain(
        'sk-secret',
      );
  });
});
