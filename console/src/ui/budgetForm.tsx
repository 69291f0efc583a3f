import type { BudgetCreateRequest, BudgetChangeRequest } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useFormContext, useWatch } from 'react-hook-form';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange, usePages } from '../api/connection.ts';
import { useTenantId } from '../api/session.ts';
import { budgets as texts } from '../texts/budgets.ts';
import { shell } from '../texts/shell.ts';
import { levelsIn, levelsText, type Budget } from './budget.ts';
import { Button } from './button.tsx';
import { creditsIn } from './decimal.ts';
import { Dialog } from './dialog.tsx';
import { Form, SelectField, TextField } from './form.tsx';
import { ProblemNote } from './states.tsx';
import { UTC, useZone } from './zone.ts';

const { fields } = texts;

const choicesOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, name]) => ({ value, name }));

const KINDS = choicesOf(fields.kinds);
const PERIODS = choicesOf(fields.periods);
const REACHED = choicesOf(fields.reacheds);

/** What may be changed of a budget later. */
const changeable = {
  name: z.string().trim().min(1, fields.noName).max(200, fields.noName),
  limit: z.string().refine((text) => creditsIn(text) !== undefined, fields.noLimit),
  reached: z.enum(['refuse', 'notify']),
  levels: z.string().refine((text) => levelsIn(text) !== undefined, fields.noLevels),
};

const changeSchema = z.object(changeable);
type Changeable = z.infer<typeof changeSchema>;

const ID = z.string().trim().min(1, fields.noId).max(128, fields.noId);

/** What is asked for of each kind of scope. */
const SCOPES = {
  whole: z.object({}),
  key: z.object({ key: z.string().min(1, fields.noKey) }),
  project: z.object({ project: ID }),
  task: z.object({ task: ID }),
  tag: z.object({
    tag: z
      .string()
      .trim()
      .regex(/^[a-z][a-z0-9_.-]{0,39}$/, fields.noTag),
    value: z.string().trim().min(1, fields.noValue).max(200, fields.noValue),
  }),
} as const;

const makeSchema = z
  .object({
    ...changeable,
    kind: z.enum(['whole', 'key', 'project', 'task', 'tag']),
    key: z.string(),
    project: z.string(),
    task: z.string(),
    tag: z.string(),
    value: z.string(),
    period: z.enum(['day', 'week', 'month', 'total']),
    zone: z.string(),
  })
  .superRefine((values, context) => {
    for (const { path, message } of SCOPES[values.kind].safeParse(values).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [...path], message });
  });
type Made = z.infer<typeof makeSchema>;

const scopeOf = ({ kind, key, project, task, tag, value }: Made): BudgetCreateRequest['scope'] => {
  if (kind === 'key') return { key_id: key };
  if (kind === 'project') return { project_id: project.trim() };
  if (kind === 'task') return { task_id: task.trim() };
  return kind === 'tag' ? { tag: { name: tag.trim(), value: value.trim() } } : {};
};

/** As a request has it; the schema has checked both texts. */
const changedOf = ({ name, limit, reached, levels }: Changeable) => ({
  name: name.trim(),
  limit_credits: creditsIn(limit) ?? 0,
  on_reached: reached,
  alert_at: [...(levelsIn(levels) ?? [])],
});

/** The fields that may be changed later. */
function LimitFields() {
  return (
    <>
      <TextField name="limit" label={fields.limit} autoComplete="off" />
      <SelectField name="reached" label={fields.reached} choices={REACHED} />
      <TextField name="levels" label={fields.levels} say={fields.levelsSay} autoComplete="off" />
    </>
  );
}

function Buttons({ submit, isBusy, onClose }: { submit: string; isBusy: boolean; onClose: () => void }) {
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onClose}>{shell.cancel}</Button>
      <Button look="primary" type="submit" isBusy={isBusy}>
        {submit}
      </Button>
    </div>
  );
}

/** The keys of the tenant that are not revoked, by name. */
function KeyField() {
  const tenant_id = useTenantId();
  const { items = [], error, again } = usePages('listApiKeys', { path: { tenant_id } });
  if (error !== null) return <ProblemNote error={error} onRetry={again} />;
  const choices = items
    .filter(({ revoked_at }) => revoked_at === null)
    .map(({ key_id, name, prefix, last4 }) => ({ value: key_id, name: name ?? `${prefix}…${last4}` }));
  return <SelectField name="key" label={fields.key} choices={choices} />;
}

/** Asks what the budget limits: by its kind, for a key, an ID or a tag. */
function ScopeFields() {
  const { control } = useFormContext<Made>();
  const kind = useWatch({ control, name: 'kind' });
  return (
    <>
      <SelectField name="kind" label={fields.kind} choices={KINDS} />
      {kind === 'key' && <KeyField />}
      {kind === 'project' && <TextField name="project" label={fields.project} autoComplete="off" />}
      {kind === 'task' && <TextField name="task" label={fields.task} autoComplete="off" />}
      {kind === 'tag' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="tag" label={fields.tag} autoComplete="off" />
          <TextField name="value" label={fields.value} autoComplete="off" />
        </div>
      )}
    </>
  );
}

