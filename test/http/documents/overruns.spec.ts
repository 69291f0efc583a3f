import { expect } from 'chai';
import { pdfOf } from '../../../engine/test/support/pdfs.ts';
import { formOf } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const LEVELS = 9;
const stream = (entries: string, content: string): string =>
  `<< ${entries} /Length ${String(content.length)} >>\nstream\n${content}\nendstream`;

/** A page that draws a form ten times, which draws another ten times, and so on: a billion in 3 kB. */
const endless = (): Buffer => {
  const form = '/Type /XObject /Subtype /Form /BBox [0 0 100 100]';
  const drawing = (next: number): string => `/Resources << /XObject << /F ${String(next)} 0 R >> >>`;
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R ${drawing(5)} >>`;
  const forms = Array.from({ length: LEVELS }, (_, level) =>
    stream(`${form} ${drawing(6 + level)}`, '/F Do '.repeat(10)),
  );
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      page,
      stream('', '/F Do '.repeat(10)),
      ...forms,
      stream(form, '0 0 10 10 re f'),
    ],
    '/Root 1 0 R',
  );
};

describe('work that its deadline ends', () => {
  let api: TestApi;
  const worked: string[] = [];
  before(async () => {
    api = await startApi({ LOCAL_DEADLINE_FAST_SECONDS: '1' });
    api.faults.onWork = (share) => worked.push(share);
  });
  after(() => api.stop());

  const file = new Blob([new Uint8Array(endless())]);
  const convert = async (tenant_id: string, fields: Record<string, string> = {}) => {
    worked.length = 0;
    const form = formOf({ tenant_id, conversion_mode: 'fast', ...fields }, file, 'a.pdf');
    const { code } = await api.call('post', '/v1/to-markdown', { form });
    return { code, pieces: worked.length };
  };

  it('is not begun again with the same bytes for a while, whoever asks', async () => {
    expect(await convert('one')).to.deep.equal({ code: 'unreadable_file', pieces: 2 });
    // Its pages are counted, and no more.
    expect(await convert('one')).to.deep.equal({ code: 'unreadable_file', pieces: 1 });
    expect(await convert('two')).to.deep.equal({ code: 'unreadable_file', pieces: 1 });
  });

  it('is begun where other work is asked for', async () => {
    expect(await convert('one', { pages: '1' })).to.deep.equal({ code: 'unreadable_file', pieces: 2 });
    const schema = JSON.stringify({ type: 'object', properties: { a: { type: 'string' } } });
    const form = formOf({ tenant_id: 'one', mode: 'fast', schema }, file, 'a.pdf');
    worked.length = 0;
    await api.call('post', '/v1/extract', { form });
    expect(worked.length).to.be.above(1);
  });
});
