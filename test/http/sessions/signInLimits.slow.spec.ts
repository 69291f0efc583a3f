import { expect } from 'chai';
import { configFrom, ConfigError } from '../../../src/config.ts';
import { clientAt } from '../../../src/server/limits.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

/** More than are admitted at once, fewer than would take a second to refill twice. */
const MANY = 60;
const NO_KEY = { api_key: 'x' };

const attempt = async (api: TestApi, forwarded: string, json: object = NO_KEY) => {
  const headers = { 'x-forwarded-for': forwarded };
  const { code, status } = await api.call('post', '/v1/session', { key: null, json, headers });
  return code ?? String(status);
};

/** All at once: a bucket refills while they are asked one after the other. */
const attempts = (api: TestApi, forwarded: (n: number) => string, json?: object) =>
  Promise.all(Array.from({ length: MANY }, (_, n) => attempt(api, forwarded(n), json)));

describe('limits of signing in', () => {
  const within = async (env: Readonly<Record<string, string>>, use: (api: TestApi) => Promise<void>) => {
    const api = await startApi(env);
    try {
      await use(api);
    } finally {
      await api.stop();
    }
  };

  it('count by the client that a trusted proxy names: one stranger stops nobody else', () =>
    within({ TRUST_PROXY: '127.0.0.0/8,::1' }, async (api) => {
      expect(await attempts(api, () => '203.0.113.7')).to.include('rate_limited');
      expect(await attempt(api, '203.0.113.8')).to.equal('invalid_api_key');
      expect(await attempt(api, '203.0.113.8, 127.0.0.9')).to.equal('invalid_api_key');
      expect(await attempts(api, (n) => `198.51.100.${String(n)}, 203.0.113.9`)).to.include('rate_limited');
    }));

  it('count by the hop that is as far away as is said', () =>
    within({ TRUST_PROXY: '2' }, async (api) => {
      expect(await attempts(api, (n) => `192.0.2.${String(n)}, 203.0.113.7, 10.0.0.2`)).to.include(
        'rate_limited',
      );
      expect(await attempt(api, '203.0.113.8, 10.0.0.2')).to.equal('invalid_api_key');
    }));

  it('believe nobody else: a client that names others is one', () =>
    within({}, async (api) => {
      expect(await attempts(api, (n) => `192.0.2.${String(n)}`)).to.include('rate_limited');
    }));

  it('take a network of IPv6 for one client, as its owner has all of it, and leave ports out', () =>
    within({ TRUST_PROXY: '1' }, async (api) => {
      expect(await attempts(api, (n) => `2001:db8:1:2::${n.toString(16)}`)).to.include('rate_limited');
      expect(await attempt(api, '2001:db8:1:3::1')).to.equal('invalid_api_key');
      expect(await attempts(api, (n) => `203.0.113.9:${String(40_000 + n)}`)).to.include('rate_limited');
    }));

  it('count by account, from wherever it signs in', () =>
    within({ TRUST_PROXY: '1' }, async (api) => {
      const [one, other] = [await api.newKey('counted'), await api.newKey('counted')];
      const codes = await attempts(api, (n) => `198.51.100.${String(n)}`, { api_key: one });
      expect(codes).to.include.members(['200', 'rate_limited']);
      expect(await attempt(api, '198.51.100.1', { api_key: other })).to.equal('200');
    }));

  it('know a client by all its spellings', () => {
    for (const one of ['203.0.113.9', '203.0.113.9:4000', '::ffff:203.0.113.9', '[::ffff:203.0.113.9]:4000'])
      expect(clientAt(one), one).to.equal('203.0.113.9');
    for (const one of ['2001:db8::1', '2001:DB8:0:0:0:0:0:2', '[2001:db8::3]:4000', '2001:db8::ff:0:4%eth0'])
      expect(clientAt(one), one).to.equal('2001:db8:0:0');
    for (const none of ['', 'unknown', '1.2.3', '999.1.1.1', '_hidden'])
      expect(clientAt(none)).to.equal('unknown');
  });

  for (const wrong of ['true', '0', '11', 'proxy.lan', '10.0.0.0/33', '10.0.0.1,', '0.0.0.0/0', '::/0', '-1'])
    it(`refuse to start by TRUST_PROXY=${wrong}, and say how it is written`, () => {
      expect(() => configFrom({ TRUST_PROXY: wrong })).to.throw(
        ConfigError,
        /^TRUST_PROXY: must be .*10\.0\.0\.0\/8/,
      );
    });
});
