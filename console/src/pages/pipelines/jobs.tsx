import { useState, useEffect } from 'react';
import { useQueryClient, useQuery } from '@tanstack/react-query';
import { toast } from 'sonner';
import { z } from 'zod';
import type { Api } from '@quire/client';
import { Plus } from '../../ui/icons/icons.tsx';
import { pipelines } from '../../texts/pipelines.ts';
import { JsonEditor } from '../../ui/editor.tsx';
import { useRead, useChange, api, usePages } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { Badge, Card } from '../../ui/card.tsx';
import { ProblemNote, ProgressBar, Skeleton, Status, Empty } from '../../ui/states.tsx';
import { keptExamples } from '../../api/uploads.ts';
import { shell, statusName } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Named } from '../../ui/names.tsx';
import { Select } from '../../ui/select.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { isGoing, Scores, type Job } from './pipeline.tsx';
import { ExamplesInput, examplesOf, linesOf, parsedObject } from '../../ui/examples.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Time } from '../../ui/values.tsx';

const startTexts = pipelines.start;

interface JsonInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error: string | undefined;
}

/** JSON with its label and what is wrong with it. */
function JsonInput({ label, value, onChange, error }: JsonInputProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium">{label}</span>
      <JsonEditor label={label} value={value} onChange={onChange} height="200px" />
      {error !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

type Tier = keyof typeof startTexts.tiers;

/** What the training that is being written down would cost. */
function QuoteLine({ tier, examples }: { tier: Tier; examples: number }) {
  const tenant_id = useTenantId();
  const query = { tenant_id, optimizer_tier: tier, total_examples: Math.max(examples, 2) };
  const { data, error, refetch } = useRead('getTrainingQuote', { query });
  if (error !== null) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  const { credits, available_credits, sufficient, plan_allows } = data;
  return (
    <p aria-live="polite" className="flex flex-wrap items-center gap-2">
      {startTexts.quote(credits.toLocaleString('en'), available_credits.toLocaleString('en'))}
      {!sufficient && <Badge tone="bad">{startTexts.short}</Badge>}
      {!plan_allows && <Badge tone="bad">{startTexts.plan}</Badge>}
    </p>
  );
}

const scope = z.string().trim().min(1, startTexts.required).max(128, startTexts.required);
const schema = z.object({
  name: z.string().trim().max(200, startTexts.tooLong),
  project_id: scope,
  task_id: scope,
});
type Values = z.infer<typeof schema>;

const TIERS = Object.entries(startTexts.tiers).map(([value, name]) => ({ value, name }));
const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

interface StartDialogProps {
  readonly onStarted: (job_id: string) => void;
  readonly onClose: () => void;
}

/** Starts a training: examples, schema, and what it costs before. */
function StartDialog({ onStarted, onClose }: StartDialogProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const create = useChange('createTrainingJob');
  const [tier, setTier] = useState<Tier>('light');
  const [fields, setFields] = useState(FIRST);
  const [given, setGiven] = useState(() => linesOf(keptExamples(tenant_id)));
  const [isTried, tried] = useState(false);
  const examples = examplesOf(given) ?? [];
  const target = parsedObject(fields);
  const isEnough = examples.length >= 2;
  const send = async ({ name, ...scopes }: Values): Promise<void> => {
    tried(true);
    if (target === undefined || !isEnough) return;
    const own = { name: name === '' ? null : name, optimizer_tier: tier };
    const body = { tenant_id, ...scopes, ...own, schema: target, examples: [...examples] };
    const answer = await create.mutateAsync({ body }).catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast(startTexts.done);
    onClose();
    onStarted(answer.job_id);
    await cache.invalidateQueries({ queryKey: ['listTrainingJobs'] });
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={startTexts.title} say={startTexts.say}>
      <Form<Values>
        schema={schema}
        initial={{ name: '', project_id: 'default', task_id: 'default' }}
        onSubmit={send}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="name" label={startTexts.name} autoComplete="off" />
          <div className="flex flex-col gap-1">
            <span className="font-medium">{startTexts.tier}</span>
            <Select
              label={startTexts.tier}
              choices={TIERS}
              value={tier}
              onChange={(value) => setTier(value as Tier)}
            />
          </div>
          <TextField name="project_id" label={startTexts.project} />
          <TextField name="task_id" label={startTexts.task} />
        </div>
        <div className="grid gap-4 md:grid-cols-2">
          <JsonInput
            label={startTexts.schema}
            value={fields}
            onChange={setFields}
            error={isTried && target === undefined ? startTexts.badSchema : undefined}
          />
          <ExamplesInput
            value={given}
            onChange={setGiven}
            count={examples.length}
            say={startTexts.examplesSay}
            error={isTried && !isEnough ? startTexts.badExamples : undefined}
          />
        </div>
        <QuoteLine tier={tier} examples={examples.length} />
        <ProblemNote error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={create.isPending}>
            {startTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const texts = pipelines.jobs;
const EACH_OF_ONE_MS = 1_500;

type OneJob = Awaited<ReturnType<Api['getTrainingJob']>>;

function Going({ job }: { job: OneJob }) {
  const cache = useQueryClient();
  const cancel = useChange('cancelTrainingJob');
  const { metric_calls, max_metric_calls } = job.progress;
  const send = async (): Promise<void> => {
    await cancel.mutateAsync({ path: { job_id: job.job_id } }).catch(() => undefined); // the note says it
    await cache.invalidateQueries({ queryKey: ['getTrainingJob'] });
    await cache.invalidateQueries({ queryKey: ['listTrainingJobs'] });
  };
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="flex w-full max-w-2xl">
        <ProgressBar label={texts.progressName} value={metric_calls} max={max_metric_calls} />
      </div>
      <p aria-live="polite" className="text-soft">
        {texts.progress(metric_calls, max_metric_calls)}
      </p>
      <Button look="danger" isBusy={cancel.isPending} onClick={() => void send()}>
        {texts.cancel}
      </Button>
      <ProblemNote error={cancel.error} />
    </div>
  );
}

function Shown({ job }: { job: OneJob }) {
  if (isGoing(job.status)) return <Going job={job} />;
  if (job.error !== null)
    return (
      <p>
        <span className="font-medium">{texts.failed}:</span> {job.error.detail} <code>{job.error.code}</code>
      </p>
    );
  return <Scores all={{ baseline: job.baseline_score, best: job.best_score }} fields={job.per_field} />;
}

interface JobPanelProps {
  readonly job_id: string;
  readonly name: string | null | undefined;
  readonly onClose: () => void;
}

/** A training job as it goes on, then its scores. */
function JobPanel({ job_id, name, onClose }: JobPanelProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['getTrainingJob', job_id],
    queryFn: ({ signal }) => api.getTrainingJob({ path: { job_id } }, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || isGoing(state.data.status) ? EACH_OF_ONE_MS : false,
  });
  const status = data?.status;
  const isOver = status !== undefined && !isGoing(status);
  const cache = useQueryClient();
  useEffect(() => {
    if (!isOver) return;
    for (const name of ['listTrainingJobs', 'listArtifacts'])
      void cache.invalidateQueries({ queryKey: [name] });
  }, [cache, isOver]);
  return (
    <Card
      title={<Named id={job_id}>{name}</Named>}
      actions={
        <span className="flex items-center gap-2">
          {status !== undefined && <Status status={status} />}
          <Button size="small" look="quiet" onClick={onClose}>
            {texts.close}
          </Button>
        </span>
      }
    >
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton lines={3} />}
      {data !== undefined && <Shown job={data} />}
    </Card>
  );
}

const { columns: names } = pipelines;

/** What is held while it goes on, then what was charged: nothing where it ended without a result. */
const creditsOf = ({ status, credits_charged, credits_held }: Job): number =>
  isGoing(status) ? credits_held : credits_charged;

const SORTS = {
  project: 'project_id',
  task: 'task_id',
  status: 'status',
  credits: 'credits_charged',
  created: 'created_at',
  finished: 'finished_at',
} as const;

const COLUMNS: readonly Column<Job>[] = [
  { id: 'name', name: names.name, value: ({ name, job_id }) => name ?? job_id, share: 2 },
  { id: 'project', name: names.project, value: ({ project_id }) => project_id },
  { id: 'task', name: names.task, value: ({ task_id }) => task_id },
  {
    id: 'status',
    name: names.status,
    value: ({ status }) => statusName(status),
    show: ({ status }) => <Status status={status} />,
  },
  {
    id: 'credits',
    name: names.credits,
    value: creditsOf,
    show: (job) => <Credits value={creditsOf(job)} />,
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'created',
    name: names.created,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    isWhole: true,
    share: 1.5,
  },
  {
    id: 'finished',
    name: names.finished,
    value: ({ finished_at }) => finished_at,
    show: ({ finished_at }) => <Time at={finished_at} />,
    isWhole: true,
    share: 1.5,
  },
];

const EACH_MS = 5_000;

/** The training jobs, and one of them as it goes on. */
export function Jobs() {
  const tenant_id = useTenantId();
  const [job, choose] = useAddressValue('job');
  const [isStarting, start] = useState(false);
  const list = usePages(
    'listTrainingJobs',
    { query: { tenant_id } },
    { refetchInterval: EACH_MS, sorts: SORTS },
  );
  const named = list.items?.find(({ job_id }) => job_id === job)?.name;
  const open = (
    <Button look="primary" onClick={() => start(true)}>
      <Plus aria-hidden className="size-4" />
      {pipelines.start.open}
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={list.error} onRetry={list.again} />
      {job !== undefined && <JobPanel job_id={job} name={named} onClose={() => choose(undefined)} />}
      {list.error === null && (
        <DataTable
          label={texts.list}
          columns={COLUMNS}
          list={list}
          idOf={({ job_id }) => job_id}
          onOpen={({ job_id }) => choose(job_id)}
          actions={open}
          empty={
            <Empty title={texts.empty.title} say={texts.empty.say}>
              {open}
            </Empty>
          }
        />
      )}
      {isStarting && <StartDialog onStarted={choose} onClose={() => start(false)} />}
    </div>
  );
}
