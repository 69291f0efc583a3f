import { useState, type ReactNode } from 'react';
import { Plus, X } from '../../ui/icons/icons.tsx';
import { isProblem, type CreditPriceListResponse, type FxRateResponse } from '@quire/client';
import { useQueryClient, useQueries } from '@tanstack/react-query';
import { toast } from 'sonner';
import { finance as texts } from '../../texts/finance.ts';
import { Badge, Card, type Tone } from '../../ui/card.tsx';
import {
  faultOf,
  changesOf,
  PRICES,
  isCurrency,
  RATES,
  type Change,
  type State,
  type Entry,
} from './entries.ts';
import { ImportRates } from './importRates.tsx';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { Select } from '../../ui/select.tsx';
import { useChange, useRead, api } from '../../api/connection.ts';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Money, Time } from '../../ui/values.tsx';
import { Field, useFieldId } from '../../ui/form.tsx';

const TONES: Readonly<Record<State, Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  same: 'neutral',
};

/** Where what was is crossed out. */
const GONE: readonly State[] = ['changed', 'removed'];

/** What changes against what is active, one line a currency. */
function ChangeLines({ changes }: { changes: readonly Change[] }) {
  return (
    <table className="w-full text-left" aria-label={texts.prices.diff}>
      <thead className="text-[13px] text-soft">
        <tr>
          <th className="py-1 font-medium">{texts.prices.currency}</th>
          <th className="py-1 text-right font-medium">{texts.prices.now}</th>
          <th className="py-1 text-right font-medium">{texts.prices.then}</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {changes.map(({ currency, state, now, then }) => (
          <tr key={currency} className="border-t border-line">
            <td className="py-1">{currency}</td>
            <td className={`py-1 text-right ${GONE.includes(state) ? 'text-soft line-through' : ''}`}>
              {now ?? '–'}
            </td>
            <td className="py-1 text-right font-medium">{then ?? '–'}</td>
            <td className="py-1 pl-3 text-right">
              <Badge tone={TONES[state]}>{texts.prices.states[state]}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ConfirmProps {
  readonly action: string;
  readonly title: string;
  readonly say: string;
  readonly isDisabled: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Gives whether it succeeded: then the question is closed. */
  readonly onConfirm: () => Promise<boolean>;
  readonly children: ReactNode;
}

/** Shows what is about to be published, and asks before it is. */
function Confirm({ action, title, say, isDisabled, isBusy, error, onConfirm, children }: ConfirmProps) {
  const [isOpen, open] = useState(false);
  const confirm = async (): Promise<void> => {
    if (await onConfirm()) open(false);
  };
  return (
    <>
      <Button look="primary" disabled={isDisabled} onClick={() => open(true)}>
        {action}
      </Button>
      <Dialog isOpen={isOpen} onOpenChange={open} title={title} say={say}>
        {children}
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => open(false)}>{shell.cancel}</Button>
          <Button look="primary" isBusy={isBusy} onClick={() => void confirm()}>
            {texts.prices.confirm}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

const BASES = Object.entries(texts.prices.bases).map(([value, name]) => ({ value, name }));

interface EntryLinesProps {
  readonly entries: readonly Entry[];
  readonly onChange: (entries: readonly Entry[]) => void;
  /** What the amounts are. */
  readonly amountName: string;
  readonly amounts: RegExp;
  /** Whether each says how it stands to VAT. */
  readonly hasBasis?: boolean;
}

/** Lines of a currency and its amount; lines can be added and removed. */
function EntryLines({ entries, onChange, amountName, amounts, hasBasis }: EntryLinesProps) {
  const change = (key: string, to: Partial<Entry>): void =>
    onChange(entries.map((entry) => (entry.key === key ? { ...entry, ...to } : entry)));
  const add = (): void =>
    onChange([...entries, { key: crypto.randomUUID(), currency: '', amount: '', basis: 'exclusive' }]);
  return (
    <div className="flex flex-col gap-2">
      {entries.map((entry) => {
        const fault = faultOf(entry, entries, { amounts, words: texts.prices });
        const isTyped = entry.currency !== '' && entry.amount !== '';
        const id = `fault-${entry.key}`;
        return (
          <div key={entry.key} className="flex flex-col gap-1">
            <div className="flex items-center gap-2">
              <input
                aria-label={texts.prices.currency}
                placeholder="EUR"
                maxLength={3}
                value={entry.currency}
                onChange={({ target }) => change(entry.key, { currency: target.value.toUpperCase() })}
                className={`${CONTROL} max-w-20`}
              />
              <input
                aria-label={`${amountName} ${entry.currency}`.trim()}
                placeholder="0.00"
                inputMode="decimal"
                value={entry.amount}
                aria-invalid={isTyped && fault !== undefined}
                aria-describedby={id}
                onChange={({ target }) => change(entry.key, { amount: target.value })}
                className={`${CONTROL} max-w-40 text-right`}
              />
              {hasBasis === true && (
                <div className="w-28">
                  <Select
                    label={`${texts.prices.basis} ${entry.currency}`.trim()}
                    choices={BASES}
                    value={entry.basis}
                    onChange={(basis) => change(entry.key, { basis: basis as Entry['basis'] })}
                  />
                </div>
              )}
              <Button
                look="quiet"
                size="icon"
                aria-label={`${texts.prices.remove} ${entry.currency}`.trim()}
                onClick={() => onChange(entries.filter(({ key }) => key !== entry.key))}
              >
                <X aria-hidden className="size-4" />
              </Button>
            </div>
            <p id={id} className="text-[13px] text-bad">
              {isTyped ? fault : undefined}
            </p>
          </div>
        );
      })}
      <Button size="small" className="self-start" onClick={add}>
        <Plus aria-hidden className="size-3.5" />
        {texts.prices.add}
      </Button>
    </div>
  );
}

const PRICES_CHECKED = { amounts: PRICES, words: texts.prices };

type Active = CreditPriceListResponse['entries'][number];

const PRICE_COLUMNS: readonly Column<Active>[] = [
  { id: 'currency', name: texts.prices.currency, value: ({ currency }) => currency },
  {
    id: 'price',
    name: texts.prices.price,
    value: ({ price_per_1000_credits }) => price_per_1000_credits,
    isNumber: true,
    share: 1.8,
    show: ({ price_per_1000_credits, currency }) => (
      <Money amount={price_per_1000_credits} currency={currency} />
    ),
  },
  { id: 'basis', name: texts.prices.basis, value: ({ tax_basis }) => texts.prices.bases[tax_basis] },
];

const entriesOf = ({ entries }: CreditPriceListResponse): readonly Entry[] =>
  entries.map(({ currency, price_per_1000_credits, tax_basis }) => ({
    key: currency,
    currency,
    amount: price_per_1000_credits,
    basis: tax_basis,
  }));

const shown = ({ amount, basis }: Entry): string =>
  basis === 'inclusive'
    ? `${amount} · ${texts.prices.basis} ${texts.prices.bases.inclusive.toLowerCase()}`
    : amount;

function NextVersion({ list }: { list: CreditPriceListResponse }) {
  const active = entriesOf(list);
  const [entries, keep] = useState(active);
  const [note, type] = useState('');
  const publish = useChange('publishCreditPrices');
  const cache = useQueryClient();
  const changes = changesOf(active, entries, shown);
  const isSame = changes.every(({ state }) => state === 'same');
  const isBad =
    entries.length === 0 || entries.some((entry) => faultOf(entry, entries, PRICES_CHECKED) !== undefined);
  const send = async (): Promise<boolean> => {
    const body = {
      expected_version: list.version,
      entries: entries.map(({ currency, amount, basis }) => ({
        currency,
        price_per_1000_credits: amount.trim(),
        tax_basis: basis,
      })),
      ...(note === '' ? {} : { note }),
    };
    const answer = await publish.mutateAsync({ body }).catch(() => undefined);
    // also after a refusal: another may have published meanwhile, and what is typed here is compared with that
    await cache.invalidateQueries({ queryKey: ['getAdminCreditPrices'] });
    if (answer === undefined) return false;
    toast.success(texts.prices.published(answer.version));
    type('');
    return true;
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">{texts.prices.editSay}</p>
      <EntryLines
        entries={entries}
        onChange={keep}
        amountName={texts.prices.price}
        amounts={PRICES}
        hasBasis
      />
      <input
        aria-label={texts.prices.note}
        placeholder={texts.prices.note}
        value={note}
        onChange={({ target }) => type(target.value)}
        className={CONTROL}
      />
      {isSame ? <p className="text-soft">{texts.prices.same}</p> : <ChangeLines changes={changes} />}
      <div className="self-end">
        <Confirm
          action={texts.prices.review}
          title={texts.prices.confirmTitle}
          say={texts.prices.confirmSay}
          isDisabled={isSame || isBad}
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

/** The active price list, and the next one with what it changes. */
export function PriceList() {
  const list = useRead('getAdminCreditPrices');
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Skeleton lines={5} />;
  const { version, published_at, note, entries } = list.data;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title={texts.prices.active(version)}>
        <p className="mb-2 text-soft">
          {texts.prices.since} <Time at={published_at} /> {note}
        </p>
        <DataTable
          label={texts.tabs.prices}
          columns={PRICE_COLUMNS}
          items={entries}
          idOf={({ currency }) => currency}
        />
      </Card>
      <Card title={texts.prices.edit}>
        <NextVersion list={list.data} />
      </Card>
    </div>
  );
}

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
      <div className="self-end">
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
        <ImportRates />
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
