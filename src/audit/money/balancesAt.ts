import { decodeAny } from '../../../domain/catalogue.ts';
import type { EventFeed } from '../../../domain/ports/eventFeed.ts';
import { accountOf, auditedEvent, recordedAt } from '../log/auditedEvent.ts';
import { everything } from '../log/auditLog.ts';
import { balanceTotals } from '../expected/balanceRows.ts';

/** A tenant's credits and free pages at a moment; whole numbers as text. */
export interface BalanceAt {
  readonly tenant_id: string;
  readonly plan: string | null;
  readonly balance_credits: string;
  readonly held_credits: string;
  readonly available_credits: string;
  readonly purchased_credits: string;
  readonly used_credits: string;
  readonly adjusted_credits: string;
  readonly free_pages_used: string;
  readonly free_pages_held: string;
}

/** Balances by the events that were recorded at or before a moment, by tenant ID. */
export const balancesAt = async (
  feed: Pick<EventFeed, 'subscribe'>,
  { at, tenant }: { readonly at: string; readonly tenant?: string | undefined },
): Promise<readonly BalanceAt[]> => {
  const totals = balanceTotals();
  for await (const recorded of everything(feed)) {
    const owner = accountOf(recorded.stream);
    if (owner === undefined || (tenant !== undefined && owner !== tenant)) continue;
    if (recordedAt(recorded) <= at) totals.apply(auditedEvent(recorded, decodeAny(recorded)));
  }
  return [...totals.rows()]
    .sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
    .map((row) => ({
      tenant_id: row.tenant_id,
      plan: row.plan,
      balance_credits: row.balance_credits.toString(),
      held_credits: row.held_credits.toString(),
      available_credits: (row.balance_credits - row.held_credits).toString(),
      purchased_credits: row.purchased_credits.toString(),
      used_credits: row.used_credits.toString(),
      adjusted_credits: row.adjusted_credits.toString(),
      free_pages_used: row.free_pages_used.toString(),
      free_pages_held: row.free_pages_held.toString(),
    }));
};
