import { remove } from '../../defineRoute.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { limitsScope } from '../../access/tenantLimits.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsDeleted } from '../../wire/limits.ts';

export const deleteRateLimits = remove('/v1/admin/tenants/{tenant_id}/rate-limits', {
  summary: "Remove a tenant's rate-limit override",
  description: 'Without one it answers the same, with `deleted: false`.',
  access: 'admin',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: rateLimitsDeleted },
  problems: ['busy'],
  handle: async ({ params: { tenant_id }, meta, doneOr }, { rateLimits, limits, reads }) => {
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
