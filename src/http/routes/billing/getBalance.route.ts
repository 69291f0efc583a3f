import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { balanceMembers, tenantBalance } from '../../money/tenantBalance.ts';
import { tenantParams } from '../../wire/basics.ts';
import { balanceResponse } from '../../wire/reports.ts';

export const getBalance = (deps: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/balance/{tenant_id}',
    operationId: 'getBalance',
    summary: "A tenant's balance",
    description: 'Always `balance = purchased + adjusted − used`.',
    tag: 'Billing',
    access: 'any',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    reply: { status: 200, schema: balanceResponse },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { row, remaining } = await tenantBalance(deps, request, request.params.tenant_id);
      return balanceMembers(row, remaining, request.meta.now);
    },
  });
