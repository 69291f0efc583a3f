import { useState } from 'react';
import { books as texts } from '../../texts/books.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { Go, useAddressValues } from '../../ui/go.tsx';
import { MonthInput } from '../../ui/form.tsx';
import { monthOf, periodOf } from '../../ui/period.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { Journal } from './journal.tsx';
import { OpenPayments } from './open.tsx';
import { Payments } from './payments.tsx';
import { Payout } from './payout.tsx';
import { Deferred, Dormant, Tax } from './reports.tsx';

/** Books: payments, VAT, deferred revenue and the journal of a month. */
export default function BooksPage() {
  const [openedAt] = useState(() => Date.now());
  const [{ month, tab }, keep] = useAddressValues(['month', 'tab', 'from', 'to']);
  const period = periodOf(month, monthOf(openedAt));
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <Button asChild look="quiet">
          <Go to={`/finance?tab=close&month=${period.month}`} className="">
            {texts.close}
          </Go>
        </Button>
        {tab !== 'payout' && tab !== 'open' && (
          <MonthInput
            label={texts.month}
            month={period.month}
            onChange={(next) => keep({ month: next, from: undefined, to: undefined })}
          />
        )}
      </PageHeader>
      <Tabs
        label={texts.tabs.name}
        value={tab ?? 'payments'}
        onChange={(next) => keep({ tab: next })}
        tabs={[
          { id: 'payments', name: texts.tabs.payments, content: <Payments period={period} /> },
          { id: 'tax', name: texts.tabs.tax, content: <Tax period={period} /> },
          { id: 'deferred', name: texts.tabs.deferred, content: <Deferred period={period} now={openedAt} /> },
          { id: 'journal', name: texts.tabs.journal, content: <Journal period={period} /> },
          { id: 'dormant', name: texts.tabs.dormant, content: <Dormant /> },
          { id: 'open', name: texts.tabs.open, content: <OpenPayments /> },
          { id: 'payout', name: texts.tabs.payout, content: <Payout /> },
        ]}
      />
    </>
  );
}
