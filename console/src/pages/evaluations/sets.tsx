import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import type { Api } from '@quire/client';
import { useChange, usePages } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';
import { useTenantId } from '../../api/session.ts';
import { evaluations as texts } from '../../texts/evaluations.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { saveFile } from '../../ui/csv.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { ExamplesInput, examplesOf, parsedObject } from '../../ui/examples.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useGo } from '../../ui/go.tsx';
import { Named } from '../../ui/names.tsx';
import { ArtifactField, ConfigField, NONE } from '../../ui/pick.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

type SetItem = Awaited<ReturnType<Api['listEvaluationSets']>>['items'][number];

const { columns: names, ask } = texts;

const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

const asked = z.object({ config: z.string(), artifact: z.string() });
type Asked = z.infer<typeof asked>;

/** What a run measures: what is named, or the schema. */
const measured = ({ config, artifact }: Asked, schema: object | undefined) =>
  config === NONE && artifact === NONE
    ? { schema }
    : {
        ...(config !== NONE && { config_id: config }),
        ...(artifact !== NONE && { artifact_id: artifact }),
      };

/** The note says what went wrong. */
const nothing = () => undefined;

interface AskProps {
  readonly set: SetItem;
  readonly onClose: () => void;
}

interface FormEndProps extends Pick<AskProps, 'onClose'> {
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly submit: string;
}

/** What went wrong, and the way on or back. */
function FormEnd({ error, isBusy, submit, onClose }: FormEndProps) {
  return (
    <>
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" type="submit" isBusy={isBusy}>
          {submit}
        </Button>
      </div>
    </>
  );
}