/** All zones, the reader's own and UTC first. */
const zonesFrom = (own: string) =>
  [...new Set([own, UTC, ...Intl.supportedValuesOf('timeZone')])].map((value) => ({ value, name: value }));

function PeriodFields({ own }: { own: string }) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField name="period" label={fields.period} choices={PERIODS} />
      <SelectField name="zone" label={fields.zone} say={fields.zoneSay} choices={zonesFrom(own)} />
    </div>
  );
}

/** Reads the budgets again after one was made, changed or ended. */
const useTold = (onClose: () => void) => {
  const cache = useQueryClient();
  return async (done: string): Promise<void> => {
    toast.success(done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listBudgets'] });
  };
};

/** Sends; whether it was done. What went wrong is the mutation's error, which a note shows. */
const isDone = (sent: Promise<unknown>): Promise<boolean> =>
  sent.then(
    () => true,
    () => false,
  );

interface MakeBudgetProps {
  /** The key that it is for; left out: it is asked what it limits. */
  readonly ofKey?: { readonly key_id: string; readonly name: string } | undefined;
  readonly onClose: () => void;
}

/** Makes a budget. */
export function MakeBudget({ ofKey, onClose }: MakeBudgetProps) {
  const tenant_id = useTenantId();
  const zone = useZone();
  const make = useChange('createBudget');
  const tell = useTold(onClose);
  const { title, forKey, say, submit, done } = texts.make;
  const initial: Made = {
    name: ofKey?.name ?? '',
    kind: ofKey === undefined ? 'whole' : 'key',
    key: ofKey?.key_id ?? '',
    project: '',
    task: '',
    tag: '',
    value: '',
    period: 'month',
    zone,
    limit: '',
    reached: 'refuse',
    levels: '80, 100',
  };
  const send = async (made: Made): Promise<void> => {
    const { period, zone: time_zone } = made;
    const body = { tenant_id, scope: scopeOf(made), period, time_zone, ...changedOf(made) };
    if (await isDone(make.mutateAsync({ body }))) await tell(done);
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={ofKey === undefined ? title : forKey(ofKey.name)} say={say}>
      <Form<Made> schema={makeSchema} initial={initial} onSubmit={send}>
        <TextField name="name" label={fields.name} autoComplete="off" />
        {ofKey === undefined && <ScopeFields />}
        <PeriodFields own={zone} />
        <LimitFields />
        <ProblemNote error={make.error} />
        <Buttons submit={submit} isBusy={make.isPending} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

interface OneBudgetProps {
  readonly budget: Budget;
  readonly onClose: () => void;
}

/** The members that differ: a key may change the limit of its own budget, if it changes nothing else. */
const differing = (after: ReturnType<typeof changedOf>, before: Budget): BudgetChangeRequest => ({
  ...(after.name === before.name ? {} : { name: after.name }),
  ...(after.limit_credits === before.limit_credits ? {} : { limit_credits: after.limit_credits }),
  ...(after.on_reached === before.on_reached ? {} : { on_reached: after.on_reached }),
  ...(after.alert_at.join() === before.alert_at.join() ? {} : { alert_at: after.alert_at }),
});

/** Changes what may be changed of a budget. */
export function ChangeBudget({ budget, onClose }: OneBudgetProps) {
  const { tenant_id, budget_id, limit_credits, on_reached, alert_at } = budget;
  const change = useChange('changeBudget');
  const tell = useTold(onClose);
  const name = budget.name ?? '';
  const { title, say, submit, done } = texts.change;
  const send = async (values: Changeable): Promise<void> => {
    const body = differing(changedOf(values), budget);
    if (await isDone(change.mutateAsync({ path: { tenant_id, budget_id }, body }))) await tell(done);
  };
  const limit = texts.credits(limit_credits);
  return (
    <Dialog isOpen onOpenChange={onClose} title={title(budget.name ?? texts.erased)} say={say}>
      <Form<Changeable>
        schema={changeSchema}
        initial={{ name, limit, reached: on_reached, levels: levelsText(alert_at) }}
        onSubmit={send}
      >
        <TextField name="name" label={fields.name} autoComplete="off" />
        <LimitFields />
        <ProblemNote error={change.error} />
        <Buttons submit={submit} isBusy={change.isPending} onClose={onClose} />
      </Form>
    </Dialog>
  );
}

/** Asks before a budget ends, for what it counted is forgotten. */
export function EndBudget({ budget, onClose }: OneBudgetProps) {
  const { tenant_id, budget_id, name } = budget;
  const removal = useChange('removeBudget');
  const tell = useTold(onClose);
  const { title, say, submit, done } = texts.end;
  const send = async (): Promise<void> => {
    if (await isDone(removal.mutateAsync({ path: { tenant_id, budget_id } }))) await tell(done);
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={title(name ?? texts.erased)} say={say}>
      <ProblemNote error={removal.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={removal.isPending} onClick={() => void send()}>
          {submit}
        </Button>
      </div>
    </Dialog>
  );
}
