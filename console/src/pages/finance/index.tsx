import { useState } from 'react';
import { finance as texts } from '../../texts/finance.ts';
import { CONTROL } from '../../ui/style.ts';
import { useAddressValue } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Costs } from './costs.tsx';
import { Margin } from './margin.tsx';
import { CloseMonth, Reconciliation } from './month.tsx';
import { periodOf } from './period.ts';
import { PriceList, Rates } from './prices.tsx';

/** Finance: the books of a month. */
export default function FinancePage() {
  const [openedAt] = useState(() => Date.now());
  const [month, keepMonth] = useAddressValue('month');
  const [tab, keepTab] = useAddressValue('tab');
  const period = periodOf(month, openedAt);
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <label className="flex items-center gap-2">
          <span className="whitespace-nowrap text-soft">{texts.month}</span>
          <input
            type="month"
            value={period.month}
            onChange={({ target }) => keepMonth(target.value === '' ? undefined : target.value)}
            className={`${CONTROL} w-44`}
          />
        </label>
      </PageHeader>
      <Tabs
        label={texts.tabs.name}
        value={tab ?? 'margin'}
        onChange={keepTab}
        tabs={[
          { id: 'margin', name: texts.tabs.margin, content: <Margin period={period} /> },
          { id: 'costs', name: texts.tabs.costs, content: <Costs period={period} /> },
          { id: 'prices', name: texts.tabs.prices, content: <PriceList /> },
          { id: 'rates', name: texts.tabs.rates, content: <Rates /> },
          { id: 'reconciliation', name: texts.tabs.reconciliation, content: <Reconciliation /> },
          { id: 'close', name: texts.tabs.close, content: <CloseMonth period={period} now={openedAt} /> },
        ]}
      />
    </>
  );
}
