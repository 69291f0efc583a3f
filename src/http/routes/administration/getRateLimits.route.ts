import { get } from '../../defineRoute.ts';
import { rateLimitsAnswer } from '../../access/rateLimitsAnswer.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { rateLimitsResponse } from '../../wire/limits.ts';

export const getRateLimits = get('/v1/admin/tenants/{tenant_id}/rate-limits', {
  summary: "A tenant's rate limits, and its override",
  description: 'What holds for the tenant, class by class, and whether it is a default or its own.',
  access: 'admin',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: rateLimitsResponse },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { rateLimits, queries }) => {
    const { tenant_id } = request.params;
    const { override } = await rateLimits.stateOf(tenant_id);
    await checkKnown({ queries }, tenant_id, { isEmpty: override === null });
    return rateLimitsAnswer(tenant_id, override);
  },
});
