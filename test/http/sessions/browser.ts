import { expect } from 'chai';
import type { CallOptions, Reply } from '../support/client.ts';
import type { TestApi } from '../support/testApi.ts';

/** A browser on pages of the service: it keeps cookies, and says where it asks from. */
export class Browser {
  readonly #api: TestApi;
  readonly cookies = new Map<string, string>();
  csrf = '';

  /** What a proxy before the service adds to each request. */
  readonly #added: Readonly<Record<string, string>>;

  constructor(api: TestApi, added: Readonly<Record<string, string>> = {}) {
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
