import { activePriceList } from '../../../../domain/priceList.ts';
import { get } from '../../defineRoute.ts';
import { tenantBalance } from '../../../queries/tenantBalance.ts';
import { tenantNotFound } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { tenantInfoResponse } from '../../wire/reports.ts';

export const getTenantInfo = get('/v1/billing/tenant-info/{tenant_id}', {
  summary: "A tenant's full billing state",
  description: 'Balance, free pages, plan, rates, limits and open holds in one answer.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: tenantInfoResponse },
  reads: 'tenant',
  problems: ['tenant_not_found'],
  handle: async ({ params: { tenant_id }, meta }, deps) => {
    const found = await tenantBalance(deps, tenant_id, meta.now);
    if (found === undefined) throw tenantNotFound();
    const { balance, free_pages, billing_config_version, account } = found;
    return {
      ...balance,
      free_pages,
      open_holds: [...(await deps.queries.openHoldsOfTenant(tenant_id))],
      price_list_version: activePriceList(await deps.reference.priceLists())?.version ?? 0,
      billing_config_version,
      rate_limits: await deps.limits.bucketsOf(tenant_id),
      ...account,
    };
  },
});
