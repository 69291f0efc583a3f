import type { Queries } from '../queries/queries.ts';
import { problem } from '../server/problems.ts';

export const tenantNotFound = () => problem('tenant_not_found', 'There is no such tenant.');

/** 404 for an answer that is empty since nobody has ever heard of the tenant. */
export const checkKnown = async (
  { queries }: { readonly queries: Pick<Queries, 'balanceOfTenant'> },
  tenantId: string,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<void> => {
  if (isEmpty && (await queries.balanceOfTenant(tenantId)) === undefined) throw tenantNotFound();
};
