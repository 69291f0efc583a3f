import { get } from '../../defineRoute.ts';
import { balanceMembers, tenantBalance } from '../../money/tenantBalance.ts';
import { tenantParams } from '../../wire/basics.ts';
import { balanceResponse } from '../../wire/reports.ts';

export const getBalance = get('/v1/billing/balance/{tenant_id}', {
  summary: "A tenant's balance",
  description: 'Always `balance = purchased + adjusted − used`.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: balanceResponse },
  problems: ['tenant_not_found'],
  handle: async (request, deps) => {
    const { row, remaining } = await tenantBalance(deps, request, request.params.tenant_id);
    return balanceMembers(row, remaining, request.meta.now);
  },
});
