import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import type { Api } from '@quire/client';
import { api, useChange, usePages, useRead } from '../api/connection.ts';
import { useTenantId } from '../api/session.ts';
import { evaluations as texts } from '../texts/evaluations.ts';
import { shell } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { Badge, Card, PageHeader, Stat, type Tone } from '../ui/card.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { JsonEditor } from '../ui/editor.tsx';
import { Form, TextField } from '../ui/form.tsx';
import { ForTenant } from '../ui/forTenant.tsx';
import { useAddressValue } from '../ui/go.tsx';
import { Empty, ProblemNote, Skeleton } from '../ui/states.tsx';
import { DataTable, type Column } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Credits, Time } from '../ui/values.tsx';

type SetItem = Awaited<ReturnType<Api['listEvaluationSets']>>['items'][number];
type RunItem = Awaited<ReturnType<Api['listEvaluationRuns']>>['items'][number];
type Run = Awaited<ReturnType<Api['getEvaluationRun']>>;
type RunDocument = Awaited<ReturnType<Api['getEvaluationRunDocument']>>;

const { columns: names, ask } = texts;

const TONES: Readonly<Record<RunItem['status'], Tone>> = {
  queued: 'neutral',
  running: 'accent',
  cancelling: 'warn',
  scoring: 'accent',
  succeeded: 'good',
  cancelled: 'neutral',
};

const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

const asked = z.object({ config: z.string().trim(), artifact: z.string().trim() });
type Asked = z.infer<typeof asked>;

/** What a run measures: what is named, or the schema. */
const measured = ({ config, artifact }: Asked, schema: Record<string, unknown> | undefined) =>
  config === '' && artifact === ''
    ? { schema }
    : {
        ...(config !== '' && { config_id: config }),
        ...(artifact !== '' && { artifact_id: artifact }),
      };

/** The note says what went wrong. */
const nothing = () => undefined;

interface AskProps {
  readonly set: SetItem;
  readonly onClose: () => void;
}

