import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { z } from 'zod';
import type { Route } from '../../../src/server/routes.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

/** Its 404 says that nothing is deployed in that place, whoever the tenant is. */
const OF_A_SCOPE = ['/v1/inference/deployments/current'];

describe('reads of a tenant that nobody has heard of', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const PATHS: readonly ((tenant: string) => string)[] = [
    (tenant) => `/v1/billing/balance/${tenant}`,
    (tenant) => `/v1/billing/tenant-info/${tenant}`,
    (tenant) => `/v1/billing/usage/${tenant}`,
    (tenant) => `/v1/billing/usage-days/${tenant}`,
    (tenant) => `/v1/billing/usage-stats/${tenant}`,
    (tenant) => `/v1/billing/grants/${tenant}`,
    (tenant) => `/v1/billing/budgets/${tenant}`,
    (tenant) => `/v1/billing/top-up/${tenant}`,
    (tenant) => `/v1/api-keys/${tenant}`,
    (tenant) => `/v1/admin/tenants/${tenant}/ledger`,
    (tenant) => `/v1/admin/tenants/${tenant}/rate-limits`,
    (tenant) => `/v1/admin/tenants/${tenant}/retention`,
    (tenant) => `/v1/admin/tenants/${tenant}/billing-details`,
    (tenant) => `/v1/billing/statements/${tenant}`,
    (tenant) => `/v1/billing/statements/${tenant}/${tenant === '{tenant_id}' ? '{month}' : '2026-01'}`,
    (tenant) => `/v1/admin/costs/by-task?tenant_id=${tenant}`,
    (tenant) => `/v1/admin/costs/by-document?tenant_id=${tenant}`,
    (tenant) => `/v1/admin/llm-costs?tenant_id=${tenant}`,
    (tenant) => `/v1/billing/quote?operation=extract&billing_type=byok&pages=1&tenant_id=${tenant}`,
    (tenant) => `/v1/billing/training-quote?tenant_id=${tenant}`,
    (tenant) => `/v1/documents?tenant_id=${tenant}`,
    (tenant) => `/v1/documents/outcomes?tenant_id=${tenant}`,
    (tenant) => `/v1/operations?tenant_id=${tenant}`,
    (tenant) => `/v1/runs?tenant_id=${tenant}`,
    (tenant) => `/v1/reviews?tenant_id=${tenant}`,
    (tenant) => `/v1/evaluations/sets?tenant_id=${tenant}`,
    (tenant) => `/v1/evaluations/runs?tenant_id=${tenant}`,
    (tenant) => `/v1/webhooks?tenant_id=${tenant}`,
    (tenant) => `/v1/batches?tenant_id=${tenant}`,
    (tenant) => `/v1/configs?tenant_id=${tenant}`,
    (tenant) => `/v1/tables?tenant_id=${tenant}`,
    (tenant) => `/v1/training/jobs?tenant_id=${tenant}`,
    (tenant) => `/v1/inference/deployments?tenant_id=${tenant}`,
    (tenant) => `/v1/inference/artifacts?tenant_id=${tenant}`,
    (tenant) => `/v1/admin/events?tenant_id=${tenant}`,
    (tenant) => `/v1/admin/tenants/${tenant}/balance-at`,
  ];

  it('are all here', () => {
    const isRead = ({ method }: Route): boolean => method === 'get';
    const namesTenant = ({ query, path }: Route): boolean =>
      path.includes('{tenant_id}') || (query instanceof z.ZodObject && 'tenant_id' in query.shape);
    const listed = PATHS.map((path) => path('{tenant_id}').split('?')[0]);
    const routes = api.routes.filter((route) => isRead(route) && namesTenant(route)).map(({ path }) => path);
    expect(listed).to.have.members(routes.filter((path) => !OF_A_SCOPE.includes(path)));
  });

  for (const path of PATHS)
    it(`are 404: ${path('{tenant}')}`, async () => {
      const unknown = await api.call('get', path(`nobody-${randomUUID()}`));
      expect([unknown.status, unknown.code], unknown.text).to.deep.equal([404, 'tenant_not_found']);
      const known = `somebody-${randomUUID()}`;
      await api.newKey(known);
      expect((await api.call('get', path(known))).status).to.equal(200);
    });
});
