import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { doneOr } from '../../doneOrProblem.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { limitsScope } from '../../access/tenantLimits.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsRequest, rateLimitsResponse } from '../../wire/limits.ts';

export const setRateLimits = ({ rateLimits, limits, reads }: ApiDeps) =>
  defineRoute({
    method: 'put',
    path: '/v1/admin/tenants/{tenant_id}/rate-limits',
    operationId: 'setRateLimits',
    summary: "Replace a tenant's rate-limit override",
    description: 'In force here at once, in other processes within 60 seconds.',
    tag: 'Administration',
    access: 'admin',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    body: rateLimitsRequest,
    reply: { status: 200, schema: rateLimitsResponse },
    problems: ['busy'],
    handle: async ({ params: { tenant_id }, body, meta }) => {
      const data = { tenant_id, heavy: body.heavy ?? null, general: body.general ?? null };
      const { state, position } = doneOr(
        await rateLimits.execute({ type: 'OverrideRateLimits', data, meta }),
        {},
      );
      reads.note(tenant_id, position);
      reads.note(limitsScope(tenant_id), position);
      limits.put(tenant_id, state.override);
      return rateLimitsAnswer(tenant_id, state.override);
    },
  });
