import type { LlmCostGroup, SubsidyDay } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Select } from '../../../ui/form/select.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits, Money } from '../../../ui/values/numbers.tsx';
import type { Period } from '../period.ts';
import { MissingPrices } from './missingPrices.tsx';

type Group = keyof typeof texts.costs.groups;
const GROUPS = Object.entries(texts.costs.groups).map(([value, name]) => ({ value, name }));

const counted = <Item,>(id: string, name: string, value: (item: Item) => number): Column<Item> => ({
  id,
  name,
  value,
  isNumber: true,
  show: (item) => <Credits value={value(item)} />,
});

const usd = <Item,>(id: string, name: string, value: (item: Item) => string): Column<Item> => ({
  id,
  name,
  value,
  isNumber: true,
  share: 1.5,
  show: (item) => <Money amount={value(item)} currency="USD" />,
});

const modelColumns = (group: Group): readonly Column<LlmCostGroup>[] => [
  { id: 'key', name: texts.costs.groups[group], value: ({ key }) => key, share: 2 },
  counted('calls', texts.costs.calls, ({ calls }) => calls),
  counted('input', texts.costs.input, ({ input_tokens }) => input_tokens),
  counted('output', texts.costs.output, ({ output_tokens }) => output_tokens),
  usd('cost', texts.costs.cost, ({ cost_usd }) => cost_usd),
  counted('unpriced', texts.costs.unpriced, ({ unpriced_calls }) => unpriced_calls),
];

function Models({ period }: { period: Period }) {
  const [group, choose] = useState<Group>('model_name');
  const read = useRead('listLlmCosts', {
    query: { from_date: period.first, to_date: period.last, group_by: group },
  });
  return (
    <Card
      title={texts.costs.models}
      actions={
        read.data === undefined ? undefined : (
          <span className="text-soft">
            {texts.costs.total} <Money amount={read.data.totals.cost_usd} currency="USD" />
          </span>
        )
      }
    >
      <div className="mb-2 max-w-48">
        <Select
          label={texts.costs.group}
          choices={GROUPS}
          value={group}
          onChange={(value) => choose(value as Group)}
        />
      </div>
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
      {read.error === null && (
        <DataTable
          key={group}
          label={texts.costs.models}
          columns={modelColumns(group)}
          items={read.data?.items}
          idOf={({ key }) => key}
          height={360}
          empty={<Empty title={texts.costs.noCalls.title} say={texts.costs.noCalls.say} />}
        />
      )}
    </Card>
  );
}

const SUBSIDY: readonly Column<SubsidyDay>[] = [
  { id: 'day', name: texts.costs.day, value: ({ day }) => day, share: 2 },
  counted('operations', texts.costs.operations, ({ operations }) => operations),
  counted('pages', texts.costs.pages, ({ pages }) => pages),
  counted('tenants', texts.costs.tenants, ({ tenants }) => tenants),
  usd('cost', texts.costs.cost, ({ llm_cost_usd }) => llm_cost_usd),
];

function Subsidy({ period }: { period: Period }) {
  const read = useRead('getFreeTierSubsidy', { query: { from_date: period.first, to_date: period.last } });
  return (
    <Card
      title={texts.costs.subsidy}
      actions={
        read.data === undefined ? undefined : (
          <span className="text-soft">
            {texts.costs.total} <Money amount={read.data.totals.llm_cost_usd} currency="USD" />
          </span>
        )
      }
    >
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
      {read.error === null && (
        <DataTable
          label={texts.costs.subsidy}
          columns={SUBSIDY}
          items={read.data?.items}
          idOf={({ day }) => day}
          height={360}
          empty={<Empty title={texts.costs.noSubsidy.title} say={texts.costs.noSubsidy.say} />}
        />
      )}
    </Card>
  );
}

/** What models cost, for whom, and which of them have no price. */
export function Costs({ period }: { period: Period }) {
  return (
    <div className="flex flex-col gap-4">
      <MissingPrices />
      <Models period={period} />
      <Subsidy period={period} />
    </div>
  );
}
