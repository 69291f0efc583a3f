import { activeBillingConfig } from '../../../domain/billingConfig/decider.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { problem } from '../problems.ts';
import type { BalanceRow } from '../../../projections/balances/balances.queries.ts';
import { settleReads } from '../reads/settledReads.ts';

/** The billing config in force. The first start publishes one. */
export const activeConfig = async ({ reference }: Pick<ApiDeps, 'reference'>) => {
  const config = activeBillingConfig(await reference.billingConfig());
  if (config === undefined) throw problem('not_ready', 'No billing config has been published yet.');
  return config;
};

export const tenantNotFound = () => problem('tenant_not_found', 'There is no such tenant.');

/** 404 for an answer that is empty since nobody has ever heard of the tenant. */
export const checkKnown = async (
  { queries }: Pick<ApiDeps, 'queries'>,
  tenantId: string,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<void> => {
  if (isEmpty && (await queries.balanceOfTenant(tenantId)) === undefined) throw tenantNotFound();
};

/** A tenant's row and the free pages that the config leaves it, after this process's writes for it. */
export const tenantBalance = async (
  deps: Pick<ApiDeps, 'reference' | 'queries' | 'reads'>,
  request: Pick<RouteRequest<unknown, unknown, unknown>, 'answer'>,
  tenantId: string,
) => {
  await settleReads(deps.reads, request, tenantId);
  const row = await deps.queries.balanceOfTenant(tenantId);
  if (row === undefined) throw tenantNotFound();
  const { terms, version } = await activeConfig(deps);
  const { free_pages: allowance } = terms;
  const remaining = Math.max(0, allowance - row.free_pages_used - row.free_pages_held);
  return { row, allowance, remaining, billing_config_version: version };
};

/** The members of `BalanceResponse`. */
export const balanceMembers = (row: BalanceRow, freePagesRemaining: number, as_of: string) => ({
  tenant_id: row.tenant_id,
  balance_credits: row.balance_credits,
  held_credits: row.held_credits,
  available_credits: row.available_credits,
  total_credits_purchased: row.total_credits_purchased,
  total_credits_used: row.total_credits_used,
  total_credits_adjusted: row.total_credits_adjusted,
  free_pages_remaining: freePagesRemaining,
  plan: row.plan,
  as_of,
});
