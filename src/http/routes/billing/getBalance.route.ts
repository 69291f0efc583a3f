import { get } from '../../defineRoute.ts';
import { tenantBalance } from '../../../queries/tenantBalance.ts';
import { tenantNotFound } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { balanceResponse } from '../../wire/reports.ts';

export const getBalance = get('/v1/billing/balance/{tenant_id}', {
  summary: "A tenant's balance",
  description: 'Always `balance = purchased + adjusted − used`.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: balanceResponse },
  reads: 'tenant',
  problems: ['tenant_not_found'],
  handle: async ({ params, meta }, deps) => {
    const found = await tenantBalance(deps, params.tenant_id, meta.now);
    if (found === undefined) throw tenantNotFound();
    return found.balance;
  },
});