/** Runs a set, or has a training job learn from it. */
function AskDialog({ set, onClose, isRun }: AskProps & { readonly isRun: boolean }) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const run = useChange('createEvaluationRun');
  const learn = useChange('createTrainingJob');
  const [schema, setSchema] = useState(FIRST);
  const [isTried, tried] = useState(false);
  const target = objectIn(schema);
  const send = async ({ config, artifact }: Asked): Promise<void> => {
    tried(true);
    const isNamed = config !== '' || artifact !== '';
    if (target === undefined && !isNamed) return;
    const { set_id } = set;
    const about = { tenant_id, set_id };
    const answer = isRun
      ? await run
          .mutateAsync({ body: { ...about, ...measured({ config, artifact }, target) } })
          .catch(nothing)
      : await learn.mutateAsync({ body: { ...about, schema: target } }).catch(nothing);
    if (answer === undefined) return;
    toast(isRun ? ask.runDone : ask.learnDone);
    onClose();
    await cache.invalidateQueries({ queryKey: [isRun ? 'listEvaluationRuns' : 'listTrainingJobs'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={isRun ? ask.runTitle : ask.learnTitle}
      say={isRun ? ask.runSay : ask.learnSay}
    >
      <Form<Asked> schema={asked} initial={{ config: '', artifact: '' }} onSubmit={send}>
        {isRun && <TextField name="config" label={ask.config} autoComplete="off" />}
        {isRun && <TextField name="artifact" label={ask.artifact} autoComplete="off" />}
        <div className="flex min-w-0 flex-col gap-1">
          <span className="font-medium">{ask.schema}</span>
          <JsonEditor label={ask.schema} value={schema} onChange={setSchema} height="160px" />
          {isTried && target === undefined && (
            <p role="alert" className="text-[13px] text-bad">
              {ask.badSchema}
            </p>
          )}
        </div>
        <ProblemNote error={run.error ?? learn.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={run.isPending || learn.isPending}>
            {ask.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const SET_COLUMNS: readonly Column<SetItem>[] = [
  { id: 'name', name: names.name, value: ({ name, set_id }) => name ?? set_id, share: 2 },
  { id: 'version', name: names.version, value: ({ version }) => version, isNumber: true, share: 0.7 },
  { id: 'documents', name: names.documents, value: ({ documents }) => documents, isNumber: true },
  {
    id: 'changed',
    name: names.changed,
    value: ({ published_at }) => published_at,
    show: ({ published_at }) => <Time at={published_at} />,
    share: 1.5,
  },
];

function OpenedSet({ of }: { of: SetItem }) {
  const [asking, ask_] = useState<'run' | 'learn'>();
  const close = () => ask_(undefined);
  return (
    <Card
      title={of.name ?? of.set_id}
      actions={
        <div className="flex gap-2">
          <Button onClick={() => ask_('learn')}>{texts.sets.learn}</Button>
          <Button look="primary" onClick={() => ask_('run')}>
            {texts.sets.run}
          </Button>
        </div>
      }
    >
      <p className="break-all">
        <code>{of.set_id}</code>
      </p>
      {asking !== undefined && <AskDialog set={of} isRun={asking === 'run'} onClose={close} />}
    </Card>
  );
}

/** Sets of examples; one is run or learned from. */
function Sets() {
  const tenant_id = useTenantId();
  const list = usePages('listEvaluationSets', { query: { tenant_id } });
  const [chosen, choose] = useState<string>();
  const opened = list.items?.find(({ set_id }) => set_id === chosen) ?? list.items?.[0];
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={texts.sets.list}
        columns={SET_COLUMNS}
        items={list.items}
        idOf={({ set_id }) => set_id}
        onOpen={({ set_id }) => choose(set_id)}
        onMore={list.more}
        isLoadingMore={list.isLoadingMore}
        empty={<Empty title={texts.sets.empty.title} say={texts.sets.empty.say} />}
        height={320}
      />
      {opened !== undefined && <OpenedSet key={opened.set_id} of={opened} />}
    </div>
  );
}

const measuredBy = ({ config_id, artifact_id, schema_sha256 }: RunItem): string =>
  config_id ?? artifact_id ?? schema_sha256.slice(0, 12);

const RUN_COLUMNS: readonly Column<RunItem>[] = [
  { id: 'measured', name: names.measured, value: measuredBy, share: 2 },
  {
    id: 'examples',
    name: names.examples,
    value: ({ examples }) => examples ?? '',
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'status',
    name: names.status,
    value: ({ status }) => texts.statuses[status],
    show: ({ status }) => <Badge tone={TONES[status]}>{texts.statuses[status]}</Badge>,
  },
  {
    id: 'f1',
    name: names.f1,
    value: ({ f1 }) => f1 ?? '',
    show: ({ f1 }) => texts.score(f1),
    isNumber: true,
    share: 0.8,
  },
  { id: 'documents', name: names.documents, value: ({ documents }) => documents, isNumber: true, share: 0.8 },
  {
    id: 'accepted',
    name: names.accepted,
    value: ({ accepted_at }) => accepted_at,
    show: ({ accepted_at }) => <Time at={accepted_at} />,
    share: 1.5,
  },
];

type Figured = Pick<Run['per_document'][number], 'tp' | 'fp' | 'fn' | 'f1' | 'change'>;

/** What was right, wrong and missing, and how that changed. */
const figureColumns = <Item extends Figured>(): readonly Column<Item>[] => [
  { id: 'right', name: names.right, value: ({ tp }) => tp, isNumber: true, share: 0.7 },
  { id: 'wrong', name: names.wrong, value: ({ fp }) => fp, isNumber: true, share: 0.7 },
  { id: 'missing', name: names.missing, value: ({ fn }) => fn, isNumber: true, share: 0.7 },
  {
    id: 'f1',
    name: names.f1,
    value: ({ f1 }) => f1 ?? '',
    show: ({ f1 }) => texts.score(f1),
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'change',
    name: names.change,
    value: ({ change }) => change ?? '',
    show: ({ change }) => texts.change(change),
    isNumber: true,
    share: 0.8,
  },
];

const FIELD_COLUMNS: readonly Column<Run['per_field'][number]>[] = [
  { id: 'field', name: names.field, value: ({ path }) => path, share: 2 },
  ...figureColumns<Run['per_field'][number]>(),
];

const DOCUMENT_COLUMNS: readonly Column<Run['per_document'][number]>[] = [
  { id: 'document', name: names.document, value: ({ document_id }) => document_id, share: 2.4 },
  ...figureColumns<Run['per_document'][number]>(),
  { id: 'leftOut', name: names.leftOut, value: ({ left_out }) => left_out ?? '' },
];

type Wrong = NonNullable<RunDocument['wrong']>[number];

const WRONG_COLUMNS: readonly Column<Wrong>[] = [
  { id: 'field', name: names.field, value: ({ path, at }) => at ?? path, share: 1.6 },
  { id: 'expected', name: names.expected, value: ({ expected }) => expected ?? '–', share: 1.6 },
  { id: 'got', name: names.got, value: ({ got }) => got ?? '–', share: 1.6 },
  {
    id: 'sure',
    name: names.sure,
    value: ({ confidence }) => confidence ?? '',
    show: ({ confidence }) => texts.score(confidence),
    isNumber: true,
    share: 0.7,
  },
  { id: 'page', name: names.page, value: ({ page }) => page ?? '', isNumber: true, share: 0.7 },
];

/** Each value of a document that differs from what should be read. */
function WrongValues({ run_id, document_id }: { run_id: string; document_id: string }) {
  const { data, error, refetch } = useRead('getEvaluationRunDocument', { path: { run_id, document_id } });
  if (error !== null) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={3} />;
  const { wrong, operation_id } = data;
  return (
    <Card title={texts.runs.wrongIn(document_id)}>
      {operation_id !== null && (
        <p className="mb-2 text-[13px] break-all text-soft">{texts.runs.operation(operation_id)}</p>
      )}
      <DataTable
        label={texts.runs.wrongIn(document_id)}
        columns={WRONG_COLUMNS}
        items={wrong ?? []}
        idOf={({ path, at, expected }) => `${path} ${at ?? ''} ${expected ?? ''}`}
        empty={<Empty title={wrong === null ? texts.runs.erased : texts.runs.allRight} />}
        height={240}
      />
    </Card>
  );
}

function Figures({ of }: { of: Run }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <Stat name={names.f1} value={texts.score(of.f1)} />
        <Stat name={names.precision} value={texts.score(of.precision)} />
        <Stat name={names.recall} value={texts.score(of.recall)} />
        <Stat name={names.credits} value={<Credits value={of.credits_used ?? 0} />} />
      </div>
      {of.previous !== null && (
        <p className="text-[13px] break-all text-soft">{texts.runs.before(of.previous.run_id)}</p>
      )}
      {of.calibration.map(({ at_least, values, right }) => (
        <p key={at_least} className="text-[13px] text-soft">
          {texts.runs.sure(at_least, right, values)}
        </p>
      ))}
    </>
  );
}

const isOpen = ({ status }: Pick<RunItem, 'status'>): boolean =>
  status !== 'succeeded' && status !== 'cancelled';

const AGAIN_MS = 2_000;
const EACH_MS = 5_000;

/** A run in all, by field and by document. */
function OpenedRun({ of }: { of: RunItem }) {
  const { run_id } = of;
  const { data, error, refetch } = useQuery({
    queryKey: ['getEvaluationRun', run_id],
    queryFn: () => api.getEvaluationRun({ path: { run_id } }),
    refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data) ? AGAIN_MS : false),
  });
  const cancel = useChange('cancelEvaluationRun');
  const [document, open] = useState<string>();
  if (error !== null) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} />;
  return (
    <Card
      title={run_id}
      actions={
        isOpen(data) && (
          <Button isBusy={cancel.isPending} onClick={() => void cancel.mutateAsync({ path: { run_id } })}>
            {texts.runs.cancel}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <Figures of={data} />
        <DataTable
          label={texts.runs.fields}
          columns={FIELD_COLUMNS}
          items={data.per_field}
          idOf={({ path }) => path}
          height={240}
        />
        <DataTable
          label={texts.runs.perDocument}
          columns={DOCUMENT_COLUMNS}
          items={data.per_document}
          idOf={({ document_id }) => document_id}
          onOpen={({ document_id }) => open(document_id)}
          height={280}
        />
        {document !== undefined && <WrongValues key={document} run_id={run_id} document_id={document} />}
      </div>
    </Card>
  );
}

/** What was measured, newest first. */
function Runs() {
  const tenant_id = useTenantId();
  const list = usePages('listEvaluationRuns', { query: { tenant_id } }, { refetchInterval: EACH_MS });
  const [chosen, choose] = useAddressValue('run');
  const opened = list.items?.find(({ run_id }) => run_id === chosen) ?? list.items?.[0];
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={texts.runs.list}
        columns={RUN_COLUMNS}
        items={list.items}
        idOf={({ run_id }) => run_id}
        onOpen={({ run_id }) => choose(run_id)}
        onMore={list.more}
        isLoadingMore={list.isLoadingMore}
        empty={<Empty title={texts.runs.empty.title} say={texts.runs.empty.say} />}
        height={320}
      />
      {opened !== undefined && <OpenedRun key={opened.run_id} of={opened} />}
    </div>
  );
}

const TABS = [
  { id: 'runs', name: texts.tabs.runs, content: <Runs /> },
  { id: 'sets', name: texts.tabs.sets, content: <Sets /> },
];

/** Sets of examples, and how well what is published reads them. */
export default function EvaluationsPage() {
  const [tab, choose] = useAddressValue('tab');
  const shown = TABS.some(({ id }) => id === tab) ? String(tab) : 'runs';
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <Tabs label={texts.label} tabs={TABS} value={shown} onChange={choose} />
      </ForTenant>
    </>
  );
}
