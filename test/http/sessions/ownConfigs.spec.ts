import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { Browser } from './browser.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

describe('configs of customers', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ TRUST_PROXY: '1' });
  });
  after(() => api.stop());

  let clients = 0;
  /** Somebody of a new tenant who is signed in by its key. */
  const customer = async (role: 'tenant' | 'service' = 'tenant') => {
    const tenant_id = `own-${randomUUID()}`;
    const key = await api.newKey(tenant_id, role);
    const browser = new Browser(api, { 'x-forwarded-for': `192.0.2.${String((clients += 1))}` });
    await browser.signIn(key);
    const publish = (json: object = {}): Promise<Reply> =>
      browser.call('post', '/v1/configs', { json: { tenant_id, schema: SCHEMA, ...json } });
    const revoke = (id: string): Promise<Reply> => browser.call('delete', `/v1/configs/${id}`);
    const versions = async (id: string) =>
      (await api.call('get', `/v1/configs/${id}`)).body['versions'] as readonly object[];
    return { tenant_id, key, publish, revoke, versions };
  };

  it('are published, published again with rules for reviews, and revoked by who is signed in', async () => {
    const { tenant_id, publish, revoke, versions } = await customer();
    const first = await publish({ name: 'Mine' });
    expect(first.status, first.text).to.equal(200);
    expect(first.body).to.include({ tenant_id, version: 1, name: 'Mine' });
    const config_id = String(first.body['config_id']);
    const review = { below: 0.8, missing_required: true };
    const second = await publish({ config_id, name: 'Mine', review });
    expect(second.body).to.deep.include({ version: 2, review });
    expect(await versions(config_id)).to.have.length(2);
    expect((await revoke(config_id)).status).to.equal(204);
    expect((await revoke(config_id)).status, 'again').to.be.oneOf([204, 404]);
    expect((await publish({ config_id })).code).to.equal('config_not_found');
  });

  it('of others stay out of reach, whatever names them', async () => {
    const [own, other] = [await customer(), await customer()];
    const config_id = String((await other.publish()).body['config_id']);
    expect((await own.publish({ tenant_id: other.tenant_id })).code).to.equal('tenant_mismatch');
    expect((await own.publish({ config_id })).code).to.equal('config_not_found');
    const revoked = await own.revoke(config_id);
    expect([revoked.status, revoked.code]).to.deep.equal([404, 'config_not_found']);
    expect((await own.revoke('cfg-nothing')).text.replace(/"(request_id|instance)":"[^"]*"/g, '')).to.equal(
      revoked.text.replace(/"(request_id|instance)":"[^"]*"/g, ''),
      'as one that there is not',
    );
    expect(await other.versions(config_id)).to.have.length(1);
  });

  it('are not published by a bare key, nor by somebody who is signed in for a service', async () => {
    const { tenant_id, key, publish } = await customer();
    const config_id = String((await publish()).body['config_id']);
    const json = { tenant_id, schema: SCHEMA };
    for (const refused of [
      await api.call('post', '/v1/configs', { key, json }),
      await api.call('delete', `/v1/configs/${config_id}`, { key }),
      await (await customer('service')).publish(),
    ])
      expect([refused.status, refused.code], refused.text).to.deep.equal([403, 'admin_required']);
  });

  it('with a schema that is none, or of a great depth, are refused as an operator’s are', async () => {
    const { publish } = await customer();
    expect((await publish({ schema: { type: 'object' } })).code).to.equal('invalid_schema');
    expect((await publish({ review: { below: 2 } })).status).to.equal(422);
    expect((await publish({ artifact_id: 'art_nobodys' })).code).to.equal('artifact_not_found');
  });

  it('are two versions where two publish at once', async () => {
    const { publish, versions } = await customer();
    const config_id = String((await publish()).body['config_id']);
    const both = await Promise.all([publish({ config_id, name: 'A' }), publish({ config_id, name: 'B' })]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(both.map(({ body }) => body['version']).sort()).to.deep.equal([2, 3]);
    expect(await versions(config_id)).to.have.length(3);
  });
});
