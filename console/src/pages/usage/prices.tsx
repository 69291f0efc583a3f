import type { Api } from '@quire/client';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useRead } from '../../api/connection.ts';
import { modeName, modes } from '../../texts/shell.ts';
import { usage } from '../../texts/usage.ts';
import { Card, Badge } from '../../ui/card.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Money, Credits } from '../../ui/values.tsx';
import { useTenantId } from '../../api/session.ts';
import { CONTROL } from '../../ui/style.ts';
import { Field, useFieldId } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';

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
  { id: 'mode', name: names.mode, value: ({ extraction_mode }) => modeName(extraction_mode) },
  { id: 'billing', name: names.billing, value: ({ billing_type }) => quote.billings[billing_type] },
  {
    id: 'window',
    name: names.window,
    value: ({ completion_window }) => quote.windows[completion_window ?? 'none'],
  },
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
            idOf={(rate) =>
              [rate.operation, rate.extraction_mode, rate.billing_type, rate.completion_window ?? ''].join(
                ' ',
              )
            }
          />
        )}
      </Card>
    </div>
  );
}

const quoteTexts = usage.quote;
type Quote = Awaited<ReturnType<Api['getQuote']>>;
type Operation = keyof typeof quoteTexts.operations;
type Mode = keyof typeof modes;
type Billing = keyof typeof quoteTexts.billings;
type Window = keyof typeof quoteTexts.windows;

interface Asked {
  readonly operation: Operation;
  readonly mode: Mode;
  readonly billing: Billing;
  readonly window: Window;
  readonly pages: string;
}

function Choose<Value extends string>(props: {
  label: string;
  names: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
}) {
  const choices = Object.entries<string>(props.names).map(([value, name]) => ({ value, name }));
  return (
    <div className="flex flex-col gap-1">
      <span className="font-medium">{props.label}</span>
      <Select
        label={props.label}
        choices={choices}
        value={props.value}
        onChange={(value) => props.onChange(value as Value)}
      />
    </div>
  );
}

function PagesInput({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <input
      id={useFieldId()}
      inputMode="numeric"
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={CONTROL}
    />
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-4 border-b border-line py-1.5">
      <dt className="text-soft">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Result({ quote }: { quote: Quote }) {
  return (
    <div aria-live="polite">
      <p className="text-3xl font-semibold">
        <Credits value={quote.credits} /> <span className="text-base text-soft">{quoteTexts.result}</span>
      </p>
      <dl className="mt-3">
        <Figure name={quoteTexts.free}>{quote.free_pages_applied.toLocaleString('en')}</Figure>
        <Figure name={quoteTexts.billable}>{quote.billable_pages.toLocaleString('en')}</Figure>
        <Figure name={quoteTexts.perPage}>{quote.credits_per_page}</Figure>
        <Figure name={quoteTexts.value}>
          <Money amount={quote.list_value_usd} currency="USD" />
        </Figure>
        <Figure name={quoteTexts.left}>
          <Credits value={quote.available_credits - quote.credits} />
        </Figure>
      </dl>
      <p className="mt-3">
        <Badge tone={quote.sufficient ? 'good' : 'bad'}>
          {quote.sufficient ? quoteTexts.enough : quoteTexts.short}
        </Badge>
      </p>
    </div>
  );
}

const PAGES = /^[1-9]\d{0,6}$/;

/** Batches alone may wait, and they extract. */
const windowAsked = ({ operation, window }: Asked): { completion_window?: '24h' } =>
  operation === 'extract' && window !== 'none' ? { completion_window: window } : {};

/** What a document of so many pages would cost now. */
export function QuoteCalculator() {
  const tenant_id = useTenantId();
  const [asked, ask] = useState<Asked>({
    operation: 'extract',
    mode: 'standard',
    billing: 'full_service',
    window: 'none',
    pages: '10',
  });
  const latest = useDeferredValue(asked);
  const { operation, mode, billing, pages } = latest;
  const isExtract = operation === 'extract';
  const extraction_mode = isExtract ? mode : mode === 'fast' ? 'fast' : 'default';
  const isRight = PAGES.test(pages);
  const query = {
    tenant_id,
    operation,
    billing_type: billing,
    pages: Number(pages),
    extraction_mode,
    ...windowAsked(latest),
  } as const;
  const quote = useRead('getQuote', { query }, { enabled: isRight });
  return (
    <Card title={quoteTexts.title} className="max-w-3xl">
      <div className="grid gap-6 sm:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Choose
            label={quoteTexts.operation}
            names={quoteTexts.operations}
            value={asked.operation}
            onChange={(value) => ask({ ...asked, operation: value })}
          />
          <Choose
            label={quoteTexts.mode}
            names={modes}
            value={asked.mode}
            onChange={(value) => ask({ ...asked, mode: value })}
          />
          <Choose
            label={quoteTexts.billing}
            names={quoteTexts.billings}
            value={asked.billing}
            onChange={(value) => ask({ ...asked, billing: value })}
          />
          {asked.operation === 'extract' && (
            <Choose
              label={quoteTexts.window}
              names={quoteTexts.windows}
              value={asked.window}
              onChange={(value) => ask({ ...asked, window: value })}
            />
          )}
          <Field label={quoteTexts.pages} error={PAGES.test(asked.pages) ? undefined : quoteTexts.badPages}>
            <PagesInput value={asked.pages} onChange={(value) => ask({ ...asked, pages: value })} />
          </Field>
        </div>
        <div>
          <ProblemNote error={quote.error} onRetry={() => void quote.refetch()} />
          {isRight && quote.isPending && <Skeleton lines={6} />}
          {isRight && quote.data !== undefined && <Result quote={quote.data} />}
        </div>
      </div>
    </Card>
  );
}
