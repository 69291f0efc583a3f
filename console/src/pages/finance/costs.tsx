import type { MissingPricingItem, LlmCostGroup, SubsidyDay } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { csvOf, useChange, useRead } from '../../api/connection.ts';
import { finance as texts } from '../../texts/finance.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Time, Money } from '../../ui/values.tsx';
import { Select } from '../../ui/select.tsx';
import type { Period } from '../../ui/period.ts';

/** As far back as prices are asked for: more than a quarter's books. */
const DAYS = 90;

const COLUMNS: readonly Column<MissingPricingItem>[] = [
  { id: 'provider', name: texts.costs.provider, value: ({ provider }) => provider, share: 1.2 },
  { id: 'model', name: texts.costs.model, value: ({ model_name }) => model_name, share: 2 },
  {
    id: 'calls',
    name: texts.costs.calls,
    value: ({ calls }) => calls,
    isNumber: true,
    show: ({ calls }) => <Credits value={calls} />,
  },
  {
    id: 'first',
    name: texts.costs.firstSeen,
    value: ({ first_seen_at }) => first_seen_at,
    share: 1.6,
    show: ({ first_seen_at }) => <Time at={first_seen_at} />,
    isWhole: true,
  },
  {
    id: 'last',
    name: texts.costs.lastSeen,
    value: ({ last_seen_at }) => last_seen_at,
    share: 1.6,
    show: ({ last_seen_at }) => <Time at={last_seen_at} />,
    isWhole: true,
  },
];

const PRICE = z
  .string()
  .trim()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, texts.prices.badPrice);
const schema = z.object({ input: PRICE, output: PRICE });
type Values = z.infer<typeof schema>;

function PublishPrice({ of, onDone }: { of: MissingPricingItem; onDone: () => void }) {
  const publish = useChange('createProviderPricing');
  const cache = useQueryClient();
  const submit = async ({ input, output }: Values): Promise<void> => {
    const body = {
      provider: of.provider,
      model_name: of.model_name,
      input_usd_per_million_tokens: input.trim(),
      output_usd_per_million_tokens: output.trim(),
    };
    const answer = await publish.mutateAsync({ body }).catch(() => undefined);
    if (answer === undefined) return;
    toast.success(texts.costs.published);
    for (const name of ['getMissingPricing', 'listLlmCosts', 'getMarginReport', 'getFreeTierSubsidy'])
      void cache.invalidateQueries({ queryKey: [name] });
    onDone();
  };
  return (
    <Form<Values> schema={schema} initial={{ input: '', output: '' }} onSubmit={submit}>
      <TextField name="input" label={texts.costs.inputPrice} placeholder="0.15" autoFocus />
      <TextField name="output" label={texts.costs.outputPrice} placeholder="0.60" />
      <ProblemNote error={publish.error} />
      <Button look="primary" type="submit" className="self-end" isBusy={publish.isPending}>
        {texts.costs.publish}
      </Button>
    </Form>
  );
}

/** Models that were called and have no price; each is given one here. */
function MissingPrices() {
  const input = { query: { days: DAYS } };
  const read = useRead('getMissingPricing', input);
  const [chosen, choose] = useState<MissingPricingItem>();
  return (
    <Card title={texts.costs.missing}>
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
      {read.error === null && (
        <DataTable
          label={texts.costs.missing}
          columns={COLUMNS}
          items={read.data?.items}
          idOf={({ provider, model_name }) => `${provider}/${model_name}`}
          onOpen={choose}
          csv={() => csvOf('getMissingPricing', input)}
          height={360}
          actions={<span className="text-[13px] text-soft">{texts.costs.missingSay}</span>}
          empty={<Empty title={texts.costs.noMissing.title} say={texts.costs.noMissing.say} />}
        />
      )}
      <Dialog
        isOpen={chosen !== undefined}
        onOpenChange={(isOpen) => {
          if (!isOpen) choose(undefined);
        }}
        title={chosen === undefined ? '' : `${texts.costs.publish}: ${chosen.provider}/${chosen.model_name}`}
      >
        {chosen !== undefined && <PublishPrice of={chosen} onDone={() => choose(undefined)} />}
      </Dialog>
    </Card>
  );
}

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
  const input = { query: { from_date: period.first, to_date: period.last, group_by: group } };
  const read = useRead('listLlmCosts', input);
  return (
    <Card
      title={texts.costs.models}
      actions={
        read.data === undefined ? undefined : (
          <span className="text-soft">
            {texts.costs.total} <Money amount={read.data.totals.cost_usd} currency="USD" isShort />
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
          csv={() => csvOf('listLlmCosts', input)}
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
  const input = { query: { from_date: period.first, to_date: period.last } };
  const read = useRead('getFreeTierSubsidy', input);
  return (
    <Card
      title={texts.costs.subsidy}
      actions={
        read.data === undefined ? undefined : (
          <span className="text-soft">
            {texts.costs.total} <Money amount={read.data.totals.llm_cost_usd} currency="USD" isShort />
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
          csv={() => csvOf('getFreeTierSubsidy', input)}
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
