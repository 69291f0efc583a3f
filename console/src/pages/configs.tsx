import type { Api } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { toast } from 'sonner';
import { z } from 'zod';
import { Plus } from '../ui/icons/icons.tsx';
import { useChange, useRead, usePages } from '../api/connection.ts';
import { useTenantId, useActing, type SignedIn } from '../api/session.ts';
import { configs } from '../texts/configs.ts';
import { modes, shell } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { JsonEditor, Diff } from '../ui/editor.tsx';
import { Form, SelectField, TextField } from '../ui/form.tsx';
import { GateFields, gateOf, isGateRight, NO_GATE, PublishProblem } from '../ui/gate.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ProblemNote, Skeleton, Empty } from '../ui/states.tsx';
import { Badge, Card, PageHeader } from '../ui/card.tsx';
import { Select } from '../ui/select.tsx';
import { Go, useGo, useRest } from '../ui/go.tsx';
import { Named, useActorNames } from '../ui/names.tsx';
import { ArtifactField, NONE } from '../ui/pick.tsx';
import { Time } from '../ui/values.tsx';
import { faultOf } from '../api/faults.ts';
import { ForTenant } from '../ui/forTenant.tsx';
import { DataTable, type Column } from '../ui/table.tsx';

type Config = Awaited<ReturnType<Api['listConfigs']>>['items'][number];

/** Members that differ between any two versions, or between none. */
const OF_PUBLISHING: ReadonlySet<string> = new Set([
  'config_id',
  'tenant_id',
  'version',
  'published_at',
  'published_by',
]);

/** A version as text to compare: all of it, without when and by whom it was published. */
const textOf = (config: Config): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(config).filter(([name]) => !OF_PUBLISHING.has(name))),
    undefined,
    2,
  );

/** Members that the form does not show: a next version keeps them. The service keeps channels by itself. */
const keptOf = ({ config_id, models_for, require_grounding, checks, lookups, duplicates }: Config) => ({
  config_id,
  models_for,
  require_grounding,
  checks,
  lookups,
  duplicates,
});

/** How many fields the schema has at its top. */
const fieldsOf = ({ schema }: Config): number => {
  const properties: unknown = schema?.['properties'];
  return typeof properties === 'object' && properties !== null ? Object.keys(properties).length : 0;
};

/** JSON of an object; undefined where the text is none. */
const parsedObject = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const publishTexts = configs.publish;

const PERCENT = /^(?:\d{1,2}(?:\.\d{1,2})?|100|)$/;
const percentIn = z.string().trim().regex(PERCENT, publishTexts.badPercent);
const CONFIDENCE = /^(?:0?\.\d+|0|1|1\.0+|)$/;
const schema = z.object({
  name: z.string().trim().max(200, publishTexts.tooLong),
  mode: z.enum(['fast', 'standard', 'robust']),
  confidence: z.string().trim().regex(CONFIDENCE, publishTexts.badConfidence),
  artifact: z.string(),
  below: percentIn,
  missing: z.boolean(),
  rules: z.boolean(),
  sample: percentIn,
});
const MODES = Object.entries(modes).map(([value, name]) => ({ value, name }));
const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

type Values = z.infer<typeof schema>;

const percentOf = (share: number | undefined): string =>
  share === undefined ? '' : String(Math.round(share * 1e4) / 100);

const rulesIn = (review: Config['review'] = null) => ({
  below: percentOf(review?.below),
  missing: review?.missing_required === true,
  rules: review?.rules === true,
  sample: percentOf(review?.sample),
});

const initialOf = (of: Partial<Config> = {}): Values => ({
  name: of.name ?? '',
  mode: of.mode ?? 'standard',
  confidence: String(of.min_confidence ?? ''),
  artifact: of.artifact_id ?? NONE,
  ...rulesIn(of.review),
});

/** When a person has to look; null: never. */
const reviewOf = ({ below, missing, rules, sample }: Values) => {
  const policy = {
    ...(below !== '' && { below: Number(below) / 100 }),
    ...(missing && { missing_required: true }),
    ...(rules && { rules: true }),
    ...(sample !== '' && { sample: Number(sample) / 100 }),
  };
  return Object.keys(policy).length === 0 ? null : policy;
};

const settingsOf = ({ name, mode, confidence, artifact, ...review }: Values) => ({
  name: name === '' ? null : name,
  mode,
  min_confidence: confidence === '' ? null : Number(confidence),
  artifact_id: artifact === NONE ? null : artifact,
  review: reviewOf({ name, mode, confidence, artifact, ...review }),
});

function CheckField({ name, label }: { name: 'missing' | 'rules'; label: string }) {
  const { register } = useFormContext<Values>();
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" {...register(name)} />
      {label}
    </label>
  );
}

