import { expect } from 'chai';
import { authenticator, digestOfKey, type KeyRecord } from '../../../src/server/keys.ts';
import { Problem } from '../../../src/server/problems.ts';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('API keys over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const create = (json: unknown) => api.call('post', '/v1/api-keys', { json });
  const uses = async (key: string, tenant: string) =>
    (await api.call('get', `/v1/billing/balance/${tenant}`, { key })).status;
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

  it('are shown once, listed without the key, and work at once', async () => {
    const { body, status } = await create({ tenant_id: 'keys-1', name: 'web', expires_at: inAnHour() });
    expect(status).to.equal(201);
    const key = String(body['key']);
    expect(key).to.match(/^quire_t_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(key.startsWith(String(body['prefix']))).to.equal(true);
    expect(await uses(key, 'keys-1')).to.equal(200);

    const list = await api.call('get', '/v1/api-keys/keys-1');
    expect(list.text).to.not.include(key);
    const [item] = list.body['items'] as Record<string, unknown>[];
    expect(item).to.include({ key_id: body['key_id'], role: 'tenant', name: 'web', revoked_at: null });
    expect(item!['last4']).to.equal(key.slice(-4));
    expect(item!['last_used_at']).to.be.a('string');
  });

  it('are listed in pages, newest first, and all that a page can hold unless the request says less', async () => {
    const made: unknown[] = [];
    for (let at = 0; at < 3; at += 1)
      made.unshift((await create({ tenant_id: 'keys-paged' })).body['key_id']);
    const list = async (query = '') => {
      const { body, status } = await api.call('get', `/v1/api-keys/keys-paged${query}`);
      const ids = (body['items'] as Record<string, unknown>[] | undefined)?.map((item) => item['key_id']);
      return { status, ids, total: body['total'], limit: body['limit'], offset: body['offset'] };
    };
    const all = { status: 200, total: 3 };
    expect(await list()).to.deep.equal({ ...all, ids: made, limit: 1000, offset: 0 });
    const second = await list('?limit=2&offset=2');
    expect(second).to.deep.equal({ ...all, ids: made.slice(2), limit: 2, offset: 2 });
    expect((await list('?offset=3')).ids).to.deep.equal([]);
    expect([(await list('?limit=0')).status, (await list('?limit=1001')).status]).to.deep.equal([422, 422]);
  });

  it('are refused from the moment they are revoked, by value or by ID', async () => {
    const { body } = await create({ tenant_id: 'keys-2' });
    const key = String(body['key']);
    expect(await uses(key, 'keys-2')).to.equal(200);
    expect((await api.call('delete', `/v1/api-keys/${String(body['key_id'])}`)).status).to.equal(204);
    expect(await uses(key, 'keys-2')).to.equal(401);
    expect((await api.call('delete', `/v1/api-keys/${key}`)).status).to.equal(204);
    expect((await api.call('delete', '/v1/api-keys/key_of_nobody')).code).to.equal('key_not_found');
  });

  it('are rotated with a grace, or at once without one', async () => {
    const first = String((await create({ tenant_id: 'keys-3', name: 'ci' })).body['key']);
    const rotate = (key: string, grace_seconds = 0) =>
      api.call('post', '/v1/api-keys/rotate', { json: { key, grace_seconds } });
    const second = await rotate(first, 600);
    expect(second.body).to.include({ tenant_id: 'keys-3', name: 'ci', role: 'tenant' });
    expect(await uses(first, 'keys-3')).to.equal(200);
    expect((await rotate(first)).code).to.equal('key_not_found');

    const third = await rotate(String(second.body['key_id']));
    expect(third.status, third.text).to.equal(200);
    expect(await uses(String(second.body['key']), 'keys-3')).to.equal(401);
    expect(await uses(String(third.body['key']), 'keys-3')).to.equal(200);
    expect((await rotate('key_of_nobody')).code).to.equal('key_not_found');
    expect((await rotate(first, -1)).code).to.equal('validation_error');
    expect((await rotate(first, 604_801)).code).to.equal('validation_error');
  });

  it('refuse a role, a tenant and an expiry that make no sense', async () => {
    for (const json of [
      { tenant_id: 'x', role: 'root' },
      { tenant_id: '-x' },
      { tenant_id: 'x'.repeat(129) },
      { tenant_id: 'x', expires_at: '2001-01-01T00:00:00Z' },
      { tenant_id: 'x', expires_at: 'soon' },
      { tenant_id: 'x', name: 'nul\u0000' },
    ]) {
      const { code } = await create(json);
      expect(['validation_error', 'malformed_json']).to.include(code);
    }
  });

  it('flush the cache and say how much was in it', async () => {
    const flush = () => api.call('post', '/v1/admin/api-keys/cache/flush');
    await uses(String((await create({ tenant_id: 'keys-4' })).body['key']), 'keys-4');
    expect((await flush()).body['flushed']).to.be.at.least(1);
    expect((await flush()).body['flushed']).to.equal(0);
  });
});

