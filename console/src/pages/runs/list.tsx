import type { RunItem } from '@quire/client';
import { useState, type ChangeEvent, type KeyboardEvent } from 'react';
import { usePages, useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { runs as texts } from '../../texts/runs.ts';
import { kindName, statusName } from '../../texts/shell.ts';
import { columnsFor } from '../../ui/columns.tsx';
import { Go, useAddressValues, useGo } from '../../ui/go.tsx';
import { useActorNames } from '../../ui/names.tsx';
import { Select, statusChoices } from '../../ui/select.tsx';
import { Empty, ProblemNote, Status } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Time } from '../../ui/values.tsx';

/** The document of a run, as people know it. */
export const nameOf = ({ file_name, document_id, run_id }: RunItem): string =>
  file_name ?? document_id ?? run_id;

const pathOf = ({ run_id }: RunItem): string => `/runs/${run_id}`;

const { text, time } = columnsFor<RunItem, keyof typeof texts.columns>(texts.columns);

const columnsWith = (keyName: (keyId: string) => string): readonly Column<RunItem>[] => [
  text('document', nameOf, { share: 2, show: (run) => <Go to={pathOf(run)}>{nameOf(run)}</Go> }),
  text('kind', ({ kind }) => kindName(kind), { share: 0.8 }),
  text('status', ({ status }) => statusName(status), {
    share: 1.1,
    show: ({ status }) => <Status status={status} />,
  }),
  text('pages', ({ pages }) => pages, { isNumber: true, share: 0.6 }),
  text('credits', ({ credits_used }) => credits_used, {
    isNumber: true,
    share: 0.8,
    show: ({ credits_used }) => (credits_used === null ? '–' : <Credits value={credits_used} />),
  }),
  time('requested', ({ requested_at }) => requested_at),
  text('duration', ({ duration_ms }) => duration_ms, {
    isNumber: true,
    share: 0.8,
    show: ({ duration_ms }) => (duration_ms === null ? '–' : texts.seconds(duration_ms)),
  }),
  text('who', ({ key_id }) => keyName(key_id), { share: 1.2 }),
  text('kept', ({ kept_until }) => kept_until, {
    share: 1.5,
    isWhole: true,
    show: ({ kept_until }) => (kept_until === null ? texts.gone : <Time at={kept_until} />),
  }),
];

const SORTS = {
  kind: 'kind',
  status: 'status',
  pages: 'pages',
  credits: 'credits_used',
  requested: 'requested_at',
  duration: 'duration_ms',
} as const;

const FILTERS = ['q', 'kind', 'status', 'config_id', 'key_id', 'tag', 'from', 'to', 'document_id'] as const;
type FilterName = (typeof FILTERS)[number];

const KINDS = ['extract', 'to_markdown', 'training'];
const STATUSES = ['queued', 'running', 'succeeded', 'partial', 'needs_review', 'failed', 'cancelled'];

const ANY = 'any';

interface PickProps {
  readonly name: string;
  readonly any: string;
  readonly choices: readonly { readonly value: string; readonly name: string }[];
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function Pick({ name, any, choices, value = ANY, onChange }: PickProps) {
  return (
    <span className="w-36">
      <Select
        label={name}
        choices={[{ value: ANY, name: any }, ...choices]}
        value={value}
        onChange={(next) => onChange(next === ANY ? undefined : next)}
      />
    </span>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** A text that counts once it is entered, or left. */
const useTyped = ({ value, onChange }: Omit<TypedProps, 'label'>) => {
  const [typed, write] = useState(value ?? '');
  const done = (): void => {
    const next = typed.trim();
    if (next !== (value ?? '')) onChange(next === '' ? undefined : next);
  };
  return {
    value: typed,
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => write(target.value),
    onBlur: done,
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === 'Enter') done();
    },
  };
};

function Typed({ label, ...props }: TypedProps) {
  const typing = useTyped(props);
  return (
    <input
      type="search"
      aria-label={label}
      title={label}
      placeholder={label}
      {...typing}
      className={`${CONTROL} min-w-52 flex-1`}
    />
  );
}

function Day({ label, ...props }: TypedProps) {
  const typing = useTyped(props);
  return (
    <label className="flex items-center gap-2 text-soft">
      {label}
      <input type="date" {...typing} className={`${CONTROL} w-36`} />
    </label>
  );
}

type Asked = { readonly [Name in FilterName]: string | undefined };

interface FiltersProps {
  readonly asked: Asked;
  readonly onChange: (changes: Partial<Asked>) => void;
}

function Filters({ asked, onChange }: FiltersProps) {
  const tenant_id = useTenantId();
  const configs = useRead('listConfigs', { query: { tenant_id } }).data?.items ?? [];
  const keys = useRead('listApiKeys', { path: { tenant_id } }).data?.items ?? [];
  const keyName = useActorNames(tenant_id);
  const typed = (name: FilterName, label: string, Input = Typed) => (
    <Input
      key={`${name} ${asked[name] ?? ''}`}
      label={label}
      value={asked[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  const pick = (name: FilterName, words: readonly [string, string], choices: PickProps['choices']) => (
    <Pick
      name={words[0]}
      any={words[1]}
      choices={choices}
      value={asked[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  const { filter, any } = texts;
  return (
    <div role="search" aria-label={texts.filters} className="flex flex-wrap items-center gap-2">
      {typed('q', texts.search)}
      {pick(
        'kind',
        [filter.kind, any.kind],
        KINDS.map((value) => ({ value, name: kindName(value) })),
      )}
      {pick('status', [filter.status, any.status], statusChoices(STATUSES))}
      {configs.length > 0 &&
        pick(
          'config_id',
          [filter.config, any.config],
          configs.map(({ config_id, name }) => ({ value: config_id, name: name ?? config_id })),
        )}
      {keys.length > 0 &&
        pick(
          'key_id',
          [filter.key, any.key],
          keys.map(({ key_id }) => ({ value: key_id, name: keyName(key_id) })),
        )}
      {typed('tag', filter.tag)}
      {typed('from', texts.from, Day)}
      {typed('to', texts.to, Day)}
    </div>
  );
}

type RunsQuery = NonNullable<Parameters<typeof usePages<'listRuns'>>[1]>['query'];

/** All work of a tenant; what it is asked for stands in the address. */
export function RunList() {
  const go = useGo();
  const tenant_id = useTenantId();
  const keyName = useActorNames(tenant_id);
  const [asked, keep] = useAddressValues(FILTERS);
  const wanted = Object.entries(asked).filter(([, value]) => value !== undefined);
  const query = { tenant_id, ...Object.fromEntries(wanted) } as RunsQuery;
  const list = usePages('listRuns', { query }, { sorts: SORTS });
  return (
    <div className="flex flex-col gap-4">
      <Filters asked={asked} onChange={keep} />
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={texts.all}
          columns={columnsWith(keyName)}
          list={list}
          idOf={({ run_id }) => run_id}
          onOpen={(run) => go(pathOf(run))}
          height={640}
          isSearched
          empty={wanted.length === 0 ? <Empty title={texts.none.title} say={texts.none.say} /> : undefined}
        />
      )}
    </div>
  );
}
