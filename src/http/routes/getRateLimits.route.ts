import type { ApiDeps } from '../apiDeps.ts';
import { defineRoute } from '../defineRoute.ts';
import { rateLimitsAnswer } from '../rateLimitsAnswer.ts';
import { tenantParams } from '../wire/basics.ts';
import { rateLimitsResponse } from '../wire/limits.ts';

export const getRateLimits = ({ rateLimits }: ApiDeps) =>
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
    problems: [],
    handle: async ({ params: { tenant_id } }) =>
      rateLimitsAnswer(tenant_id, (await rateLimits.stateOf(tenant_id)).override),
  });
