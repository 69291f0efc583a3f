import type { AdminBillingConfigHistoryResponse, BillingRateItem } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, useRead } from '../../api/connection.ts';
import { finance } from '../../texts/finance.ts';
import { modeName, shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { Operator } from '../../ui/names.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';

const texts = finance.billing;

type Config = AdminBillingConfigHistoryResponse['active'];

const WHOLE = z
  .string()
  .trim()
  .regex(/^\d{1,12}$/, texts.whole);

const of = columnsFor<BillingRateItem, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<BillingRateItem>[] = [
  of.text('operation', ({ operation }) => texts.operations[operation], { share: 1.4 }),
  of.text('mode', ({ extraction_mode }) => modeName(extraction_mode)),
  of.text('type', ({ billing_type }) => texts.types[billing_type], { share: 1.4 }),
  of.count('credits', ({ credits_per_page }) => credits_per_page),
  of.text('window', ({ completion_window }) => texts.windows[completion_window ?? 'none']),
  of.time('since', ({ effective_at }) => effective_at),
];

/** A rate is set for what is named by these four. */
const nameOf = ({ operation, extraction_mode, billing_type, completion_window }: BillingRateItem): string =>
  [
    texts.operations[operation],
    extraction_mode,
    texts.types[billing_type],
    ...(completion_window === null ? [] : [texts.windows[completion_window]]),
  ].join(', ');

const rateSchema = z.object({ window: z.enum(['none', '24h']), credits: WHOLE });

/** Batches alone may wait, and they extract. */
const WINDOWS = Object.entries(texts.windows).map(([value, name]) => ({ value, name }));

/** Sets one rate: a new version of the config, for work that is accepted from now on. */
function ChangeRate({ rate, onClose }: { rate: BillingRateItem; onClose: () => void }) {
  const set = useChange('setBillingRate');
  const cache = useQueryClient();
  const { operation, extraction_mode, billing_type } = rate;
  const mayWait = operation === 'extract' && rate.completion_window === null;
  const send = async ({ window, credits }: z.infer<typeof rateSchema>): Promise<void> => {
    const completion_window = window === 'none' ? null : window;
    const key = { operation, extraction_mode, billing_type, completion_window };
    const body = { ...key, credits_per_page: Number(credits) };
    const answer = await set.mutateAsync({ body }).catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast.success(texts.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['getBillingConfigHistory'] });
  };
  const initial = {
    window: rate.completion_window ?? 'none',
    credits: String(rate.credits_per_page),
  } as const;
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.change(nameOf(rate))} say={texts.changeSay}>
      <Form schema={rateSchema} initial={initial} onSubmit={send}>
        {mayWait && <SelectField name="window" label={texts.columns.window} choices={WINDOWS} />}
        <TextField name="credits" label={texts.columns.credits} autoComplete="off" />
        <ProblemNote error={set.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={set.isPending}>
            {texts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const TERMS = ['freePages', 'exportFee', 'light', 'medium', 'heavy', 'example', 'call', 'hold'] as const;
type Term = (typeof TERMS)[number];
const termsSchema = z.object({
  freePages: WHOLE,
  exportFee: WHOLE,
  light: WHOLE,
  medium: WHOLE,
  heavy: WHOLE,
  example: WHOLE,
  call: WHOLE,
  hold: WHOLE,
  note: z.string().trim().max(1_000),
});
type Terms = z.infer<typeof termsSchema>;

const figuresOf = ({ training, ...config }: Config): Readonly<Record<Term, number>> => ({
  freePages: config.free_pages,
  exportFee: config.examples_export_fee_credits,
  light: training.base_credits.light,
  medium: training.base_credits.medium,
  heavy: training.base_credits.heavy,
  example: training.credits_per_example,
  call: training.credits_per_metric_call,
  hold: config.hold_ttl_seconds,
});

const initialOf = (config: Config): Terms => {
  const figures = figuresOf(config);
  const text = Object.fromEntries(TERMS.map((term) => [term, String(figures[term])]));
  return { ...(text as Record<Term, string>), note: '' };
};

const bodyOf = ({ note, ...terms }: Terms) => ({
  free_pages: Number(terms.freePages),
  examples_export_fee_credits: Number(terms.exportFee),
  training: {
    base_credits: {
      light: Number(terms.light),
      medium: Number(terms.medium),
      heavy: Number(terms.heavy),
    },
    credits_per_example: Number(terms.example),
    credits_per_metric_call: Number(terms.call),
  },
  hold_ttl_seconds: Number(terms.hold),
  note: note === '' ? null : note,
});

/** Free pages, fees and training: all else of the config, published as its next version. */
function NextTerms({ active }: { active: Config }) {
  const publish = useChange('createAdminBillingConfig');
  const cache = useQueryClient();
  const send = async (terms: Terms): Promise<void> => {
    const answer = await publish.mutateAsync({ body: bodyOf(terms) }).catch(() => undefined);
    await cache.invalidateQueries({ queryKey: ['getBillingConfigHistory'] });
    if (answer !== undefined) toast.success(texts.published(answer.version));
  };
  return (
    <Card title={texts.terms}>
      <Form<Terms> schema={termsSchema} initial={initialOf(active)} onSubmit={send}>
        <p className="text-soft">{texts.termsSay}</p>
        <div className="grid gap-4 sm:grid-cols-2">
          {TERMS.map((term) => (
            <TextField key={term} name={term} label={texts.termNames[term]} autoComplete="off" />
          ))}
        </div>
        <TextField name="note" label={texts.note} autoComplete="off" />
        <ProblemNote error={publish.error} />
        <div className="flex justify-end">
          <Button look="primary" type="submit" isBusy={publish.isPending}>
            {texts.publish}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

const past = columnsFor<Config, keyof typeof texts.versions>(texts.versions);

const VERSIONS: readonly Column<Config>[] = [
  past.count('version', ({ version }) => version, 0.7),
  past.time('created', ({ created_at }) => created_at),
  past.text('by', ({ created_by }) => created_by, {
    share: 1.4,
    show: ({ created_by }) => <Operator id={created_by} />,
  }),
  past.count('freePages', ({ free_pages }) => free_pages),
  past.text('note', ({ note }) => note, { share: 2 }),
];

/** What a page costs by kind of work, the other terms, and every version with who published it. */
export function BillingRates() {
  const config = useRead('getBillingConfigHistory');
  const [chosen, choose] = useState<BillingRateItem>();
  if (config.error !== null)
    return <ProblemNote error={config.error} onRetry={() => void config.refetch()} />;
  if (config.data === undefined) return <Skeleton lines={6} />;
  const { active, history } = config.data;
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Card title={texts.rates(active.version)}>
        <p className="mb-2 text-soft">{texts.ratesSay}</p>
        <DataTable
          label={finance.tabs.billing}
          columns={COLUMNS}
          items={active.rates}
          idOf={nameOf}
          onOpen={choose}
        />
      </Card>
      <NextTerms key={active.version} active={active} />
      <Card title={texts.history} className="xl:col-span-2">
        <DataTable
          label={texts.history}
          columns={VERSIONS}
          items={history}
          idOf={({ version }) => String(version)}
        />
      </Card>
      {chosen !== undefined && <ChangeRate rate={chosen} onClose={() => choose(undefined)} />}
    </div>
  );
}
