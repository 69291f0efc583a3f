import type { Api } from '@quire/client';
import { useRead } from '../../api/hooks.ts';
import { usage } from '../../texts/usage.ts';
import { Card } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Money } from '../../ui/values/numbers.tsx';

const { prices: texts, columns: names, quote } = usage;
type Price = Awaited<ReturnType<Api['getCreditPrices']>>['entries'][number];
type Rate = Awaited<ReturnType<Api['getBillingRates']>>['items'][number];

const PRICES: readonly Column<Price>[] = [
  { id: 'currency', name: names.currency, value: ({ currency }) => currency },
  {
    id: 'price',
    name: names.price,
    value: ({ price_per_1000_credits }) => price_per_1000_credits,
    show: ({ price_per_1000_credits, currency }) => (
      <Money amount={price_per_1000_credits} currency={currency} />
    ),
    isNumber: true,
  },
  { id: 'tax', name: names.tax, value: ({ tax_basis }) => texts.tax[tax_basis] },
];

const RATES: readonly Column<Rate>[] = [
  { id: 'operation', name: names.operation, value: ({ operation }) => quote.operations[operation] },
  { id: 'mode', name: names.mode, value: ({ extraction_mode }) => extraction_mode },
  { id: 'billing', name: names.billing, value: ({ billing_type }) => quote.billings[billing_type] },
  {
    id: 'perPage',
    name: names.perPage,
    value: ({ credits_per_page }) => credits_per_page,
    isNumber: true,
  },
];

/** What credits cost by currency, and what a page costs in credits. */
export function Prices() {
  const prices = useRead('getCreditPrices');
  const rates = useRead('getBillingRates');
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Card title={prices.data === undefined ? texts.title : texts.version(prices.data.version)}>
        <ProblemNote error={prices.error} onRetry={() => void prices.refetch()} />
        {prices.error === null && (
          <DataTable
            label={texts.list}
            columns={PRICES}
            items={prices.data?.entries}
            idOf={({ currency }) => currency}
          />
        )}
      </Card>
      <Card title={texts.rates}>
        <ProblemNote error={rates.error} onRetry={() => void rates.refetch()} />
        {rates.error === null && (
          <DataTable
            label={texts.rateList}
            columns={RATES}
            items={rates.data?.items}
            idOf={(rate) => [rate.operation, rate.extraction_mode, rate.billing_type].join(' ')}
          />
        )}
      </Card>
    </div>
  );
}
