import { expect } from 'chai';
import { chooseModels, type ModelChannel } from '../../src/commands/models.ts';

const LOCAL = { extraction: 'local/default', ocr: 'local/ocr' };
/** A platform whose models are not local, so that a key may stand alone. */
const HOSTED = { extraction: 'acme/large', ocr: 'acme/ocr' };

const choose = (
  {
    llm = {},
    ocr = {},
    runs = { llm: true, ocr: true },
  }: { llm?: ModelChannel; ocr?: ModelChannel; runs?: { llm: boolean; ocr: boolean } },
  platform = LOCAL,
) => chooseModels({ llm, ocr, runs }, platform);

describe('choice of models', () => {
  it('is the platform at full service, when no key is given', () => {
    expect(choose({})).to.deep.equal({
      kind: 'models',
      billing_type: 'full_service',
      model: 'local/default',
      ocr_model: 'local/ocr',
    });
  });

  it('has no OCR model where OCR does not run', () => {
    expect(choose({ runs: { llm: true, ocr: false } })).to.include({ ocr_model: null });
  });

  it('ignores a model that is named without a key', () => {
    const named = { provider_model: 'openai/gpt' };
    expect(choose({ llm: named, ocr: named })).to.include({
      billing_type: 'full_service',
      model: 'local/default',
      ocr_model: 'local/ocr',
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

  for (const channel of ['llm', 'ocr'] as const) {
    it(`refuses a key of ${channel} for a local model, named or not`, () => {
      for (const own of [{ api_key: 'sk' }, { api_key: 'sk', provider_model: 'local/default' }]) {
        const choice = choose({ [channel]: own });
        expect(choice).to.include({ kind: 'problem', code: 'validation_error' });
        expect(choice).to.have.deep.property('members', { loc: ['body', `${channel}_api_key`] });
      }
    });

    it(`does not know the provider of a model of ${channel}, whatever it is`, () => {
      for (const provider_model of ['openai/gpt', 'gpt', '/gpt', ''])
        expect(choose({ [channel]: { api_key: 'sk', provider_model } })).to.include({
          kind: 'problem',
          code: 'unknown_model_provider',
        });
      expect(choose({ [channel]: { api_key: 'sk' } }, HOSTED)).to.include({ code: 'unknown_model_provider' });
    });
  }

  it('never repeats a key', () => {
    for (const provider_model of ['openai/gpt', 'local/default'])
      expect(JSON.stringify(choose({ llm: { api_key: 'sk-secret', provider_model } }))).not.to.contain(
        'sk-secret',
      );
  });
});
