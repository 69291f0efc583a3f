import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';

const NOT_HERE = '/app/sign-in?problem=https_required';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

const cookieOf = ({ headers }: Answer): string | undefined => headers['set-cookie']?.[0];

/** As a browser that reached the service by another name: `fetch` names the host itself. */
const at = async (
  { url }: TestApi,
  { host, origin }: { readonly host: string; readonly origin?: string },
  path = '/v1/session',
): Promise<Answer> => {
  const method = origin === undefined ? 'GET' : 'POST';
  const headers = { host, ...(origin !== undefined && { origin, 'content-type': 'application/json' }) };
  const sent = request(url + path, { method, headers });
  sent.end(origin === undefined ? undefined : JSON.stringify({ api_key: ADMIN_KEY }));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const body = (await text(answer)) || '{}';
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: JSON.parse(body) as Readonly<Record<string, unknown>>,
  };
};

/** Signs in from a page of a host. */
const signInAt = (api: TestApi, host: string, scheme = 'http'): Promise<Answer> =>
  at(api, { host, origin: `${scheme}://${host}` });

describe('sessions over plain http', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  for (const host of ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080', '127.8.9.1', 'quire.localhost:8080'])
    it(`are kept by every browser of this machine: ${host}`, async () => {
      const reply = await signInAt(api, host);
      expect(reply.status).to.equal(200);
      expect(cookieOf(reply))
        .to.match(/^quire_session=/)
        .and.not.match(/Secure/);
    });

  it('are not opened elsewhere: what is missing is said instead', async () => {
    for (const host of ['quire.lan:8080', '10.0.0.5', 'localhost.example', '127.0.0.1.example']) {
      const reply = await signInAt(api, host);
      expect([reply.status, reply.body['code']], host).to.deep.equal([403, 'https_required']);
      expect(reply.body['detail']).to.match(/https.*PUBLIC_URL/);
      expect(cookieOf(reply)).to.equal(undefined);
    }
  });

  it('leave a sign-in link unused', async () => {
    const { pathname, search } = new URL(await api.deps.sessions.newLink(undefined));
    const there = await at(api, { host: 'quire.lan:8080' }, pathname + search);
    expect(there.headers.location).to.equal(NOT_HERE);
    const here = await new Browser(api).call('get', pathname + search);
    expect(here.headers.get('location')).to.equal('/app/');
  });

  it('are opened by https that a proxy ends', async () => {
    const reply = await signInAt(api, 'quire.example', 'https');
    expect(reply.status).to.equal(200);
    expect(cookieOf(reply)).to.match(/^__Host-quire_session=.*; Secure/);
  });
});

describe('where browsers reach the service', () => {
  const started = async (env: Readonly<Record<string, string>>, use: (api: TestApi) => Promise<void>) => {
    const api = await startApi(env);
    try {
      await use(api);
    } finally {
      await api.stop();
    }
  };

  it('may be plain http where the operator says so', () =>
    started({ PUBLIC_URL: 'http://quire.lan:8080' }, async (api) => {
      const reply = await signInAt(api, 'quire.lan:8080');
      expect(reply.status).to.equal(200);
      expect(cookieOf(reply))
        .to.match(/^quire_session=/)
        .and.not.match(/Secure/);
    }));

  it('is said to a page that came by plain http, and told to pages', () =>
    started({ PUBLIC_URL: 'https://quire.example' }, async (api) => {
      const reply = await signInAt(api, '10.0.0.5:8080');
      expect([reply.status, reply.body['code']]).to.deep.equal([403, 'https_required']);
      expect(reply.body['detail']).to.match(/https:\/\/quire\.example/);
      expect(await new Browser(api).session()).to.include({ public_url: 'https://quire.example' });
      expect(cookieOf(await signInAt(api, 'quire.example', 'https'))).to.match(/^__Host-quire_session=/);
    }));
});
