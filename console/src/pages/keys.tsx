import type { Api } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { toast } from 'sonner';
import { Plus } from '../ui/icons/icons.tsx';
import { keys as texts } from '../texts/keys.ts';
import { Badge, PageHeader, type Tone } from '../ui/card.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/table.tsx';
import { Time } from '../ui/values.tsx';
import { api, useChange, usePages, type Pages } from '../api/connection.ts';
import { useActing, useTenantId } from '../api/session.ts';
import { isolated, shell } from '../texts/shell.ts';
import { Form, SelectField, TextField } from '../ui/form.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ProblemNote, Empty } from '../ui/states.tsx';
import { Select } from '../ui/select.tsx';
import { SecretDialog, useIssue } from '../ui/secret.tsx';
import { faultOf } from '../api/faults.ts';
import { ForTenant } from '../ui/forTenant.tsx';
import { budgets } from '../texts/budgets.ts';
import { KeyBudget } from '../ui/keyBudget.tsx';

type Key = Awaited<ReturnType<Api['listApiKeys']>>['items'][number];

/** What is shown once. */
type Issued = Pick<Awaited<ReturnType<Api['createApiKey']>>, 'key' | 'name' | 'key_id'>;

type KeyState = keyof typeof texts.states;

/** How a key stands at a time: one that was rotated ends soon. */
const stateOf = ({ revoked_at, expires_at }: Key, now: number): KeyState => {
  if (revoked_at !== null) return 'revoked';
  if (expires_at === null) return 'live';
  return Date.parse(expires_at) <= now ? 'over' : 'ending';
};

const isLive = (key: Key, now: number): boolean => ['live', 'ending'].includes(stateOf(key, now));

/** The listed keys that were made with a key, or with one of those. */
const madeWith = ({ key_id }: Pick<Key, 'key_id'>, items: readonly Key[]): readonly Key[] => {
  const found = new Set([key_id]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const key of items) if (key.made_by !== null && found.has(key.made_by)) found.add(key.key_id);
  }
  return items.filter((key) => key.key_id !== key_id && found.has(key.key_id));
};

const TONES: Readonly<Record<KeyState, Tone>> = {
  live: 'good',
  ending: 'warn',
  over: 'neutral',
  revoked: 'neutral',
};

/** What people call a key. */
const nameOf = ({ name, prefix, last4 }: Key): string => name ?? `${prefix}…${last4}`;

/** A number of days from a time, as the API takes it; null: never. */
const endAfter = (days: string, now: number): string | null =>
  days === '' || days === 'never' ? null : new Date(now + Number(days) * 86_400_000).toISOString();

/** Runs a call that answers with a key, and lists the keys anew. */
const useIssued = (onIssued: (issued: Issued) => void) => {
  const cache = useQueryClient();
  return useIssue<Issued>(async ({ key, key_id, name }) => {
    onIssued({ key, key_id, name });
    await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
  });
};

