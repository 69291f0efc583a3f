import { expect } from 'chai';
import type { CallOptions, Client, Reply } from '../support/client.ts';
import { type TestProvider, through } from './provider.ts';

/** A browser on pages of the service: it keeps cookies, and says where it asks from. */
export class Browser {
  readonly #api: Client;
  readonly cookies = new Map<string, string>();
  csrf = '';

  /** What a proxy before the service adds to each request. */
  readonly #added: Readonly<Record<string, string>>;

  constructor(api: Client, added: Readonly<Record<string, string>> = {}) {
    this.#api = api;
    this.#added = added;
  }

  /** What it would send: for whoever copies it. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  keep(reply: Reply): void {
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }

  /** Asks as a script of a page of the service does. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const headers = {
      ...this.#added,
      ...(this.cookies.size > 0 && { cookie: this.cookie }),
      origin: this.#api.url,
      'sec-fetch-site': 'same-origin',
      'x-csrf-token': this.csrf,
      ...options.headers,
    };
    const reply = await this.#api.call(method, path, { key: null, stay: true, ...options, headers });
    this.keep(reply);
    return reply;
  }

  async signIn(api_key: string): Promise<Reply> {
    const reply = await this.call('post', '/v1/session', { json: { api_key } });
    expect(reply.status, reply.text).to.equal(200);
    this.csrf = String(reply.body['csrf_token']);
    return reply;
  }

  async session(): Promise<Readonly<Record<string, unknown>>> {
    const { status, body, text } = await this.call('get', '/v1/session');
    expect(status, text).to.equal(200);
    this.csrf = typeof body['csrf_token'] === 'string' ? body['csrf_token'] : '';
    return body;
  }
}

let clients = 0;

/** Signs somebody in as `sub` by a provider whose answers lead to `publicUrl`, of a service that trusts its proxy. */
export const signedInBy = async (
  api: Client,
  { provider, publicUrl }: { readonly provider: TestProvider; readonly publicUrl: string },
  { sub, ...claims }: Readonly<Record<string, string>>,
): Promise<Browser> => {
  provider.claims = claims;
  provider.forge = (made) => ({ ...made, sub });
  const browser = new Browser(api, { 'x-forwarded-for': `192.0.2.${String((clients += 1))}` });
  const start = await browser.call('get', '/v1/session/oidc/start?return_to=%2Fapp%2F');
  const back = await through(start.headers.get('location') ?? '', publicUrl);
  expect((await browser.call('get', back.slice(publicUrl.length))).status).to.equal(303);
  expect(await browser.session()).to.include({ signed_in: true, subject: `oidc:${String(sub)}` });
  return browser;
};
