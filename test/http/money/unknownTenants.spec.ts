import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('reads of a tenant that nobody has heard of', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const PATHS: readonly ((tenant: string) => string)[] = [
    (tenant) => `/v1/billing/balance/${tenant}`,
    (tenant) => `/v1/billing/tenant-info/${tenant}`,
    (tenant) => `/v1/billing/usage/${tenant}`,
    (tenant) => `/v1/billing/grants/${tenant}`,
    (tenant) => `/v1/api-keys/${tenant}`,
    (tenant) => `/v1/admin/tenants/${tenant}/ledger`,
    (tenant) => `/v1/admin/tenants/${tenant}/rate-limits`,
    (tenant) => `/v1/admin/costs/by-task?tenant_id=${tenant}`,
    (tenant) => `/v1/documents?tenant_id=${tenant}`,
  ];

  for (const path of PATHS)
    it(`are 404: ${path('{tenant}')}`, async () => {
      const unknown = await api.call('get', path(`nobody-${randomUUID()}`));
      expect([unknown.status, unknown.code], unknown.text).to.deep.equal([404, 'tenant_not_found']);
      const known = `somebody-${randomUUID()}`;
      await api.newKey(known);
      expect((await api.call('get', path(known))).status).to.equal(200);
    });
});
