import { isProblem, type FxRateResponse } from '@quire/client';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../../api/connection.ts';
import { useChange, useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Card } from '../../../ui/card.tsx';
import { Field, useFieldId } from '../../../ui/form/form.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { ChangeLines } from './changeLines.tsx';
import { Confirm } from './confirm.tsx';
import { changesOf, faultOf, isCurrency, RATES, type Entry } from './entries.ts';
import { EntryLines } from './entryLines.tsx';

const BASE = 'EUR';
const RATES_CHECKED = { amounts: RATES, words: texts.prices };

/** A currency with its last rate before a day; null: none is known. */
interface Known {
  readonly currency: string;
  readonly rate: FxRateResponse | null;
}

const RATE_COLUMNS: readonly Column<Known>[] = [
  { id: 'currency', name: texts.prices.currency, value: ({ currency }) => currency },
  {
    id: 'rate',
    name: texts.rates.rate,
    value: ({ rate }) => rate?.rate ?? texts.rates.none,
    isNumber: true,
    share: 1.4,
  },
  { id: 'date', name: texts.rates.of, value: ({ rate }) => rate?.rate_date, share: 1.2 },
  { id: 'source', name: texts.rates.source, value: ({ rate }) => rate?.source },
];

/** The rate of a day; that none is known is an answer as well. */
const rateOf = async (quote: string, on: string, signal: AbortSignal): Promise<FxRateResponse | null> => {
  try {
    return await api.getFxRate({ query: { base: BASE, quote, on } }, { signal });
  } catch (error) {
    if (isProblem(error) && error.problem.code === 'fx_rate_not_found') return null;
    throw error;
  }
};

/** The last rates on or before a day, of the currencies that are sold in. */
const useKnown = (currencies: readonly string[], on: string) =>
  useQueries({
    queries: currencies.map((quote) => ({
      queryKey: ['getFxRate', { query: { base: BASE, quote, on } }, 'orNone'],
      queryFn: ({ signal }: { signal: AbortSignal }) => rateOf(quote, on, signal),
    })),
    combine: (results) => ({
      error: results.find(({ error }) => error !== null)?.error ?? null,
      retry: () => {
        for (const { refetch } of results) void refetch();
      },
      known: results.some(({ data }) => data === undefined)
        ? undefined
        : currencies.map((currency, index) => ({ currency, rate: results[index]?.data ?? null })),
    }),
  });

function DayInput({ value, onChange }: { value: string; onChange: (day: string) => void }) {
  const id = useFieldId();
  return (
    <input
      id={id}
      type="date"
      value={value}
      onChange={({ target }) => {
        if (target.value !== '') onChange(target.value);
      }}
      className={`${CONTROL} max-w-44`}
    />
  );
}

const blank = (currency: string): Entry => ({ key: currency, currency, amount: '', basis: 'exclusive' });

function PublishDay({ known, day }: { known: readonly Known[]; day: string }) {
  const [entries, keep] = useState<readonly Entry[]>(() => known.map(({ currency }) => blank(currency)));
  const publish = useChange('publishFxRates');
  const cache = useQueryClient();
  const filled = entries.filter(({ amount }) => amount.trim() !== '');
  const added = entries
    .map(({ currency }) => currency)
    .filter((code) => isCurrency(code) && code !== BASE && known.every(({ currency }) => currency !== code));
  // what is known of a currency that is not sold in: it may have a rate all the same
  const { known: alsoKnown = [] } = useKnown([...new Set(added)], day);
  const active = [...known, ...alsoKnown].flatMap(({ currency, rate }) =>
    rate === null ? [] : [{ ...blank(currency), amount: rate.rate }],
  );
  const changes = changesOf(
    active.filter(({ currency }) => filled.some((entry) => entry.currency === currency)),
    filled,
  );
  const isBad =
    filled.length === 0 || filled.some((entry) => faultOf(entry, entries, RATES_CHECKED) !== undefined);
  const send = async (): Promise<boolean> => {
    const rates = Object.fromEntries(filled.map(({ currency, amount }) => [currency, amount.trim()]));
    const answer = await publish
      .mutateAsync({ body: { date: day, base: BASE, rates } })
      .catch(() => undefined);
    if (answer === undefined) return false;
    toast.success(answer.published ? texts.rates.published : texts.rates.already);
    await cache.invalidateQueries({ queryKey: ['getFxRate'] });
    return true;
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">{texts.rates.editSay}</p>
      <EntryLines entries={entries} onChange={keep} amountName={texts.rates.rate} amounts={RATES} />
      {filled.length > 0 && <ChangeLines changes={changes} />}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-[13px] text-soft">{texts.rates.import}</p>
        <Confirm
          action={texts.rates.review}
          title={texts.rates.confirmTitle(day)}
          say={texts.rates.confirmSay}
          isDisabled={isBad}
          isBusy={publish.isPending}
          error={publish.error}
          onConfirm={send}
        >
          <ChangeLines changes={changes} />
        </Confirm>
      </div>
    </div>
  );
}

function RatesOf({ currencies }: { currencies: readonly string[] }) {
  const [day, choose] = useState(() => new Date().toISOString().slice(0, 10));
  const { known, error, retry } = useKnown(currencies, day);
  return (
    <div className="flex flex-col gap-4">
      <Field label={texts.rates.date} say={texts.rates.knownSay}>
        <DayInput value={day} onChange={choose} />
      </Field>
      <ProblemNote error={error} onRetry={retry} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title={texts.rates.known}>
          <DataTable
            label={texts.tabs.rates}
            columns={RATE_COLUMNS}
            items={known}
            idOf={({ currency }) => currency}
          />
        </Card>
        <Card title={texts.rates.edit}>
          {known === undefined ? <Skeleton lines={4} /> : <PublishDay key={day} known={known} day={day} />}
        </Card>
      </div>
    </div>
  );
}

/** Rates of exchange: what is known of a day, and its publication. */
export function Rates() {
  const list = useRead('getAdminCreditPrices');
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Skeleton lines={5} />;
  const sold = list.data.entries.map(({ currency }) => currency);
  return <RatesOf currencies={[...new Set(['USD', ...sold])].filter((code) => code !== BASE)} />;
}
