import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { formOf, INVOICE_SCHEMA } from '../http/support/client.ts';
import { startApi, type TestApi } from '../http/support/testApi.ts';
import { docx } from '../../engine/test/support/officeFiles.ts';

const PLANTED = 'pl4nted-in-the-environment';

const entity = (target: string, name: string): string =>
  `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "${target}"><!ENTITY % p SYSTEM ` +
  `"${target}">%p;]><${name}>&e;</${name}>`;

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">${Array.from(
  { length: 30 },
  (_, at) => `<!ENTITY a${String(at + 1)} "${`&a${at === 0 ? '' : String(at)};`.repeat(10)}">`,
).join('')}]><w>&a30;</w>`;

const word = (xml: string): Buffer => docx({ body: '', members: { 'word/document.xml': xml } });

/** Documents that want more of the machine than to be read. */
const FILES: Readonly<Record<string, Buffer>> = {
  'entity.docx': word(entity('file:///etc/passwd', 'w')),
  'environment.docx': word(entity('file:///proc/self/environ', 'w')),
  'laughs.docx': word(LAUGHS),
  'page.html': Buffer.from(
    '<p>Total: 1</p><iframe src="file:///etc/passwd"></iframe><object data="/etc/passwd">',
  ),
  'drawing.html': Buffer.from('<svg><image href="file:///etc/passwd"/></svg><p>Total: 1</p>'),
  'text.md': Buffer.from('Total: 1\n\n![](file:///etc/passwd)\n\n{% include "/etc/passwd" %}\n'),
  'slip.docx': Buffer.from(
    zipSync({
      '../../../../../../tmp/quire-slipped': strToU8(PLANTED),
      '/tmp/quire-slipped': strToU8(PLANTED),
      '[Content_Types].xml': strToU8('<Types/>'),
      'word/document.xml': strToU8('<w/>'),
    }),
  ),
};

describe('hostile documents', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('reads no file of the machine for a document, and writes none', async () => {
    const passwd = (await readFile('/etc/passwd', 'utf8')).split('\n')[0] ?? '';
    expect(passwd).to.include('root');
    for (const [name, bytes] of Object.entries(FILES))
      for (const path of ['/v1/to-markdown', '/v1/extract']) {
        const file = new Blob([new Uint8Array(bytes)]);
        const fields: Record<string, string> = path.endsWith('extract') ? { schema: INVOICE_SCHEMA } : {};
        const reply = await api.call('post', path, { form: formOf(fields, file, name) });
        expect(reply.status, `${name}: ${reply.text}`).to.be.oneOf([200, 400]);
        expect(reply.text, name).to.not.include(passwd).and.to.not.include('PATH=');
        expect(reply.text.length, name).to.be.lessThan(100_000);
      }
    expect(await readdir(tmpdir())).to.not.include('quire-slipped');
    expect((await api.call('get', '/health', { key: null })).status).to.equal(200);
  });

  it('opens documents in a process that has no secret', async () => {
    process.env['SPEC_PLANTED'] = PLANTED;
    try {
      const form = formOf({}, new Blob(['Total: 1'], { type: 'text/plain' }));
      expect((await api.call('post', '/v1/to-markdown', { form })).status).to.equal(200);
      const children = await readdir('/proc').catch(() => []);
      const environments: string[] = [];
      for (const pid of children.filter((name) => /^\d+$/.test(name))) {
        const parent = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
        const isOurs = parent.slice(parent.lastIndexOf(')') + 2).split(' ')[1] === String(process.pid);
        if (isOurs) environments.push(await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''));
      }
      const workers = environments.filter((text) => text.includes('MALLOC_ARENA_MAX'));
      expect(workers.length).to.be.greaterThan(0);
      for (const text of workers) expect(text).to.not.include(PLANTED).and.to.not.include('_KEY=');
    } finally {
      delete process.env['SPEC_PLANTED'];
    }
  });
});