interface KeyActions {
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

function RowActions({ item, onRotate, onRevoke }: KeyActions & { item: Key }) {
  const state = stateOf(item, Date.now());
  if (state === 'revoked' || state === 'over') return null;
  return (
    <span className="flex gap-1" onClick={(event) => event.stopPropagation()}>
      <Button
        size="small"
        look="quiet"
        aria-label={`${texts.rotate.open}: ${nameOf(item)}`}
        onClick={() => onRotate(item)}
      >
        {texts.rotate.open}
      </Button>
      <Button
        size="small"
        look="quiet"
        aria-label={`${texts.revoke.open}: ${nameOf(item)}`}
        onClick={() => onRevoke(item)}
      >
        {texts.revoke.open}
      </Button>
    </span>
  );
}

const { columns: names } = texts;

const columnsOf = (actions: KeyActions): readonly Column<Key>[] => [
  {
    id: 'name',
    name: names.name,
    value: ({ name }) => name,
    show: ({ name, erased_at }) =>
      name ?? <span className="text-soft">{erased_at === null ? texts.unnamed : texts.erased}</span>,
    share: 1.3,
  },
  {
    id: 'key',
    name: names.key,
    value: ({ prefix, last4 }) => `${prefix}…${last4}`,
    show: ({ prefix, last4 }) => <code className="text-[13px]">{`${prefix}…${last4}`}</code>,
    share: 1.65,
  },
  { id: 'role', name: names.role, value: ({ role }) => texts.create.roles[role], share: 0.7 },
  {
    id: 'state',
    name: names.state,
    value: (key) => texts.states[stateOf(key, Date.now())],
    show: (key) => {
      const state = stateOf(key, Date.now());
      return <Badge tone={TONES[state]}>{texts.states[state]}</Badge>;
    },
    share: 0.9,
  },
  {
    id: 'created',
    name: names.created,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    isWhole: true,
    share: 1.55,
  },
  {
    id: 'used',
    name: names.used,
    value: ({ last_used_at }) => last_used_at,
    show: ({ last_used_at }) => <Time at={last_used_at} />,
    isWhole: true,
    share: 1.55,
  },
  {
    id: 'ends',
    name: names.ends,
    value: ({ expires_at }) => expires_at,
    show: ({ expires_at }) => <Time at={expires_at} />,
    isWhole: true,
    share: 0.7,
  },
  {
    id: 'budget',
    name: budgets.ofKey.column,
    value: () => undefined,
    show: (key) => <KeyBudget key_id={key.key_id} name={nameOf(key)} mayBeSet={isLive(key, Date.now())} />,
    isWhole: true,
    share: 1.45,
  },
  {
    id: 'actions',
    name: names.actions,
    value: () => undefined,
    show: (item) => <RowActions item={item} {...actions} />,
    isWhole: true,
    share: 1.3,
  },
];

interface KeyTableProps extends KeyActions {
  readonly list: Pages<Key>;
}

/** The keys of a tenant with what can be done to each. */
function KeyTable({ list, ...actions }: KeyTableProps) {
  return (
    <DataTable label={texts.list} columns={columnsOf(actions)} list={list} idOf={({ key_id }) => key_id} />
  );
}

const { create } = texts;
const schema = z.object({
  name: z.string().trim().max(200, create.tooLong),
  role: z.enum(['tenant', 'service', 'seller', 'admin']),
  ends: z.enum(['never', '30', '90', '365']),
});
const ROLES = (['tenant', 'service', 'seller', 'admin'] as const).map((value) => ({
  value,
  name: create.roles[value],
}));
const ENDS = [
  { value: 'never', name: create.never },
  ...[30, 90, 365].map((days) => ({ value: String(days), name: create.days(days) })),
];

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly onIssued: (issued: Issued) => void;
}