/** The rules by which results go to a person. */
function ReviewRules() {
  return (
    <fieldset className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <legend className="px-1 font-medium">{publishTexts.review}</legend>
      <p className="text-[13px] text-soft">{publishTexts.reviewSay}</p>
      <CheckField name="missing" label={publishTexts.missing} />
      <CheckField name="rules" label={publishTexts.rules} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="below" label={publishTexts.below} autoComplete="off" />
        <TextField name="sample" label={publishTexts.sample} autoComplete="off" />
      </div>
    </fieldset>
  );
}

interface PublishDialogProps {
  /** The version to begin from; undefined: a new config. */
  readonly of: Config | undefined;
  readonly onClose: () => void;
}

/** Publishes the first or a next version of a config. */
function PublishDialog({ of, onClose }: PublishDialogProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const publish = useChange('publishConfig');
  const [text, setText] = useState(of === undefined ? FIRST : JSON.stringify(of.schema, undefined, 2));
  const [isWrong, mark] = useState(false);
  const [gated, guard] = useState(NO_GATE);
  const send = async (values: Values): Promise<void> => {
    const parsed = parsedObject(text);
    mark(parsed === undefined);
    if (parsed === undefined || !isGateRight(gated)) return;
    const gate = gateOf(gated);
    const own = of === undefined ? {} : keptOf(of);
    const answer = await publish
      .mutateAsync({ body: { tenant_id, ...own, ...settingsOf(values), schema: parsed, gate } })
      .catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast(publishTexts.done(answer.version));
    onClose();
    await cache.invalidateQueries({ queryKey: ['listConfigs'] });
    await cache.invalidateQueries({ queryKey: ['getConfig'] });
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={publishTexts.title} say={publishTexts.say}>
      <Form<Values> schema={schema} initial={initialOf(of)} onSubmit={send}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="name" label={publishTexts.name} autoComplete="off" />
          <SelectField name="mode" label={publishTexts.mode} choices={MODES} />
          <TextField name="confidence" label={publishTexts.confidence} say={publishTexts.confidenceSay} />
          <ArtifactField
            name="artifact"
            label={publishTexts.artifact}
            say={publishTexts.artifactSay}
            tenant_id={tenant_id}
            initial={of?.artifact_id ?? null}
          />
        </div>
        <div className="flex flex-col gap-1">
          <span className="font-medium">{publishTexts.schema}</span>
          <JsonEditor label={publishTexts.schema} value={text} onChange={setText} height="280px" />
          {isWrong && (
            <p role="alert" className="text-[13px] text-bad">
              {publishTexts.badSchema}
            </p>
          )}
        </div>
        <ReviewRules />
        <GateFields tenant_id={tenant_id} value={gated} onChange={guard} />
        <PublishProblem error={publish.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={publish.isPending}>
            {publishTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const revokeTexts = configs.revoke;

/** Asks before a config stops for good. */
function RevokeDialog({ of, onClose }: { of: Config; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useChange('revokeConfig');
  const send = async (): Promise<void> => {
    try {
      await revoke.mutateAsync({ path: { config_id: of.config_id } });
    } catch {
      return; // the note says it
    }
    toast(revokeTexts.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listConfigs'] });
    await cache.invalidateQueries({ queryKey: ['getConfig'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={revokeTexts.title(of.name ?? of.config_id)}
      say={revokeTexts.say}
    >
      <ProblemNote error={revoke.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={revoke.isPending} onClick={() => void send()}>
          {revokeTexts.submit}
        </Button>
      </div>
    </Dialog>
  );
}

interface SideProps {
  readonly label: string;
  readonly versions: readonly Config[];
  readonly shown: Config;
  readonly onChoose: (version: string) => void;
}

function Side({ label, versions, shown, onChoose }: SideProps) {
  const nameOf = useActorNames(shown.tenant_id);
  const choices = versions.map(({ version }) => ({ value: String(version), name: configs.version(version) }));
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-3">
      <span className="w-40">
        <Select label={label} choices={choices} value={String(shown.version)} onChange={onChoose} />
      </span>
      <span className="min-w-0 truncate text-[13px] text-soft">
        <Time at={shown.published_at} /> · <bdi>{nameOf(shown.published_by)}</bdi>
      </span>
    </div>
  );
}

/** Two versions side by side; the last two at first. */
function Compare({ versions }: { versions: readonly Config[] }) {
  const [left, setLeft] = useState<string>();
  const [right, setRight] = useState<string>();
  const versionOf = (chosen: string | undefined): Config | undefined =>
    versions.find(({ version }) => String(version) === chosen);
  const after = versionOf(right) ?? versions[0];
  const before = versionOf(left) ?? versions[1];
  if (after === undefined) return null;
  if (before === undefined)
    return (
      <>
        <p className="mb-3 text-soft">{configs.only}</p>
        <JsonEditor label={configs.version(after.version)} value={textOf(after)} />
      </>
    );
  return (
    <>
      <div className="mb-3 grid gap-4 sm:grid-cols-2">
        <Side label={configs.before} versions={versions} shown={before} onChoose={setLeft} />
        <Side label={configs.after} versions={versions} shown={after} onChoose={setRight} />
      </div>
      {textOf(before) === textOf(after) && <p className="text-soft">{configs.same}</p>}
      <Diff label={configs.compare} before={textOf(before)} after={textOf(after)} />
    </>
  );
}

function Actions({ latest }: { latest: Config }) {
  const [doing, onDo] = useState<'publish' | 'revoke'>();
  const onClose = (): void => onDo(undefined);
  return (
    <>
      <Button look="primary" onClick={() => onDo('publish')}>
        {configs.publish.next}
      </Button>
      <Button look="danger" onClick={() => onDo('revoke')}>
        {configs.revoke.open}
      </Button>
      {doing === 'publish' && <PublishDialog of={latest} onClose={onClose} />}
      {doing === 'revoke' && <RevokeDialog of={latest} onClose={onClose} />}
    </>
  );
}

type History = Awaited<ReturnType<Api['getConfig']>>;

function Shown({ of: { config_id, versions, revoked_at } }: { of: History }) {
  const { session } = useActing();
  const latest = versions[0];
  const isRevoked = revoked_at !== null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="text-base font-semibold">{latest?.name ?? configs.unnamed}</h2>
        <Named id={config_id} />
        <Badge tone={isRevoked ? 'bad' : 'good'}>{isRevoked ? configs.revoked : configs.current}</Badge>
        <span className="ml-auto flex gap-2">
          {mayPublish(session) && !isRevoked && latest !== undefined && <Actions latest={latest} />}
        </span>
      </div>
      <Card title={configs.compare}>
        <Compare versions={versions} />
      </Card>
    </>
  );
}

/** A config with its versions. */
function OneConfig({ config_id }: { config_id: string }) {
  const { data, error, refetch } = useRead('getConfig', { path: { config_id } });
  return (
    <div className="flex flex-col gap-4">
      <Go to="/configs">← {configs.back}</Go>
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton lines={6} />}
      {data !== undefined && <Shown of={data} />}
    </div>
  );
}

const { columns: names } = configs;

const COLUMNS: readonly Column<Config>[] = [
  { id: 'name', name: names.name, value: ({ name }) => name ?? configs.unnamed, share: 1.6 },
  {
    id: 'id',
    name: names.id,
    value: ({ config_id }) => config_id,
    isWhole: true,
    show: ({ config_id }) => <Named id={config_id} />,
  },
  { id: 'version', name: names.version, value: ({ version }) => version, isNumber: true, share: 0.7 },
  { id: 'mode', name: names.mode, value: ({ mode }) => mode, share: 0.8 },
  { id: 'fields', name: names.fields, value: fieldsOf, isNumber: true, share: 0.7 },
  {
    id: 'published',
    name: names.published,
    value: ({ published_at }) => published_at,
    show: ({ published_at }) => <Time at={published_at} />,
    isWhole: true,
    share: 1.5,
  },
];

const byColumn = (nameOf: (who: string | null) => string): Column<Config> => ({
  id: 'by',
  name: names.by,
  value: ({ published_by }) => nameOf(published_by),
  share: 1.5,
});

/** Operators, and those who are signed in to the tenant. */
const mayPublish = ({ role }: SignedIn): boolean => role === 'admin' || role === 'tenant';

const SORTS = { id: 'config_id', version: 'version', mode: 'mode', published: 'published_at' } as const;

function ConfigList() {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const go = useGo();
  const list = usePages('listConfigs', { query: { tenant_id } }, { sorts: SORTS });
  const [isPublishing, publish] = useState(false);
  const isNew = list.error !== null && faultOf(list.error).code === 'tenant_not_found';
  const nameOf = useActorNames(tenant_id);
  const open = mayPublish(session) && (
    <Button look="primary" onClick={() => publish(true)}>
      <Plus aria-hidden className="size-4" />
      {configs.publish.first}
    </Button>
  );
  if (list.error !== null && !isNew) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <>
      <DataTable
        label={configs.list}
        columns={[...COLUMNS, byColumn(nameOf)]}
        list={list}
        {...(isNew && { items: [] })}
        idOf={({ config_id }) => config_id}
        onOpen={({ config_id }) => go(`/configs/${encodeURIComponent(config_id)}`)}
        actions={open}
        empty={
          <Empty title={configs.empty.title} say={configs.empty.say}>
            {open}
          </Empty>
        }
      />
      {isPublishing && <PublishDialog of={undefined} onClose={() => publish(false)} />}
    </>
  );
}

function OfTenant() {
  const config_id = useRest();
  return config_id === undefined ? <ConfigList /> : <OneConfig config_id={config_id} />;
}

/** Saved configs with their versions. */
export default function ConfigsPage() {
  return (
    <>
      <PageHeader title={configs.title} say={configs.say} />
      <ForTenant>
        <OfTenant />
      </ForTenant>
    </>
  );
}
