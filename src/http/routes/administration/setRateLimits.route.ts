import { put } from '../../defineRoute.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { limitsScope } from '../../access/tenantLimits.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsRequest, rateLimitsResponse } from '../../wire/limits.ts';

export const setRateLimits = put('/v1/admin/tenants/{tenant_id}/rate-limits', {
  summary: "Replace a tenant's rate-limit override",
  description: 'In force here at once, in other processes within 60 seconds.',
  access: 'admin',
  tenant: 'path',
  params: tenantParams,
  body: rateLimitsRequest,
  reply: { status: 200, schema: rateLimitsResponse },
  problems: ['busy'],
  handle: async ({ params: { tenant_id }, body, meta, doneOr }, { rateLimits, limits, reads }) => {
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
