import { accountOf, type AuditedEvent } from '../log/auditedEvent.ts';
import { balances, openHolds } from '../../../projections/balances/balances.schema.ts';
import { noSums } from '../../../projections/engine/table.ts';
import type { ExpectedModel, ExpectedRow, ExpectedSum } from './expectedRows.ts';

type BalanceRow = ExpectedSum<typeof balances>;

const newRow = (tenant_id: string, at: string): BalanceRow => ({
  ...noSums(balances.columns),
  tenant_id,
  plan: null,
  created_at: at,
  last_activity_at: at,
});

const timeOf = ({ type, data }: AuditedEvent): string => {
  if (type === 'PlanSet') return data.set_at;
  if (type === 'HoldReleased') return data.released_at;
  return 'created_at' in data ? data.created_at : '';
};

const signed = (type: 'CreditsGranted' | 'CreditsRefunded', credits: number): bigint =>
  type === 'CreditsGranted' ? BigInt(credits) : -BigInt(credits);

/** Totals of all tenants by event; also what balances at a moment are made of. */
export const balanceTotals = () => {
  const rows = new Map<string, BalanceRow>();
  const holds = new Map<string, ExpectedRow<typeof openHolds>>();

  const close = (row: BalanceRow, holdId: string | null): void => {
    const key = `${row.tenant_id} ${holdId ?? ''}`;
    const hold = holds.get(key);
    if (hold === undefined) return;
    holds.delete(key);
    row.held_credits -= BigInt(hold.credits);
    row.free_pages_held -= BigInt(hold.free_pages);
  };

  const move = (row: BalanceRow, { type, data }: AuditedEvent): void => {
    switch (type) {
      case 'AccountOpened':
      case 'PlanSet':
        row.plan = 'plan' in data ? data.plan : 'free';
        return;
      case 'CreditsGranted':
      case 'CreditsRefunded':
        row.purchased_credits += signed(type, data.credits);
        row.grants_count += 1n;
        return;
      case 'CreditsAdjusted':
        row.adjusted_credits += BigInt(data.credits);
        return;
      case 'CreditsHeld':
        holds.set(`${row.tenant_id} ${data.hold_id}`, { ...data, tenant_id: row.tenant_id });
        row.held_credits += BigInt(data.credits);
        row.free_pages_held += BigInt(data.free_pages);
        return;
      case 'HoldReleased': {
        close(row, data.hold_id);
        return;
      }
      case 'CreditsBurned':
        row.used_credits += BigInt(data.credits);
        row.free_pages_used += BigInt(data.free_pages);
        close(row, data.hold_id);
        return;
      default:
    }
  };

  return {
    rows: () => rows.values(),
    holds: () => holds.values(),
    apply: (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined) return;
      const row = rows.get(tenant) ?? newRow(tenant, timeOf(event));
      rows.set(tenant, row);
      row.last_activity_at = timeOf(event);
      move(row, event);
      row.balance_credits = row.purchased_credits + row.adjusted_credits - row.used_credits;
    },
  };
};

/** Balances and open holds. */
export const balanceRows: ExpectedModel = {
  name: 'balances',
  tables: [balances, openHolds],
  start: () => {
    const totals = balanceTotals();
    return {
      apply: totals.apply,
      finish: (emit) => {
        for (const row of totals.rows()) emit(balances, row);
        for (const hold of totals.holds()) emit(openHolds, hold);
      },
    };
  },
};
