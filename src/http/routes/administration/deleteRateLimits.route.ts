import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { doneOr } from '../../doneOrProblem.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { limitsScope } from '../../access/tenantLimits.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsDeleted } from '../../wire/limits.ts';

export const deleteRateLimits = ({ rateLimits, limits, reads }: ApiDeps) =>
  defineRoute({
    method: 'delete',
    path: '/v1/admin/tenants/{tenant_id}/rate-limits',
    operationId: 'deleteRateLimits',
    summary: "Remove a tenant's rate-limit override",
    description: 'Without one it answers the same, with `deleted: false`.',
    tag: 'Administration',
    access: 'admin',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    reply: { status: 200, schema: rateLimitsDeleted },
    problems: ['busy'],
    handle: async ({ params: { tenant_id }, meta }) => {
      const { events, state, position } = doneOr(
        await rateLimits.execute({ type: 'ResetRateLimits', data: { tenant_id }, meta }),
        {},
      );
      reads.note(tenant_id, position);
      reads.note(limitsScope(tenant_id), position);
      limits.put(tenant_id, state.override);
      return { ...rateLimitsAnswer(tenant_id, state.override), deleted: events.length > 0 };
    },
  });
