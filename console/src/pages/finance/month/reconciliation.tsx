import type { ReconciliationRow } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Go } from '../../../ui/go.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';

const { reconciliation: words } = texts;

const credits = (
  id: string,
  name: string,
  value: (row: ReconciliationRow) => number,
): Column<ReconciliationRow> => ({
  id,
  name,
  value,
  isNumber: true,
  show: (row) => <Credits value={value(row)} />,
});

const COLUMNS: readonly Column<ReconciliationRow>[] = [
  {
    id: 'tenant',
    name: words.tenant,
    value: ({ tenant_id }) => tenant_id,
    share: 2,
    show: ({ tenant_id }) => <Go to={`/tenants/${encodeURIComponent(tenant_id)}`}>{tenant_id}</Go>,
  },
  credits('grants', words.grants, ({ grants_credits }) => grants_credits),
  credits('adjustments', words.adjustments, ({ adjustments_credits }) => adjustments_credits),
  credits('burns', words.burns, ({ burns_credits }) => burns_credits),
  credits('expected', words.expected, ({ expected_balance_credits }) => expected_balance_credits),
  credits('balance', words.balance, ({ balance_credits }) => balance_credits),
  credits('drift', words.drift, ({ drift_credits }) => drift_credits),
];

/** Whether grants, ledger and balances of every tenant agree. */
export function Reconciliation() {
  const [isAll, showAll] = useState(true);
  const read = useRead('getReconciliation', { query: { include_ok: isAll } });
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data === undefined) return <Skeleton lines={5} />;
  const { drifted, ok = [], tenants_checked, checked_at, position } = read.data;
  const isGood = drifted.length === 0;
  return (
    <div className="flex flex-col gap-4">
      <div
        role="status"
        className={`flex flex-wrap items-center justify-between gap-2 rounded-lg p-3 ${
          isGood ? 'bg-good-soft text-good' : 'bg-bad-soft text-bad'
        }`}
      >
        <span className="font-medium">
          {isGood
            ? words.good(tenants_checked.toLocaleString('en'))
            : words.bad(drifted.length.toLocaleString('en'))}
        </span>
        <span className="text-[13px]">
          {words.checked} <Time at={checked_at} /> · {words.position} {position ?? '–'}
        </span>
      </div>
      <DataTable
        label={isAll ? words.all : words.drifted}
        columns={COLUMNS}
        items={[...drifted, ...ok]}
        idOf={({ tenant_id }) => tenant_id}
        actions={
          <>
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={isAll}
                onChange={({ target }) => showAll(target.checked)}
                className="size-4 accent-(--accent)"
              />
              {words.withOk}
            </label>
            <Button size="small" isBusy={read.isFetching} onClick={() => void read.refetch()}>
              {words.again}
            </Button>
          </>
        }
        empty={
          <Empty title={words.none}>
            <Button onClick={() => showAll(true)}>{words.withOk}</Button>
          </Empty>
        }
      />
    </div>
  );
}
