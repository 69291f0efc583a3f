import type { CreditPriceListResponse } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange, useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Card } from '../../../ui/card.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Money } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';
import { ChangeLines } from './changeLines.tsx';
import { Confirm } from './confirm.tsx';
import { changesOf, faultOf, PRICES, type Entry } from './entries.ts';
import { EntryLines } from './entryLines.tsx';

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