describe('the authenticator', () => {
  const record: KeyRecord = {
    key_id: 'k1',
    tenant_id: 't1',
    role: 'tenant',
    expires_at: null,
    revoked_at: null,
  };

  const set = (found: KeyRecord | undefined | Error, adminKey?: string) => {
    let now = Date.parse('2026-01-01T00:00:00.000Z');
    let passedMs = 0;
    let lookUps = 0;
    let answer = found;
    const keys = authenticator({
      lookup: () => {
        lookUps += 1;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      isWellFormed: (key) => key.startsWith('quire_'),
      adminKey,
      nowMs: () => now,
      monotonicMs: () => passedMs,
    });
    const codeOf = async (key: string | undefined): Promise<unknown> => {
      try {
        return (await keys.authenticate(key)).key_id;
      } catch (error) {
        return error instanceof Problem ? error.code : error;
      }
    };
    return {
      keys,
      codeOf,
      pass: (ms: number) => {
        now += ms;
        passedMs += ms;
      },
      setClock: (ms: number) => (now += ms),
      finds: (other: KeyRecord | undefined | Error) => (answer = other),
      lookUps: () => lookUps,
    };
  };

  /** Look-ups ahead of time end behind the request that began them. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('looks a key in use up again every half a minute, and keeps nobody waiting for it', async () => {
    const { codeOf, pass, lookUps } = set(record);
    expect(await codeOf('quire_a')).to.equal('k1');
    pass(29_999);
    expect(await codeOf('quire_a')).to.equal('k1');
    expect(lookUps()).to.equal(1);
    pass(1);
    for (let n = 0; n < 5; n += 1) expect(await codeOf('quire_a')).to.equal('k1');
    await settled();
    expect(lookUps()).to.equal(2);
    pass(29_999);
    expect(await codeOf('quire_a')).to.equal('k1');
    expect(lookUps()).to.equal(2);
  });

  it('learns of a revocation ahead of time, or after a minute at the latest', async () => {
    const { codeOf, pass, finds } = set(record);
    expect(await codeOf('quire_a')).to.equal('k1');
    finds({ ...record, revoked_at: '2026-01-01T00:00:00.000Z' });
    pass(30_000);
    expect(await codeOf('quire_a')).to.equal('k1');
    await settled();
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');

    const idle = set(record);
    expect(await idle.codeOf('quire_a')).to.equal('k1');
    idle.finds({ ...record, revoked_at: '2026-01-01T00:00:00.000Z' });
    idle.pass(60_000);
    expect(await idle.codeOf('quire_a')).to.equal('invalid_api_key');
  });

  it('learns of a revocation after a minute, also where the clock was set back meanwhile', async () => {
    const { codeOf, pass, finds, setClock } = set(record);
    expect(await codeOf('quire_a')).to.equal('k1');
    finds({ ...record, revoked_at: '2026-01-01T00:00:00.000Z' });
    setClock(-20 * 60_000);
    pass(60_000);
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
  });

  it('counts the minute from when it asked, however late it is answered', async () => {
    let [passedMs, answer] = [0, (_: KeyRecord | undefined): void => undefined];
    const keys = authenticator({
      lookup: () => new Promise((resolve) => (answer = resolve)),
      isWellFormed: () => true,
      adminKey: undefined,
      nowMs: () => 0,
      monotonicMs: () => passedMs,
    });
    const first = keys.authenticate('quire_a');
    passedMs += 59_000;
    answer(record);
    await first;
    await settled();
    passedMs += 1_000;
    const later = keys.authenticate('quire_a').catch((error: unknown) => (error as Problem).code);
    answer({ ...record, revoked_at: '2026-01-01T00:00:00.000Z' });
    expect(await later).to.equal('invalid_api_key');
  });

  it('goes on with what it knows while it cannot look up ahead of time, for a minute in all', async () => {
    const { codeOf, pass, finds } = set(record);
    expect(await codeOf('quire_a')).to.equal('k1');
    finds(new Error('the database is away'));
    for (const ms of [30_000, 10_000, 19_999]) {
      pass(ms);
      expect(await codeOf('quire_a')).to.equal('k1');
      await settled();
    }
    pass(1);
    expect(await codeOf('quire_a')).to.equal('not_ready');
  });

  it('looks a key up once for many callers at once', async () => {
    const { codeOf, lookUps } = set(record);
    await Promise.all(Array.from({ length: 20 }, () => codeOf('quire_a')));
    expect(lookUps()).to.equal(1);
  });

  it('refuses what is no key by its form without a look-up', async () => {
    const { codeOf, lookUps } = set(record);
    for (const key of [undefined, '', 'nonsense', 'x'.repeat(10_000)])
      expect(await codeOf(key)).to.equal('invalid_api_key');
    expect(lookUps()).to.equal(0);
  });

  it('keeps what it knows while made-up keys come by the thousand', async () => {
    const { keys, codeOf, finds, lookUps } = set(record);
    const refused = 'quire_revoked';
    expect(await codeOf('quire_a')).to.equal('k1');
    keys.refuse(digestOfKey(refused));
    finds(undefined);
    for (let n = 0; n < 10_050; n += 1) await codeOf(`quire_made_up_${String(n)}`);
    finds(record);
    const before = lookUps();
    expect([await codeOf('quire_a'), await codeOf(refused)]).to.deep.equal(['k1', 'invalid_api_key']);
    expect(lookUps()).to.equal(before);
  });

  it('does not remember for long that a key is unknown', async () => {
    const { codeOf, pass, finds } = set(undefined);
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
    finds(record);
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
    pass(1_001);
    expect(await codeOf('quire_a')).to.equal('k1');
  });

  it('notices an expiry inside the cached minute', async () => {
    const { codeOf, pass } = set({ ...record, expires_at: '2026-01-01T00:00:10.000Z' });
    expect(await codeOf('quire_a')).to.equal('k1');
    pass(10_000);
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
  });

  it('refuses a key that it was told of, though the look-up does not know yet', async () => {
    const { codeOf, keys, pass } = set(record);
    expect(await codeOf('quire_a')).to.equal('k1');
    keys.refuse(digestOfKey('quire_a'));
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
    pass(59_999);
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
    await settled();
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');
  });

  it('refuses a key that it was told of while it looked it up', async () => {
    const { codeOf, keys, pass } = set(record);
    const asked = codeOf('quire_a');
    keys.refuse(digestOfKey('quire_a'));
    await asked;
    expect(await codeOf('quire_a')).to.equal('invalid_api_key');

    expect(await codeOf('quire_b')).to.equal('k1');
    pass(30_000);
    const again = codeOf('quire_b');
    keys.refuse(digestOfKey('quire_b'));
    await again;
    await settled();
    expect(await codeOf('quire_b')).to.equal('invalid_api_key');
  });

  it('is not ready while it cannot look up, and remembers nothing of that', async () => {
    const { codeOf, finds } = set(new Error('the database is away'));
    expect(await codeOf('quire_a')).to.equal('not_ready');
    finds(record);
    expect(await codeOf('quire_a')).to.equal('k1');
  });

  it('knows the bootstrap admin key, whole and exact', async () => {
    const { codeOf, lookUps } = set(undefined, ADMIN_KEY);
    expect(await codeOf(ADMIN_KEY)).to.equal('key_bootstrap');
    expect(await codeOf(ADMIN_KEY.slice(0, -1))).to.equal('invalid_api_key');
    expect(await codeOf(`${ADMIN_KEY} `)).to.equal('invalid_api_key');
    expect(lookUps()).to.equal(0);
  });
});
