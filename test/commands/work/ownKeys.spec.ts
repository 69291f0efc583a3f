import { expect } from 'chai';
import { hasPagesToSee } from '@quire/engine/document/pages';
import type { ModelCall } from '@quire/engine/ports/modelWork';
import {
  chooseModels,
  type ChosenModels,
  type ModelChannel,
  modelsByFormat,
  ownKeyUse,
} from '../../../src/commands/models.ts';
import type { PlatformModels } from '../../../src/platformModels.ts';

const LOCAL: PlatformModels = {
  extraction: { name: 'local/default', access: null },
  ocr: { name: 'local/default', access: null },
};
const LLM: ModelChannel = { provider_model: 'openai/gpt', api_key: 'sk-llm' };
const OCR: ModelChannel = { provider_model: 'mistral/mistral-ocr-latest', api_key: 'sk-ocr' };
const ROBUST = { llm: true, ocr: true };

const chosen = (llm: ModelChannel, ocr: ModelChannel, runs = ROBUST): ChosenModels => {
  const models = chooseModels({ llm, ocr, runs }, LOCAL);
  if (models.kind === 'problem') throw new Error(models.detail);
  return models;
};
const call = (step: ModelCall['step'], owner: ModelCall['owner'] = 'caller'): ModelCall => ({
  ref: { provider: 'openai', model: 'gpt' },
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, pages: null },
  step,
  owner,
});
const used = (models: ChosenModels, ...calls: readonly ModelCall[]) => {
  const { billing_type, warnings } = ownKeyUse(models, calls);
  return [billing_type, ...warnings.map(({ message }) => (message as string).split(' ')[0])];
};

describe('an own key', () => {
  it('that was called with has no warning, and the other has', () => {
    const both = chosen(LLM, OCR);
    expect(used(both, call('ocr'), call('extraction'))).to.deep.equal(['byok']);
    expect(used(both, call('extraction'), call('repair'))).to.deep.equal(['byok', 'ocr_api_key']);
    expect(used(both, call('ocr'))).to.deep.equal(['byok', 'llm_api_key']);
  });

  it('has the rates that were known before, whatever was called', () => {
    expect(used(chosen(LLM, OCR))).to.deep.equal(['byok', 'llm_api_key', 'ocr_api_key']);
    expect(used(chosen({}, OCR), call('extraction', 'platform'))).to.deep.equal(['byok', 'ocr_api_key']);
    expect(used(chosen({}, {}), call('extraction', 'platform'))).to.deep.equal(['full_service']);
  });

  it('pays for pages too, where the OCR channel goes with the key of the other', () => {
    expect(used(chosen(LLM, {}), call('ocr'))).to.deep.equal(['byok']);
  });

  it('of a channel that does not run is named', () => {
    const standard = chosen(LLM, OCR, { llm: true, ocr: false });
    expect(used(standard, call('extraction'))).to.deep.equal(['byok', 'ocr_api_key']);
  });
});

describe('models by format', () => {
  const deps = { platformModels: LOCAL, checkBase: () => Promise.resolve({ kind: 'ok' } as const) };
  const choose = (llm: ModelChannel, ocr: ModelChannel) => modelsByFormat(deps, { llm, ocr, runs: ROBUST });

  it('leave the OCR channel out where there are no pages, with all that is wrong with it', async () => {
    const { paged, unpaged } = await choose({}, { ...OCR, provider_model: 'nobody/x' });
    expect(paged).to.include({ kind: 'problem', code: 'unknown_model_provider' });
    expect(unpaged).to.include({ kind: 'models', billing_type: 'full_service', ocr: null, ocr_model: null });
  });

  it('refuse a base that callers may not name, where it would be asked', async () => {
    const unsafe = {
      ...deps,
      checkBase: () => Promise.resolve({ kind: 'unsafe_api_base', detail: 'No.' } as const),
    };
    const channels = { llm: {}, ocr: { ...OCR, api_base: 'https://10.0.0.1' }, runs: ROBUST };
    const { paged, unpaged } = await modelsByFormat(unsafe, channels);
    expect([paged.kind, unpaged.kind]).to.deep.equal(['problem', 'models']);
  });

  it('have pages for PDF and pictures alone, as those are shown to models', () => {
    expect(hasPagesToSee('application/pdf')).to.equal(true);
    for (const kind of ['png', 'jpeg', 'webp', 'gif', 'bmp', 'tiff'])
      expect(hasPagesToSee(`image/${kind}`), kind).to.equal(true);
    for (const other of ['text/plain', 'text/html', 'message/rfc822', 'application/rtf'])
      expect(hasPagesToSee(other), other).to.equal(false);
  });
});