/** Makes a key; operators choose its role as well. */
function CreateDialog({ onClose, onIssued }: CreateDialogProps) {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const { run, error, isBusy } = useIssued(onIssued);
  return (
    <Dialog isOpen onOpenChange={onClose} title={create.title} say={create.say}>
      <Form<z.infer<typeof schema>>
        schema={schema}
        initial={{ name: '', role: 'tenant', ends: 'never' }}
        onSubmit={({ name, role, ends }) => {
          const expires_at = endAfter(ends, Date.now());
          const body = { tenant_id, role, name: name === '' ? null : name, expires_at };
          return run(() => api.createApiKey({ body }));
        }}
      >
        <TextField name="name" label={create.name} say={create.nameSay} autoComplete="off" autoFocus />
        {session.role === 'admin' && (
          <SelectField name="role" label={create.role} say={create.roleSay} choices={ROLES} />
        )}
        <SelectField name="ends" label={create.ends} choices={ENDS} />
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {create.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface RevokeDialogProps {
  readonly chosen: Key;
  /** All keys that are listed: those that were made with the chosen one are asked after. */
  readonly items: readonly Key[];
  readonly onClose: () => void;
}

interface MadeProps {
  readonly made: readonly Key[];
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}

/** What was made with the key, which whoever has the key may know. */
function Made({ made, isChecked, onCheck }: MadeProps) {
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-1"
        checked={isChecked}
        onChange={({ target }) => onCheck(target.checked)}
      />
      <span>
        {texts.revoke.made}
        {made.length > 0 && (
          <span className="block text-soft">{made.map((key) => isolated(nameOf(key))).join(', ')}</span>
        )}
      </span>
    </label>
  );
}

/** Asks before a key stops for good, and after the keys that were made with it. */
function RevokeDialog({ chosen, items, onClose }: RevokeDialogProps) {
  const made = madeWith(chosen, items).filter((key) => isLive(key, Date.now()));
  // An admin's may be keys of other tenants, which are not listed here.
  const mayHaveMade = made.length > 0 || chosen.role === 'admin';
  const [isWithMade, setWithMade] = useState(false);
  const cache = useQueryClient();
  const revoke = useChange('revokeApiKey');
  const send = async (): Promise<void> => {
    try {
      await revoke.mutateAsync({
        path: { key: chosen.key_id },
        query: { made: isWithMade ? 'revoke' : 'keep' },
      });
    } catch {
      return; // the note says it
    }
    toast(texts.revoke.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.revoke.title(nameOf(chosen))} say={texts.revoke.say}>
      {mayHaveMade && <Made made={made} isChecked={isWithMade} onCheck={setWithMade} />}
      <ProblemNote error={revoke.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={revoke.isPending} onClick={() => void send()}>
          {texts.revoke.submit}
        </Button>
      </div>
    </Dialog>
  );
}

const { rotate } = texts;
const GRACES = Object.entries(rotate.graces).map(([value, name]) => ({ value, name }));

interface RotateDialogProps {
  readonly chosen: Key;
  readonly onClose: () => void;
  readonly onIssued: (issued: Issued) => void;
}

/** Replaces a key; the old one goes on for a while, so that nothing stops meanwhile. */
function RotateDialog({ chosen, onClose, onIssued }: RotateDialogProps) {
  const [grace, setGrace] = useState('86400');
  const { run, error, isBusy } = useIssued(onIssued);
  const send = (): Promise<void> =>
    run(() => api.rotateApiKey({ body: { key: chosen.key_id, grace_seconds: Number(grace) } }));
  return (
    <Dialog isOpen onOpenChange={onClose} title={rotate.title(nameOf(chosen))} say={rotate.say}>
      <div className="flex flex-col gap-1">
        <span className="font-medium">{rotate.grace}</span>
        <Select label={rotate.grace} choices={GRACES} value={grace} onChange={setGrace} />
      </div>
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" isBusy={isBusy} onClick={() => void send()}>
          {rotate.submit}
        </Button>
      </div>
    </Dialog>
  );
}

type Doing =
  | { readonly what: 'create' }
  | { readonly what: 'rotate' | 'revoke'; readonly key: Key }
  | { readonly what: 'show'; readonly issued: Issued };

interface DialogsProps {
  readonly items: readonly Key[];
  readonly doing: Doing;
  readonly onDo: (doing: Doing | undefined) => void;
}

function Dialogs({ items, doing, onDo }: DialogsProps) {
  const onClose = (): void => onDo(undefined);
  const onIssued = (issued: Issued): void => onDo({ what: 'show', issued });
  if (doing.what === 'create') return <CreateDialog onClose={onClose} onIssued={onIssued} />;
  if (doing.what === 'show') {
    const { key, name } = doing.issued;
    return (
      <SecretDialog texts={texts.secret} label={name ?? texts.secret.label} secret={key} onStored={onClose} />
    );
  }
  const { what, key } = doing;
  if (what === 'revoke') return <RevokeDialog chosen={key} items={items} onClose={onClose} />;
  return <RotateDialog chosen={key} onClose={onClose} onIssued={onIssued} />;
}

interface ListedProps {
  readonly list: Pages<Key>;
  readonly onDo: (doing: Doing) => void;
}

/** The keys that are there, with those that are over where they are asked for. */
function Listed({ list, onDo }: ListedProps) {
  const [isAll, showAll] = useState(false);
  const live = list.items?.filter((key) => isLive(key, Date.now()));
  const open = (
    <Button look="primary" onClick={() => onDo({ what: 'create' })}>
      <Plus aria-hidden className="size-4" />
      {texts.create.open}
    </Button>
  );
  if (list.items?.length === 0 && list.asking?.wanted.q === '')
    return (
      <Empty title={texts.empty.title} say={texts.empty.say}>
        {open}
      </Empty>
    );
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-4">
        {open}
        <label className="flex items-center gap-2 text-soft">
          <input type="checkbox" checked={isAll} onChange={({ target }) => showAll(target.checked)} />
          {texts.showAll}
        </label>
      </div>
      <KeyTable
        list={isAll ? list : { ...list, items: live, total: undefined, csv: undefined }}
        onRotate={(key) => onDo({ what: 'rotate', key })}
        onRevoke={(key) => onDo({ what: 'revoke', key })}
      />
    </>
  );
}

const SORTS = { key: 'prefix', role: 'role', created: 'created_at', ends: 'expires_at' } as const;

function KeyList() {
  const tenant_id = useTenantId();
  const list = usePages('listApiKeys', { path: { tenant_id } }, { sorts: SORTS });
  const [doing, onDo] = useState<Doing>();
  // A tenant begins with its first key: until then nobody has heard of it.
  const { error } = list;
  const isNew = error !== null && faultOf(error).code === 'tenant_not_found';
  const isBroken = error !== null && !isNew;
  return (
    <div className="flex flex-col gap-4">
      {isBroken && <ProblemNote error={error} onRetry={list.again} />}
      {!isBroken && <Listed list={isNew ? { ...list, items: [] } : list} onDo={onDo} />}
      {doing !== undefined && <Dialogs items={list.items ?? []} doing={doing} onDo={onDo} />}
    </div>
  );
}

/** Keys: made, shown once, replaced, revoked. */
export default function KeysPage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <KeyList />
      </ForTenant>
    </>
  );
}
