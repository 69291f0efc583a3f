import { expect } from 'chai';
import { plainPdf } from '../support/pdfs.ts';
import { answers, reads, status, USAGE } from '../support/scriptedProvider/steps.ts';
import { documentWork } from './documentWork.ts';

describe('work on documents with models', () => {
  const { provider, work, calls, access, fileOf, onCall } = documentWork();

  const convert = async (key: string, bytes: string | Buffer) => {
    const request = { ...(await fileOf('a.pdf', bytes)), effort: 'standard' as const };
    return work.convert(request, { llm: null, ocr: access(key), onCall });
  };

  it('gives what was read though one page failed, and says which', async () => {
    const fail = new Set([2]);
    provider.script('sk-pages', () => {
      const [turn] = [provider.requests.length];
      return fail.has(turn) ? status(400) : answers(`Page text ${turn}`, USAGE);
    });
    const converted = await convert('sk-pages', plainPdf(['one', 'two', 'three']));
    if (converted.kind !== 'ok') throw new Error(JSON.stringify(converted));
    const { pages, markdown } = converted.rendition;
    expect(pages.map(({ status: is }) => is).sort()).to.deep.equal(['failed', 'ok', 'ok']);
    expect(pages.map(({ page }) => page)).to.deep.equal([1, 2, 3]);
    expect(pages.find(({ status: is }) => is === 'failed')?.detail).to.be.a('string');
    expect(markdown).to.contain('Page text');
    expect(calls).to.have.length(3);
  });

  it('fails with what stopped the pages when none could be read', async () => {
    provider.script('sk-none', status(401));
    const converted = await convert('sk-none', plainPdf(['one', 'two']));
    expect(converted).to.deep.include({ kind: 'model_failed' });
    expect(JSON.stringify(converted)).to.contain('"provider_status":401');
  });

  it('does not send blank pages, of which models make text up', async () => {
    provider.script('sk-blank', answers('Some text'));
    const converted = await convert('sk-blank', plainPdf(['one', '']));
    if (converted.kind !== 'ok') throw new Error(JSON.stringify(converted));
    expect(provider.requests).to.have.length(1);
    expect(converted.rendition.pages.map(({ status: is }) => is)).to.deep.equal(['ok', 'empty']);
  });

  for (const model of ['mistral-ocr-latest', 'prebuilt-layout'])
    it(`asks ${model} for the pages of a PDF that have something on them, and for no others`, async () => {
      const isMistral = model.startsWith('mistral');
      const ref = { provider: isMistral ? 'mistral' : 'azure_di', model } as const;
      const request = {
        ...(await fileOf('a.pdf', plainPdf(['', 'One', '', 'Two']))),
        effort: 'standard' as const,
      };
      provider.script(`sk-${model}`, reads({ markdown: 'One' }, { markdown: 'Two' }));
      const result = await work.convert(request, { llm: null, ocr: access(`sk-${model}`, { ref }), onCall });
      const [sent] = provider.requests;
      if (isMistral) expect(sent?.body['pages']).to.deep.equal([1, 3]);
      if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
      expect(JSON.stringify(result.rendition)).to.match(/One[^]*Two/);
      expect(calls.map(({ usage }) => usage.pages)).to.deep.equal([2]);

      provider.requests.length = 0;
      const blank = { ...(await fileOf('b.pdf', plainPdf(['', '']))), effort: 'standard' as const };
      await work.convert(blank, { llm: null, ocr: access(`sk-${model}`, { ref }), onCall });
      expect(provider.requests).to.deep.equal([]);
    });

  it('makes what a model wrote harmless', async () => {
    provider.script('sk-html', answers('# A\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))'));
    const converted = await convert('sk-html', plainPdf(['one']));
    if (converted.kind !== 'ok') throw new Error(JSON.stringify(converted));
    expect(converted.rendition.markdown).not.to.match(/<script|javascript:/iu);
  });
});
