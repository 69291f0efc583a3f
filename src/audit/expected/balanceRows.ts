import { accountOf, byType, type AuditedEvent } from '../log/auditedEvent.ts';
import { balances, openHolds } from '../../../projections/balances.ts';
import { noSums } from '../../../projections/engine/table.ts';
import { keptRows, type Emit, type ExpectedModel, type ExpectedSum } from './expectedRows.ts';

type BalanceRow = ExpectedSum<typeof balances>;

const timeOf = ({ type, data }: AuditedEvent): string => {
  if (type === 'PlanSet') return data.set_at;
  if (type === 'HoldReleased') return data.released_at;
  return 'created_at' in data ? data.created_at : '';
};

const newRow = (tenant_id: string, at: string): BalanceRow => ({
  ...noSums(balances.columns),
  tenant_id,
  plan: null,
  created_at: at,
  last_activity_at: at,
});

/** Totals of all tenants by event; also what balances at a moment are made of. */
export const balanceTotals = (emit: Emit = () => undefined) => {
  const rows = keptRows<typeof balances, BalanceRow>(balances, emit);
  const holds = keptRows(openHolds, emit);

  const close = (row: BalanceRow, holdId: string | null): void => {
    const hold = holds.take(`${row.tenant_id} ${holdId ?? ''}`);
    row.held_credits -= BigInt(hold?.credits ?? 0);
    row.free_pages_held -= BigInt(hold?.free_pages ?? 0);
  };
  const grant = (row: BalanceRow, credits: bigint): void => {
    row.purchased_credits += credits;
    row.grants_count += 1n;
  };
  const move = byType<[BalanceRow]>({
    AccountOpened: (_, row) => void (row.plan = 'free'),
    PlanSet: ({ data }, row) => void (row.plan = data.plan),
    CreditsGranted: ({ data }, row) => grant(row, BigInt(data.credits)),
    CreditsRefunded: ({ data }, row) => grant(row, -BigInt(data.credits)),
    CreditsAdjusted: ({ data }, row) => void (row.adjusted_credits += BigInt(data.credits)),
    CreditsHeld: ({ data }, row) => {
      holds.set(`${row.tenant_id} ${data.hold_id}`, { ...data, tenant_id: row.tenant_id });
      row.held_credits += BigInt(data.credits);
      row.free_pages_held += BigInt(data.free_pages);
    },
    HoldReleased: ({ data }, row) => close(row, data.hold_id),
    CreditsBurned: ({ data }, row) => {
      row.used_credits += BigInt(data.credits);
      row.free_pages_used += BigInt(data.free_pages);
      close(row, data.hold_id);
    },
  });
  return {
    rows: rows.values,
    apply: (event: AuditedEvent): void => {
      const tenant = accountOf(event.stream);
      if (tenant === undefined) return;
      const row = rows.at(tenant, () => newRow(tenant, timeOf(event)));
      row.last_activity_at = timeOf(event);
      move(event, row);
      row.balance_credits = row.purchased_credits + row.adjusted_credits - row.used_credits;
    },
    finish: (): void => {
      rows.emitAll();
      holds.emitAll();
    },
  };
};

/** Balances and open holds. */
export const balanceRows: ExpectedModel = {
  name: 'balances',
  tables: [balances, openHolds],
  start: balanceTotals,
};
