import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import helmet from 'helmet';
import { startApi, testApi, type TestApi } from '../http/support/testApi.ts';

/** What helmet would send: the yardstick for our own set, which is made once and costs nothing. */
const headersOfHelmet = async (): Promise<Headers> => {
  const protect = helmet();
  const server = createServer((req, res) => protect(req, res, () => res.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  const { headers } = await fetch(`http://127.0.0.1:${String(port)}/`);
  server.close();
  return headers;
};

/** Where we are stricter than helmet. */
const STRICTER: Readonly<Record<string, RegExp>> = {
  'x-frame-options': /^DENY$/,
  'content-security-policy': /^default-src 'none';/,
};
/** Of HTTP itself, and what only an https address may say. */
const NOT_COMPARED = ['connection', 'date', 'keep-alive', 'transfer-encoding', 'content-length'];
const HTTPS_ALONE = 'strict-transport-security';

describe('headers of every answer', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const fetched = async (path: string, init: RequestInit = {}) => {
    const reply = await fetch(`${api.url}${path}`, init);
    await reply.arrayBuffer();
    return reply;
  };

  const ANSWERS = [
    '/health',
    '/v1/nothing',
    '/v1/admin/tenants',
    '/docs',
    '/docs/assets/start.js',
    '/openapi.json',
  ];

  it('keep browsers from sniffing, framing, reading and keeping it, also when it is refused', async () => {
    for (const path of ANSWERS) {
      const { headers } = await fetched(path);
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('x-frame-options'), path).to.equal('DENY');
      expect(headers.get('referrer-policy'), path).to.equal('no-referrer');
      expect(headers.get('cross-origin-resource-policy'), path).to.equal('same-origin');
      expect(headers.get('content-security-policy'), path).to.match(
        /^default-src 'none';.*frame-ancestors 'none'$/,
      );
      if (!path.startsWith('/docs/assets')) expect(headers.get('cache-control'), path).to.equal('no-store');
      expect(headers.has('x-powered-by') || headers.has('server'), path).to.equal(false);
    }
  });

  it('are on a page at least what helmet sends', async () => {
    const theirs = await headersOfHelmet();
    const { headers: ours } = await fetched('/docs');
    const names = [...theirs.keys()].filter((name) => !NOT_COMPARED.includes(name) && name !== HTTPS_ALONE);
    expect(names.length).to.be.greaterThan(9);
    for (const name of names) {
      const stricter = STRICTER[name];
      if (stricter === undefined) expect(ours.get(name), name).to.equal(theirs.get(name));
      else expect(ours.get(name), name).to.match(stricter);
    }
  });

  it('let the reference page load from its own origin, and run no inline script', async () => {
    const policy = (await fetched('/docs')).headers.get('content-security-policy') ?? '';
    const directives = new Map(
      policy.split('; ').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]),
    );
    expect(directives.get('default-src')).to.equal("'none'");
    expect(directives.get('script-src')).to.equal("'self'");
    expect(directives.get('connect-src')).to.equal("'self'");
    expect(directives.get('base-uri')).to.equal("'none'");
    expect(directives.get('form-action')).to.equal("'none'");
    const page = await (await fetch(`${api.url}/docs`)).text();
    expect(page)
      .to.not.match(/<script(?![^>]*\bsrc=)/i)
      .and.to.not.match(/\son[a-z]+=|javascript:/i);
  });

  it('demand https only where clients come by https', async () => {
    expect((await fetched('/health')).headers.get(HTTPS_ALONE)).to.equal(null);
    const behindTls = await startApi({ PUBLIC_URL: 'https://quire.example' });
    try {
      for (const path of ['/health', '/v1/nothing', '/docs']) {
        const { headers } = await fetch(`${behindTls.url}${path}`);
        expect(headers.get(HTTPS_ALONE), path).to.equal('max-age=31536000');
      }
    } finally {
      await behindTls.stop();
    }
  });

  it('allow no other origin anything: no CORS, on no path and by no method', async () => {
    const origin = { origin: 'https://evil.example' };
    const asked = {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    for (const path of [...ANSWERS, '/v1/extract', '/v1/billing/balance/a']) {
      for (const [method, headers] of [
        ['GET', origin],
        ['OPTIONS', asked],
      ] as const) {
        const reply = await fetched(path, { method, headers });
        const cors = [...reply.headers.keys()].filter((name) => name.startsWith('access-control-'));
        expect(cors, `${method} ${path}`).to.deep.equal([]);
        if (method === 'OPTIONS') expect(reply.status, path).to.be.oneOf([404, 405]);
      }
    }
  });

  it('set no cookie and answer JSON as JSON, so that no page can include it as a script', async () => {
    for (const path of ANSWERS) {
      const { headers } = await fetched(path);
      expect(headers.has('set-cookie'), path).to.equal(false);
      expect(headers.get('content-type'), path).to.match(
        /^(application\/(problem\+)?json|text\/(html|javascript))/,
      );
    }
  });

  it('never carry what a caller put into the request ID to split them', async () => {
    for (const id of ['a b', 'a<script>', 'x'.repeat(129), 'a"b', 'a,b', 'ä']) {
      const { headers } = await fetched('/health', {
        headers: { 'x-request-id': encodeURI(id).replaceAll('%20', ' ') },
      });
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$|^[A-Za-z0-9._:@/+=-]{1,128}$/);
      expect(headers.get('x-request-id')).to.not.include(' ').and.to.not.include('<');
    }
  });
});
