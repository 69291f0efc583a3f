import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { formatKey } from '../../../domain/apiKey.ts';
import { LogUnavailable } from '../../../domain/ports/log.ts';
import { digestOfKey, confirmedKeys } from '../../../src/server/keys.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('keys forged in the read-model database', () => {
  let api: TestApi;
  let table: string;
  before(async () => {
    api = await testApi();
    const [live] = await api.sql.query(
      `select schema_name from projections.registry where name = 'api_keys' and serves`,
    );
    table = `${String(live?.['schema_name'])}.api_keys`;
  });

  /** A key of a tenant that no process has seen in use yet, with its row. */
  const unused = async (tenant: string) => {
    const key = await api.newKey(tenant);
    await api.deps.reads.settleAll();
    return { key, hash: digestOfKey(key) };
  };
  const adminRoute = (key: string) => api.call('get', '/v1/admin/tenants', { key });

  it('have the role, the tenant and the life that the log gave them', async () => {
    const role = await unused('forger-role');
    await api.sql.query(`update ${table} set role = 'admin' where key_hash = $1`, [role.hash]);
    expect((await adminRoute(role.key)).code).to.equal('admin_required');

    const tenant = await unused('forger-tenant');
    await api.newKey('forger-victim');
    await api.sql.query(`update ${table} set tenant_id = 'forger-victim' where key_hash = $1`, [tenant.hash]);
    const other = await api.call('get', '/v1/billing/balance/forger-victim', { key: tenant.key });
    expect(other.code).to.equal('tenant_mismatch');

    const revoked = await unused('forger-revoked');
    const { status } = await api.call('delete', `/v1/api-keys/${revoked.key}`);
    expect(status).to.be.lessThan(300);
    await api.deps.reads.settleAll();
    await api.sql.query(`update ${table} set revoked_at = null where key_hash = $1`, [revoked.hash]);
    api.deps.keys.flush();
    expect((await adminRoute(revoked.key)).code).to.equal('invalid_api_key');
  });

  it('open nothing by the digest of a key that was never issued', async () => {
    const known = await unused('forger-digest');
    const made = formatKey('admin', randomBytes(96));
    await api.sql.query(`update ${table} set key_hash = $1 where key_hash = $2`, [
      digestOfKey(made),
      known.hash,
    ]);
    expect((await adminRoute(made)).code).to.equal('invalid_api_key');
  });

  it('open nothing while the log is away; those that it confirmed before still do', async () => {
    const record = {
      key_id: 'key_1',
      tenant_id: 't',
      role: 'tenant',
      expires_at: null,
      revoked_at: null,
    } as const;
    const issued = { ...record, key_hash: 'known', prefix: '', last4: '', name: null, replaces: null };
    let log: 'there' | 'away' | 'broken' = 'there';
    const lookup = confirmedKeys({
      lookup: () => Promise.resolve({ ...record, role: 'admin' }),
      stateOf: () => {
        if (log === 'away') return Promise.reject(new LogUnavailable('away'));
        if (log === 'broken') return Promise.reject(new Error('broken'));
        return Promise.resolve({ key: issued, revoked: false, rotated: false, replaced_by: null });
      },
    });
    expect(await lookup('known')).to.deep.equal(record);
    log = 'away';
    expect(await lookup('known')).to.deep.equal(record);
    expect(await lookup('other').catch(String)).to.include('away');
    log = 'broken';
    expect(await lookup('known').catch(String)).to.include('broken');
  });
});
