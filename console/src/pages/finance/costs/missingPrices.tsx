import type { MissingPricingItem } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Form, TextField } from '../../../ui/form/form.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';

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
  },
  {
    id: 'last',
    name: texts.costs.lastSeen,
    value: ({ last_seen_at }) => last_seen_at,
    share: 1.6,
    show: ({ last_seen_at }) => <Time at={last_seen_at} />,
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
export function MissingPrices() {
  const read = useRead('getMissingPricing', { query: { days: DAYS } });
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
