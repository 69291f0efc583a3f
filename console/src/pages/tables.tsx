import type { Api } from '@quire/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { api, useChange, usePages, type Pages } from '../api/connection.ts';
import { faultOf } from '../api/faults.ts';
import { type SignedIn, useActing, useTenantId } from '../api/session.ts';
import { shell } from '../texts/shell.ts';
import { tables as texts } from '../texts/tables.ts';
import { Button } from '../ui/button.tsx';
import { Card, PageHeader } from '../ui/card.tsx';
import { columnsFor } from '../ui/columns.tsx';
import { BOM, csvOf } from '../ui/csv.ts';
import { Dialog } from '../ui/dialog.tsx';
import { FileDrop } from '../ui/fileDrop.tsx';
import { ForTenant } from '../ui/forTenant.tsx';
import { Form, TextField } from '../ui/form.tsx';
import { Go, useAddressValue, useGo, useRest } from '../ui/go.tsx';
import { Plus } from '../ui/icons/icons.tsx';
import { useActorNames } from '../ui/names.tsx';
import { Select } from '../ui/select.tsx';
import { Empty, ProblemNote, Skeleton } from '../ui/states.tsx';
import { DataTable, type Column } from '../ui/table.tsx';
import { Copy, Time } from '../ui/values.tsx';

type Table = Awaited<ReturnType<Api['listTables']>>['items'][number];
type TablePage = Awaited<ReturnType<Api['getTable']>>;

/** Operators, and those who are signed in to the tenant. */
const mayPublish = ({ role }: SignedIn): boolean => role === 'admin' || role === 'tenant';

const nameOf = ({ name }: Pick<Table, 'name'>): string => name ?? texts.unnamed;

const { upload } = texts;
const schema = z.object({ name: z.string().trim().max(200, upload.tooLong) });
type Values = z.infer<typeof schema>;

interface UploadProps {
  /** The table that gets a new version; undefined: a new table. */
  readonly of?: Table | undefined;
  readonly onClose: () => void;
}

