import { useMemo, useState } from 'react';
import { usePages } from '../../../api/usePages.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits, Money } from '../../../ui/values/numbers.tsx';
import { majorText } from '../../../ui/values/decimal.ts';
import { Time } from '../../../ui/values/time.tsx';
import { refundableOf, type RefundableSale } from './refundable.ts';
import { RefundForm } from './refundForm.tsx';
import type { FormProps } from './sell.tsx';

/** All of it fits into the dialog. */
const COLUMNS: readonly Column<RefundableSale>[] = [
  {
    id: 'occurred_at',
    name: texts.grants.when,
    value: ({ sale }) => sale.occurred_at,
    share: 1.5,
    show: ({ sale }) => <Time at={sale.occurred_at} />,
  },
  {
    id: 'transaction',
    name: texts.grants.transaction,
    value: ({ sale }) => sale.provider_txn_id,
    share: 0.9,
  },
  {
    id: 'credits',
    name: texts.grants.credits,
    value: ({ left }) => left.credits,
    isNumber: true,
    share: 0.75,
    show: ({ left }) => <Credits value={left.credits} />,
  },
  {
    id: 'money',
    name: texts.refund.refundable,
    value: ({ sale, left }) => majorText(left.gross, sale.currency),
    isNumber: true,
    share: 0.95,
    show: ({ sale, left }) => (
      <Money amount={majorText(left.gross, sale.currency)} currency={sale.currency} />
    ),
  },
];

/** Refunds a sale: first which one, then what of it. */
export function Refund({ account, onDone, grantId }: FormProps & { grantId?: string | undefined }) {
  const grants = usePages('listGrants', { path: { tenant_id: account.tenantId } });
  const [chosen, choose] = useState(grantId);
  // once one is chosen its figures stay: the list is read again when it was refunded
  const [kept, keep] = useState<RefundableSale>();
  const sales = useMemo(
    () => (grants.items === undefined ? undefined : refundableOf(grants.items)),
    [grants.items],
  );
  if (grants.error !== null) return <ProblemNote error={grants.error} onRetry={grants.again} />;
  const found = kept ?? sales?.find(({ sale }) => sale.grant_id === chosen);
  if (found !== undefined) {
    if (kept === undefined) keep(found);
    return (
      <RefundForm of={found} account={account} onDone={onDone}>
        <Button
          look="quiet"
          size="small"
          onClick={() => {
            keep(undefined);
            choose(undefined);
          }}
        >
          {texts.refund.otherSale}
        </Button>
      </RefundForm>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <p className="text-soft">{texts.refund.choose}</p>
      <DataTable
        label={texts.refund.refundable}
        columns={COLUMNS}
        items={sales}
        idOf={({ sale }) => sale.grant_id}
        onOpen={keep}
        onMore={grants.more}
        isLoadingMore={grants.isLoadingMore}
        height={320}
        empty={<Empty title={texts.refund.none.title} say={texts.refund.none.say} />}
      />
    </div>
  );
}
