import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsResponse } from '../../wire/limits.ts';

export const getRateLimits = ({ rateLimits, queries, reads }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/tenants/{tenant_id}/rate-limits',
    operationId: 'getRateLimits',
    summary: "A tenant's rate limits, and its override",
    tag: 'Administration',
    access: 'admin',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    reply: { status: 200, schema: rateLimitsResponse },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { tenant_id } = request.params;
      const { override } = await rateLimits.stateOf(tenant_id);
      await settleReads(reads, request, tenant_id);
      await checkKnown({ queries }, tenant_id, { isEmpty: override === null });
      return rateLimitsAnswer(tenant_id, override);
    },
  });
