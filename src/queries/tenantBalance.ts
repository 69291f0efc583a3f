import { activeConfig, type ReferenceData } from '../commands/reference.ts';
import type { Queries } from './queries.ts';

/** A tenant's row, what the config leaves it of free pages, and what of both is told; undefined: no such tenant. */
export const tenantBalance = async (
  { reference, queries }: { readonly reference: ReferenceData; readonly queries: Queries },
  tenantId: string,
  as_of: string,
) => {
  const row = await queries.balanceOfTenant(tenantId);
  if (row === undefined) return undefined;
  const { terms, version } = await activeConfig(reference);
  const {
    free_pages_used: used,
    free_pages_held,
    grants_count,
    created_at,
    last_activity_at,
    ...members
  } = row;
  const { free_pages: allowance } = terms;
  const remaining = Math.max(0, allowance - used - free_pages_held);
  return {
    /** `BalanceResponse`. */
    balance: { ...members, free_pages_remaining: remaining, as_of },
    free_pages: { allowance, used, remaining },
    account: { grants_count, created_at, last_activity_at },
    billing_config_version: version,
  };
};
