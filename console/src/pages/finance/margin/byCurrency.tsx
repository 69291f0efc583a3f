import type { MarginByCurrency } from '@quire/client';
import { finance as texts } from '../../../texts/finance.ts';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { majorText } from '../../../ui/values/decimal.ts';
import { Credits, Money } from '../../../ui/values/numbers.tsx';

const { columns } = texts.margin;

const count = (
  id: string,
  name: string,
  value: (item: MarginByCurrency) => number,
): Column<MarginByCurrency> => ({
  id,
  name,
  value,
  isNumber: true,
  show: (item) => <Credits value={value(item)} />,
});

const minor = (
  id: string,
  name: string,
  value: (item: MarginByCurrency) => number,
): Column<MarginByCurrency> => ({
  id,
  name,
  isNumber: true,
  share: 1.3,
  value: (item) => majorText(value(item), item.currency),
  show: (item) => <Money amount={majorText(value(item), item.currency)} currency={item.currency} />,
});

const usd = (
  id: string,
  name: string,
  value: (item: MarginByCurrency) => string,
): Column<MarginByCurrency> => ({
  id,
  name,
  value,
  isNumber: true,
  share: 1.5,
  show: (item) => <Money amount={value(item)} currency="USD" isMarked />,
});

const COLUMNS: readonly Column<MarginByCurrency>[] = [
  { id: 'currency', name: columns.currency, value: ({ currency }) => currency },
  count('sales', columns.sales, ({ sales }) => sales),
  count('refunds', columns.refunds, ({ refunds }) => refunds),
  minor('gross', columns.gross, ({ gross_amount_minor }) => gross_amount_minor),
  minor('vat', columns.vat, ({ vat_amount_minor }) => vat_amount_minor),
  minor('fee', columns.fee, ({ provider_fee_minor }) => provider_fee_minor),
  minor('refunded', columns.refunded, ({ refunded_amount_minor }) => refunded_amount_minor),
  count('consumed', columns.consumed, ({ credits_consumed }) => credits_consumed),
  usd('net', columns.net, ({ net_revenue_usd }) => net_revenue_usd),
  usd('true_up', columns.trueUp, ({ refund_true_up_usd }) => refund_true_up_usd),
  usd('deferred', columns.deferred, ({ deferred_revenue_usd }) => deferred_revenue_usd),
];

/** The month's money in the currencies that customers paid in. */
export function ByCurrency({ items }: { items: readonly MarginByCurrency[] }) {
  return (
    <Card title={texts.margin.byCurrency}>
      <DataTable
        label={texts.margin.byCurrency}
        columns={COLUMNS}
        items={items}
        idOf={({ currency }) => currency}
        empty={<Empty title={texts.margin.none.title} say={texts.margin.none.say} />}
      />
    </Card>
  );
}