/** Sends a file as a table, or as the next version of one. */
function UploadDialog({ of, onClose }: UploadProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const go = useGo();
  const publish = useChange('publishTable');
  const [file, choose] = useState<File>();
  const [isTried, tried] = useState(false);
  const send = async ({ name }: Values): Promise<void> => {
    tried(true);
    if (file === undefined) return;
    const named = { ...(of && { table_id: of.table_id }), ...(name !== '' && { name }) };
    const made = await publish.mutateAsync({ body: { tenant_id, file, ...named } }).catch(() => undefined);
    if (made === undefined) return; // the note says it
    toast(made.version === of?.version ? upload.same : upload.done(nameOf(made), made.version));
    onClose();
    go(`/tables/${encodeURIComponent(made.table_id)}`);
    await cache.invalidateQueries({ queryKey: ['listTables'] });
    await cache.invalidateQueries({ queryKey: ['getTable'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={of === undefined ? upload.first : upload.next}
      say={of === undefined ? upload.say : `${upload.say} ${upload.nextSay}`}
    >
      <Form<Values> schema={schema} initial={{ name: '' }} onSubmit={send}>
        <FileDrop
          title={file === undefined ? upload.drop : upload.chosen(file.name)}
          say={upload.dropSay}
          choose={upload.choose}
          accept=".csv,.xlsx"
          onFile={choose}
        />
        {isTried && file === undefined && (
          <p role="alert" className="text-[13px] text-bad">
            {upload.none}
          </p>
        )}
        <TextField
          name="name"
          label={upload.name}
          say={of === undefined ? upload.nameSay : upload.nextNameSay}
          autoComplete="off"
        />
        <ProblemNote error={publish.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={publish.isPending}>
            {upload.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** Asks before a table goes for good. */
function RemoveDialog({ of, onClose }: { of: Table; onClose: () => void }) {
  const cache = useQueryClient();
  const go = useGo();
  const remove = useChange('removeTable');
  const send = async (): Promise<void> => {
    try {
      await remove.mutateAsync({ path: { table_id: of.table_id } });
    } catch {
      return; // the note says it
    }
    toast(texts.remove.done);
    go('/tables');
    await cache.invalidateQueries({ queryKey: ['listTables'] });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.remove.title(nameOf(of))} say={texts.remove.say}>
      <ProblemNote error={remove.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={remove.isPending} onClick={() => void send()}>
          {texts.remove.submit}
        </Button>
      </div>
    </Dialog>
  );
}

function Actions({ of }: { of: Table }) {
  const [doing, onDo] = useState<'upload' | 'remove'>();
  const onClose = (): void => onDo(undefined);
  return (
    <>
      <Button look="primary" onClick={() => onDo('upload')}>
        {upload.next}
      </Button>
      <Button look="danger" onClick={() => onDo('remove')}>
        {texts.remove.open}
      </Button>
      {doing === 'upload' && <UploadDialog of={of} onClose={onClose} />}
      {doing === 'remove' && <RemoveDialog of={of} onClose={onClose} />}
    </>
  );
}

/** A row, and its place from 1. */
interface Row {
  readonly at: number;
  readonly cells: readonly string[];
}

const ROWS = 200;
const ROWS_MAX = 1_000;

/** All rows of a version, as a spreadsheet takes them. */
const wholeCsv = async (table_id: string, version: number): Promise<Blob> => {
  const rows: (readonly string[])[] = [];
  let [columns, cursor]: [readonly string[], string | null | undefined] = [[], undefined];
  do {
    const query = { version, limit: ROWS_MAX, ...(cursor != null && { cursor }) };
    const page = await api.getTable({ path: { table_id }, query });
    [columns, cursor] = [page.columns, page.next_cursor];
    rows.push(...page.items);
  } while (cursor !== null);
  return new Blob([BOM, csvOf(columns, rows)], { type: 'text/csv' });
};

/** The rows of a version, as far as they were loaded; undefined: the latest. */
const useTable = (table_id: string, version: number | undefined): Pages<Row, TablePage> => {
  const read = useInfiniteQuery({
    queryKey: ['getTable', { table_id, version }],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) => {
      const named = { ...(version !== undefined && { version }), ...(cursor !== undefined && { cursor }) };
      const query = { limit: ROWS, ...named };
      return api.getTable({ path: { table_id }, query }, { signal });
    },
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const [first] = read.data?.pages ?? [];
  return {
    items: read.data?.pages.flatMap(({ items }) => items).map((cells, index) => ({ at: index + 1, cells })),
    first,
    total: first?.rows,
    isAtLeast: false,
    asking: undefined,
    isChanging: false,
    error: read.error,
    again: () => void read.refetch(),
    more: read.hasNextPage ? () => void read.fetchNextPage() : undefined,
    isLoadingMore: read.isFetchingNextPage,
    csv: first && (() => wholeCsv(table_id, first.version)),
  };
};

const columnsIn = ({ columns }: TablePage): readonly Column<Row>[] =>
  columns.map((name, at) => ({
    id: String(at),
    name: name === '' ? texts.column(at + 1) : name,
    value: ({ cells }) => cells[at],
    share: 1.4,
  }));

function Facts({ of: { table_id, tenant_id, sha256, published_at, published_by } }: { of: Table }) {
  const nameOfActor = useActorNames(tenant_id);
  const facts = [
    { name: texts.facts.published, value: <Time at={published_at} /> },
    { name: texts.facts.by, value: <bdi>{nameOfActor(published_by)}</bdi> },
    {
      name: texts.facts.id,
      value: (
        <>
          <code>{table_id}</code> <Copy text={table_id} />
        </>
      ),
    },
    {
      name: texts.facts.sha256,
      value: (
        <>
          <code>{sha256.slice(0, 12)}</code> <Copy text={sha256} />
        </>
      ),
    },
  ];
  return (
    <Card>
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-4">
        {facts.map(({ name, value }) => (
          <div key={name} className="min-w-0">
            <dt className="text-[13px] text-soft">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** A table: each of its versions with its rows. */
function OneTable({ table_id }: { table_id: string }) {
  const { session } = useActing();
  const [asked, keep] = useAddressValue('version');
  const latest = useTable(table_id, undefined);
  const list = useTable(table_id, asked === undefined ? undefined : Number(asked));
  const { first: shown, error } = list;
  const newest = latest.first;
  return (
    <div className="flex flex-col gap-4">
      <Go to="/tables">← {texts.back}</Go>
      <ProblemNote error={error} onRetry={list.again} />
      {(shown === undefined || newest === undefined) && error === null && <Skeleton lines={6} />}
      {shown !== undefined && newest !== undefined && (
        <>
          <div className="flex flex-wrap items-center gap-3">
            <h2 className="min-w-0 text-base font-semibold wrap-anywhere">
              <bdi>{nameOf(shown)}</bdi>
            </h2>
            <div className="w-48">
              <Select
                label={texts.version}
                choices={Array.from({ length: newest.version }, (_, at) => newest.version - at).map(
                  (version) => ({
                    value: String(version),
                    name: texts.versionOf(version, version === newest.version),
                  }),
                )}
                value={String(shown.version)}
                onChange={(version) => keep(version === String(newest.version) ? undefined : version)}
              />
            </div>
            <span className="ml-auto flex flex-wrap gap-2">
              {mayPublish(session) && <Actions of={newest} />}
            </span>
          </div>
          <Facts of={shown} />
          <DataTable
            key={shown.version}
            label={texts.rows}
            columns={columnsIn(shown)}
            list={list}
            idOf={({ at }) => String(at)}
            empty={<Empty title={texts.noRows.title} say={texts.noRows.say} />}
          />
        </>
      )}
    </div>
  );
}

const of = columnsFor<Table, keyof typeof texts.columns>(texts.columns);

const columnsBy = (actorOf: (who: string | null) => string): readonly Column<Table>[] => [
  of.text('name', nameOf, { share: 1.6 }),
  of.text('columns', ({ columns }) => columns.join(', '), { share: 2.2 }),
  of.count('rows', ({ rows }) => rows, 0.8),
  of.count('version', ({ version }) => version, 0.8),
  of.count('bytes', ({ bytes }) => bytes, 0.9),
  of.time('published', ({ published_at }) => published_at),
  of.text('by', ({ published_by }) => actorOf(published_by), { share: 1.2 }),
];

const SORTS = { rows: 'rows', version: 'version', bytes: 'bytes', published: 'published_at' } as const;

function TableList() {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const go = useGo();
  const list = usePages('listTables', { query: { tenant_id } }, { sorts: SORTS });
  const [isUploading, begin] = useState(false);
  const actorOf = useActorNames(tenant_id);
  // nobody has heard of a tenant before its first key
  const isNew = list.error !== null && faultOf(list.error).code === 'tenant_not_found';
  if (list.error !== null && !isNew) return <ProblemNote error={list.error} onRetry={list.again} />;
  const open = mayPublish(session) && (
    <Button look="primary" onClick={() => begin(true)}>
      <Plus aria-hidden className="size-4" />
      {upload.first}
    </Button>
  );
  return (
    <>
      <DataTable
        label={texts.list}
        columns={columnsBy(actorOf)}
        list={list}
        {...(isNew && { items: [] })}
        idOf={({ table_id }) => table_id}
        onOpen={({ table_id }) => go(`/tables/${encodeURIComponent(table_id)}`)}
        actions={open}
        empty={
          <Empty title={texts.empty.title} say={texts.empty.say}>
            {open}
          </Empty>
        }
      />
      {isUploading && <UploadDialog onClose={() => begin(false)} />}
    </>
  );
}

function OfTenant() {
  const table_id = useRest();
  return table_id === undefined ? <TableList /> : <OneTable key={table_id} table_id={table_id} />;
}

/** Tables of master data with their versions. */
export default function TablesPage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <OfTenant />
      </ForTenant>
    </>
  );
}
