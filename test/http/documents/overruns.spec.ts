import { expect } from 'chai';
import { stoppedChildren, tellChildren } from '../../../engine/test/support/stoppedChildren.ts';
import { until } from '../../../engine/test/support/until.ts';
import { pdfOf } from '../../../engine/test/support/pdfs.ts';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { formOf, type Reply } from '../support/client.ts';
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
  });
  beforeEach(() => {
    api.faults.onWork = (share) => worked.push(share);
  });
  after(() => api.stop());

  const file = new Blob([new Uint8Array(endless())]);
  const convert = async (tenant_id: string, fields: Record<string, string> = {}) => {
    worked.length = 0;
    const form = formOf({ tenant_id, conversion_mode: 'fast', ...fields }, file, 'a.pdf');
    const { code, headers } = await api.call('post', '/v1/to-markdown', { form });
    return { code, pieces: worked.length, after: headers.get('retry-after') };
  };
  /** The file is not said to be unreadable: another installation may give it more time. */
  const overrun = (pieces: number) => ({ code: 'busy', pieces, after: '1800' });

  it('is not begun again with the same bytes for a while, whoever asks', async () => {
    expect(await convert('one')).to.deep.equal(overrun(2));
    // Its pages are counted, and no more.
    expect(await convert('one')).to.deep.equal(overrun(1));
    expect(await convert('two')).to.deep.equal(overrun(1));
  });

  it('is begun where other work is asked for', async () => {
    expect(await convert('one', { pages: '1' })).to.deep.equal(overrun(2));
    const schema = JSON.stringify({ type: 'object', properties: { a: { type: 'string' } } });
    const form = formOf({ tenant_id: 'one', mode: 'fast', schema }, file, 'a.pdf');
    worked.length = 0;
    await api.call('post', '/v1/extract', { form });
    expect(worked.length).to.be.above(1);
  });
});

const inUse = ({ body }: Reply): unknown => (body['slots'] as JsonObject)['in_use'];

describe('a document that a busy machine does not get to', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ LOCAL_DEADLINE_FAST_SECONDS: '1' });
  });
  afterEach(() => {
    tellChildren('SIGCONT');
    api.faults.onWork = () => undefined;
  });
  after(() => api.stop());

  /** The machine has no time for processes from the second piece of work on: the pages are counted by then. */
  const stopAtWork = (): void => {
    let pieces = 0;
    api.faults.onWork = () => {
      pieces += 1;
      if (pieces === 2) tellChildren('SIGSTOP');
    };
  };
  const formFor = (text: string) =>
    formOf({ tenant_id: 'one', conversion_mode: 'fast' }, new Blob([text]), 'a.txt');

  it('is answered with 503, and read when it is sent again', async () => {
    const send = () => api.call('post', '/v1/to-markdown', { form: formFor('A letter.') });
    stopAtWork();
    const late = await send();
    expect([late.status, late.code, late.headers.get('retry-after')]).to.deep.equal([503, 'busy', '10']);
    api.faults.onWork = () => undefined;
    const again = await send();
    expect(again.body).to.have.property('plain_text').that.includes('A letter.');
  });

  it('gives its place back when its caller goes away', async () => {
    stopAtWork();
    const leave = new AbortController();
    const headers = { 'x-api-key': ADMIN_KEY };
    const request = { method: 'POST', body: formFor('Another letter.'), headers, signal: leave.signal };
    const sent = fetch(`${api.url}/v1/to-markdown`, request).catch(() => 'left');
    await until(() => stoppedChildren().length > 0);
    expect(inUse(await api.call('get', '/v1/admin/service-state'))).to.equal(1);
    leave.abort();
    expect(await sent).to.equal('left');
    await until(async () => inUse(await api.call('get', '/v1/admin/service-state')) === 0);
  });
});