/** Runs a set, or has a training job learn from it. */
function AskDialog({ set, onClose, isRun }: AskProps & { readonly isRun: boolean }) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const go = useGo();
  const run = useChange('createEvaluationRun');
  const learn = useChange('createTrainingJob');
  const [schema, setSchema] = useState(FIRST);
  const [isTried, tried] = useState(false);
  const target = parsedObject(schema);
  const send = async ({ config, artifact }: Asked): Promise<void> => {
    tried(true);
    const isNamed = config !== NONE || artifact !== NONE;
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
    if ('run_id' in answer) go(`/evaluations?tab=runs&run=${answer.run_id}`);
    await cache.invalidateQueries({ queryKey: [isRun ? 'listEvaluationRuns' : 'listTrainingJobs'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={isRun ? ask.runTitle : ask.learnTitle}
      say={isRun ? ask.runSay : ask.learnSay}
    >
      <Form<Asked> schema={asked} initial={{ config: NONE, artifact: NONE }} onSubmit={send}>
        {isRun && <ConfigField name="config" label={ask.config} tenant_id={tenant_id} />}
        {isRun && <ArtifactField name="artifact" label={ask.artifact} tenant_id={tenant_id} />}
        <div className="flex min-w-0 flex-col gap-1">
          <span className="font-medium">{ask.schema}</span>
          <JsonEditor label={ask.schema} value={schema} onChange={setSchema} height="160px" />
          {isTried && target === undefined && (
            <p role="alert" className="text-[13px] text-bad">
              {ask.badSchema}
            </p>
          )}
        </div>
        <FormEnd
          error={run.error ?? learn.error}
          isBusy={run.isPending || learn.isPending}
          submit={ask.submit}
          onClose={onClose}
        />
      </Form>
    </Dialog>
  );
}

const { decided } = texts.sets;
const chosen = z.object({
  name: z.string().trim(),
  config: z.string(),
  from: z.string(),
  until: z.string(),
});
type Picked = z.infer<typeof chosen>;

const DAY_MS = 86_400_000;
/** The first moment of a day here, or of a later one. */
const startOf = (day: string, later = 0): string =>
  new Date(new Date(`${day}T00:00:00`).getTime() + later * DAY_MS).toISOString();

const decisionsOf = ({ config, from, until }: Picked) => ({
  ...(config !== NONE && { config_id: config }),
  ...(from !== '' && { decided_from: startOf(from) }),
  ...(until !== '' && { decided_until: startOf(until, 1) }),
});

type From = Pick<Parameters<Api['createEvaluationSet']>[0]['body'], 'from_decisions' | 'examples'>;

/** Makes a set of the tenant, says so and closes. */
const useMaking = (onClose: () => void) => {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const make = useChange('createEvaluationSet');
  const made = async (name: string, from: From): Promise<void> => {
    const body = { tenant_id, ...(name !== '' && { name }), ...from };
    const set = await make.mutateAsync({ body }).catch(nothing);
    if (set === undefined) return;
    toast(decided.done(set.documents, set.left_out));
    onClose();
    await cache.invalidateQueries({ queryKey: ['listEvaluationSets'] });
  };
  return { make, made };
};

/** Makes a set of what people have decided in reviews. */
function DecidedDialog({ onClose }: Pick<AskProps, 'onClose'>) {
  const tenant_id = useTenantId();
  const { make, made } = useMaking(onClose);
  const send = async (values: Picked): Promise<void> => {
    await made(values.name, { from_decisions: decisionsOf(values) });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={decided.title} say={decided.say}>
      <Form<Picked> schema={chosen} initial={{ name: '', config: NONE, from: '', until: '' }} onSubmit={send}>
        <TextField name="name" label={decided.name} say={decided.nameSay} autoComplete="off" />
        <ConfigField name="config" label={decided.config} say={decided.configSay} tenant_id={tenant_id} />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="from" label={decided.from} type="date" />
          <TextField name="until" label={decided.until} type="date" />
        </div>
        <FormEnd error={make.error} isBusy={make.isPending} submit={decided.submit} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

const { given } = texts.sets;
const named = z.object({ name: z.string().trim() });
type Named = z.infer<typeof named>;

/** Makes a set of examples that were written down, such as those of a set that were downloaded. */
function GivenDialog({ onClose }: Pick<AskProps, 'onClose'>) {
  const { make, made } = useMaking(onClose);
  const [text, setText] = useState('');
  const [isTried, tried] = useState(false);
  const examples = examplesOf(text) ?? [];
  const send = async ({ name }: Named): Promise<void> => {
    tried(true);
    if (examples.length > 0) await made(name, { examples: [...examples] });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={given.title} say={given.say}>
      <Form<Named> schema={named} initial={{ name: '' }} onSubmit={send}>
        <TextField name="name" label={decided.name} say={decided.nameSay} autoComplete="off" />
        <ExamplesInput
          value={text}
          onChange={setText}
          count={examples.length}
          say={given.examplesSay}
          error={isTried && examples.length === 0 ? given.badExamples : undefined}
        />
        <FormEnd error={make.error} isBusy={make.isPending} submit={decided.submit} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

/** Asks before a set goes for good. */
function RemoveDialog({ set, onClose }: AskProps) {
  const cache = useQueryClient();
  const remove = useChange('removeEvaluationSet');
  const send = async (): Promise<void> => {
    try {
      await remove.mutateAsync({ path: { set_id: set.set_id } });
    } catch {
      return; // the note says it
    }
    toast(texts.sets.removed);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listEvaluationSets'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={texts.sets.removeTitle(set.name ?? set.set_id)}
      say={texts.sets.removeSay}
    >
      <ProblemNote error={remove.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={remove.isPending} onClick={() => void send()}>
          {texts.sets.removeSubmit}
        </Button>
      </div>
    </Dialog>
  );
}

/** Hands the examples of a set to the browser as a file, a line for each. */
const save = async ({ set_id }: SetItem): Promise<void> => {
  const response = await connection.fetch(`${connection.url}/v1/evaluations/sets/${set_id}/examples`);
  if (response.ok) saveFile(`${set_id}.jsonl`, await response.text(), 'application/x-ndjson');
};

const SORTS = { version: 'version', documents: 'documents', changed: 'published_at' } as const;

const SET_COLUMNS: readonly Column<SetItem>[] = [
  { id: 'name', name: names.name, value: ({ name, set_id }) => name ?? set_id, share: 2 },
  { id: 'version', name: names.version, value: ({ version }) => version, isNumber: true, share: 0.7 },
  { id: 'documents', name: names.documents, value: ({ documents }) => documents, isNumber: true },
  {
    id: 'changed',
    name: names.changed,
    value: ({ published_at }) => published_at,
    show: ({ published_at }) => <Time at={published_at} />,
    isWhole: true,
    share: 1.5,
  },
];

function OpenedSet({ of }: { of: SetItem }) {
  const [asking, ask_] = useState<'run' | 'learn' | 'remove'>();
  const close = () => ask_(undefined);
  return (
    <Card
      title={of.name ?? of.set_id}
      actions={
        <div className="flex flex-wrap gap-2">
          <Button look="quiet" onClick={() => void save(of)}>
            {texts.sets.save}
          </Button>
          <Button look="danger" onClick={() => ask_('remove')}>
            {texts.sets.remove}
          </Button>
          <Button onClick={() => ask_('learn')}>{texts.sets.learn}</Button>
          <Button look="primary" onClick={() => ask_('run')}>
            {texts.sets.run}
          </Button>
        </div>
      }
    >
      <Named id={of.set_id} />
      {asking === 'remove' && <RemoveDialog set={of} onClose={close} />}
      {asking !== undefined && asking !== 'remove' && (
        <AskDialog set={of} isRun={asking === 'run'} onClose={close} />
      )}
    </Card>
  );
}

/** Sets of examples; one is run or learned from. */
export function Sets() {
  const tenant_id = useTenantId();
  const list = usePages('listEvaluationSets', { query: { tenant_id } }, { sorts: SORTS });
  const [chosen, choose] = useState<string>();
  const [making, make] = useState<'decided' | 'given'>();
  const makeSet = (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => make('given')}>{given.open}</Button>
      <Button onClick={() => make('decided')}>{decided.open}</Button>
    </div>
  );
  const opened = list.items?.find(({ set_id }) => set_id === chosen) ?? list.items?.[0];
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label={texts.sets.list}
        columns={SET_COLUMNS}
        list={list}
        idOf={({ set_id }) => set_id}
        onOpen={({ set_id }) => choose(set_id)}
        actions={makeSet}
        empty={
          <Empty title={texts.sets.empty.title} say={texts.sets.empty.say}>
            {makeSet}
          </Empty>
        }
        height={320}
      />
      {making === 'decided' && <DecidedDialog onClose={() => make(undefined)} />}
      {making === 'given' && <GivenDialog onClose={() => make(undefined)} />}
      {opened !== undefined && <OpenedSet key={opened.set_id} of={opened} />}
    </div>
  );
}
