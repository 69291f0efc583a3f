import { useState } from 'react';
import { finance as texts } from '../../texts/finance.ts';
import { useAddressValues } from '../../ui/go.tsx';
import { MonthInput } from '../../ui/form.tsx';
import { monthOf, periodOf } from '../../ui/period.ts';
import { PageHeader } from '../../ui/card.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { BillingRates } from './billingRates.tsx';
import { Costs } from './costs.tsx';
import { Margin } from './margin.tsx';
import { CloseMonth, Reconciliation } from './month.tsx';
import { PriceList, Rates } from './prices.tsx';

/** Finance: the books of a month. */
export default function FinancePage() {
  const [openedAt] = useState(() => Date.now());
  const [{ month, tab }, keep] = useAddressValues(['month', 'tab']);
  // a month is closed once it is over
  const period = periodOf(month, monthOf(openedAt, tab === 'close' ? -1 : 0));
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <MonthInput label={texts.month} month={period.month} onChange={(next) => keep({ month: next })} />
      </PageHeader>
      <Tabs
        label={texts.tabs.name}
        value={tab ?? 'margin'}
        onChange={(next) => keep({ tab: next })}
        tabs={[
          { id: 'margin', name: texts.tabs.margin, content: <Margin period={period} /> },
          { id: 'costs', name: texts.tabs.costs, content: <Costs period={period} /> },
          { id: 'prices', name: texts.tabs.prices, content: <PriceList /> },
          { id: 'rates', name: texts.tabs.rates, content: <Rates /> },
          { id: 'billing', name: texts.tabs.billing, content: <BillingRates /> },
          { id: 'reconciliation', name: texts.tabs.reconciliation, content: <Reconciliation /> },
          { id: 'close', name: texts.tabs.close, content: <CloseMonth period={period} now={openedAt} /> },
        ]}
      />
    </>
  );
}
