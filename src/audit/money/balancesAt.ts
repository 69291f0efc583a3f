import { decodeAny } from '../../../domain/catalogue.ts';
import type { EventFeed } from '../../../domain/ports/log.ts';
import { accountOf, auditedEvent, recordedAt } from '../log/auditedEvent.ts';
import { everything } from '../log/readThrough.ts';
import { balanceTotals } from '../expected/balanceRows.ts';

/** What is shown of a tenant's balance, and the title of each column. */
export const BALANCE_COLUMNS = {
  tenant_id: 'TENANT',
  plan: 'PLAN',
  balance_credits: 'BALANCE',
  held_credits: 'HELD',
  available_credits: 'AVAILABLE',
  purchased_credits: 'PURCHASED',
  used_credits: 'USED',
  adjusted_credits: 'ADJUSTED',
  free_pages_used: 'FREE USED',
  free_pages_held: 'FREE HELD',
} as const;
type Column = keyof typeof BALANCE_COLUMNS;

/** A tenant's credits and free pages at a moment; whole numbers as text. */
export type BalanceAt = Readonly<Record<Exclude<Column, 'plan'>, string>> & { readonly plan: string | null };

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
  const columns = Object.keys(BALANCE_COLUMNS) as Column[];
  return [...totals.rows()]
    .sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
    .map((row) => {
      const shown = { ...row, available_credits: row.balance_credits - row.held_credits };
      const entries = columns.map((column) => [column, shown[column]?.toString() ?? null]);
      return Object.fromEntries(entries) as BalanceAt;
    });
};
