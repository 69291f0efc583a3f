import { activePriceList } from '../../../../domain/priceList/decider.ts';
import { get } from '../../defineRoute.ts';
import { balanceMembers, tenantBalance } from '../../money/tenantBalance.ts';
import { tenantParams } from '../../wire/basics.ts';
import { tenantInfoResponse } from '../../wire/reports.ts';

export const getTenantInfo = get('/v1/billing/tenant-info/{tenant_id}', {
  summary: "A tenant's full billing state",
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: tenantInfoResponse },
  problems: ['tenant_not_found'],
  handle: async (request, deps) => {
    const { tenant_id } = request.params;
    const { row, allowance, remaining, billing_config_version } = await tenantBalance(
      deps,
      request,
      tenant_id,
    );
    const open_holds = await deps.queries.openHoldsOfTenant(tenant_id);
    return {
      ...balanceMembers(row, remaining, request.meta.now),
      free_pages: { allowance, used: row.free_pages_used, remaining },
      open_holds: open_holds.map(({ hold_id, credits, operation, created_at, expires_at }) => ({
        ...{ hold_id, credits, operation, created_at, expires_at },
      })),
      price_list_version: activePriceList(await deps.reference.priceLists())?.version ?? 0,
      billing_config_version,
      rate_limits: await deps.limits.bucketsOf(tenant_id),
      grants_count: row.grants_count,
      created_at: row.created_at,
      last_activity_at: row.last_activity_at,
    };
  },
});
