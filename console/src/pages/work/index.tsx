import type { BatchItem, OperationItem } from '@quire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange, usePages, type Pages } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { kindName, statusName } from '../../texts/shell.ts';
import { work as texts } from '../../texts/work.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Go, useAddressValue, useAddressValues } from '../../ui/go.tsx';
import { DocumentName, Named } from '../../ui/names.tsx';
import { Select, statusChoices } from '../../ui/select.tsx';
import { Empty, ProblemNote, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';

/** The time that a piece of work took or takes, in seconds; null: it waits. */
const secondsOf = (started: string | null, finished: string | null, now: number): number | null =>
  started === null ? null : ((finished === null ? now : Date.parse(finished)) - Date.parse(started)) / 1_000;

interface CancelProps {
  readonly what: 'operation' | 'batch';
  readonly id: string;
}

/** Asks, then cancels what has not ended. */
function Cancel({ what, id }: CancelProps) {
  const [isAsked, ask] = useState(false);
  const cache = useQueryClient();
  const operation = useChange('cancelOperation');
  const batch = useChange('cancelBatch');
  const words = what === 'operation' ? texts.operations : texts.batches;
  const send = async (): Promise<void> => {
    const sent: Promise<unknown> =
      what === 'operation'
        ? operation.mutateAsync({ path: { operation_id: id } })
        : batch.mutateAsync({ path: { batch_id: id } });
    const isDone = await sent.then(
      () => true,
      () => false,
    );
    if (!isDone) return; // the note says it
    toast(words.cancelled);
    ask(false);
    await cache.invalidateQueries({ queryKey: ['listOperations'] });
    await cache.invalidateQueries({ queryKey: ['listBatches'] });
  };
  return (
    <span onClick={(event) => event.stopPropagation()}>
      <Button size="small" look="quiet" onClick={() => ask(true)}>
        {texts.cancel}
      </Button>
      <Dialog isOpen={isAsked} onOpenChange={ask} title={words.title(id)} say={words.titleSay}>
        <ProblemNote error={operation.error ?? batch.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => ask(false)}>{texts.keep}</Button>
          <Button look="danger" isBusy={operation.isPending || batch.isPending} onClick={() => void send()}>
            {texts.confirm[what]}
          </Button>
        </div>
      </Dialog>
    </span>
  );
}

const isOpen = (status: string): boolean => status === 'queued' || status === 'running';

const durationOf = (started: string | null, finished: string | null): string | null => {
  const seconds = secondsOf(started, finished, Date.now());
  return seconds === null ? null : texts.seconds(seconds);
};

const { operations, batches } = texts;
const of = columnsFor<OperationItem, keyof typeof operations.columns>(operations.columns);

const OPERATIONS: readonly Column<OperationItem>[] = [
  of.time('accepted', ({ accepted_at }) => accepted_at),
  of.text('document', ({ document_id }) => document_id, {
    share: 2.2,
    show: ({ document_id, tenant_id }) => <DocumentName id={document_id} tenantId={tenant_id} />,
  }),
  of.text('kind', ({ operation }) => kindName(operation)),
  of.text('status', ({ status }) => statusName(status), {
    isWhole: true,
    show: ({ operation_id: id, status }) => (
      <>
        <Status status={status} /> {isOpen(status) && <Cancel what="operation" id={id} />}
      </>
    ),
  }),
  of.count('pages', ({ pages }) => pages, 0.7),
  of.text('credits', ({ credits_used }) => credits_used, { isNumber: true, share: 0.8 }),
  of.text('duration', ({ started_at, finished_at }) => durationOf(started_at, finished_at), {
    isNumber: true,
    share: 0.9,
  }),
  of.text('problem', ({ problem_code }) => problem_code, { share: 1.4 }),
  of.text('task', ({ project_id, task_id }) => `${project_id} / ${task_id}`, { share: 1.3 }),
  of.text('id', ({ operation_id }) => operation_id, {
    isWhole: true,
    show: ({ operation_id }) => <Named id={operation_id} />,
  }),
];

const ofBatch = columnsFor<BatchItem, keyof typeof batches.columns>(batches.columns);

const BATCHES: readonly Column<BatchItem>[] = [
  ofBatch.time('accepted', ({ accepted_at }) => accepted_at),
  ofBatch.text('status', ({ status }) => statusName(status), {
    isWhole: true,
    show: ({ batch_id: id, status }) => (
      <>
        <Status status={status} /> {isOpen(status) && <Cancel what="batch" id={id} />}
      </>
    ),
  }),
  ofBatch.text('progress', ({ begun, documents }) => batches.progress(begun, documents), {
    share: 1.3,
    show: ({ batch_id, begun, documents }) => (
      <Go to={`/runs?tab=files&batch=${batch_id}`}>{batches.progress(begun, documents)}</Go>
    ),
  }),
  ofBatch.text('pages', ({ pages_done }) => pages_done, { isNumber: true, share: 0.7 }),
  ofBatch.text('credits', ({ credits_used }) => credits_used, { isNumber: true, share: 0.8 }),
  ofBatch.text('duration', ({ started_at, finished_at }) => durationOf(started_at, finished_at), {
    isNumber: true,
    share: 0.9,
  }),
  ofBatch.text('task', ({ project_id, task_id }) => `${project_id} / ${task_id}`, { share: 1.3 }),
  ofBatch.text('id', ({ batch_id }) => batch_id, {
    isWhole: true,
    show: ({ batch_id }) => <Named id={batch_id} />,
  }),
];

const SORTS = { accepted: 'accepted_at', status: 'status' } as const;

const OF_OPERATIONS = [
  'queued',
  'running',
  'succeeded',
  'partial',
  'needs_review',
  'failed',
  'cancelled',
] as const;
const OF_BATCHES = ['queued', 'running', 'cancelling', 'ended', 'cancelled'] as const;

const ALL = 'all';

interface StatusPickProps {
  readonly statuses: readonly string[];
  readonly value: string | undefined;
  readonly onChange: (status: string | undefined) => void;
}

function StatusPick({ statuses, value, onChange }: StatusPickProps) {
  const choices = [{ value: ALL, name: texts.all }, ...statusChoices(statuses)];
  return (
    <div className="w-40">
      <Select
        label={texts.status}
        choices={choices}
        value={value ?? ALL}
        onChange={(next) => onChange(next === ALL ? undefined : next)}
      />
    </div>
  );
}

/** The status that is asked for, if there is such a one. */
const useStatus = <Name extends string>(statuses: readonly Name[]) => {
  const [{ status }, keep] = useAddressValues(['status']);
  const asked = statuses.find((one) => one === status);
  return [asked, (next: string | undefined) => keep({ status: next })] as const;
};

/** What waits or runs changes by itself, ms. */
const EACH_MS = 3_000;

/** Whether a list is read again: something in it waits or runs. */
const useGoing = () => {
  const [isGoing, go] = useState(false);
  const see = ({ items }: Pages<{ readonly status: string }>): void => {
    const is = items?.some(({ status }) => isOpen(status) || status === 'cancelling') === true;
    if (is !== isGoing) go(is);
  };
  return { interval: isGoing ? EACH_MS : false, see } as const;
};

function Operations() {
  const tenant_id = useTenantId();
  const [status, choose] = useStatus(OF_OPERATIONS);
  const { interval, see } = useGoing();
  const [q, look] = useAddressValue('q');
  const query = { tenant_id, ...(status !== undefined && { status }), ...(q !== undefined && { q }) };
  const list = usePages('listOperations', { query }, { sorts: SORTS, refetchInterval: interval });
  see(list);
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.operations}
      columns={OPERATIONS}
      list={list}
      idOf={({ operation_id }) => operation_id}
      actions={
        <>
          <StatusPick statuses={OF_OPERATIONS} value={status} onChange={choose} />
          {q !== undefined && (
            <Button size="small" onClick={() => look(undefined)}>
              {texts.clear(q)}
            </Button>
          )}
        </>
      }
      height={560}
      empty={<Empty title={operations.none.title} say={operations.none.say} />}
    />
  );
}

function Batches() {
  const tenant_id = useTenantId();
  const [status, choose] = useStatus(OF_BATCHES);
  const { interval, see } = useGoing();
  const query = status === undefined ? { tenant_id } : { tenant_id, status };
  const list = usePages('listBatches', { query }, { sorts: SORTS, refetchInterval: interval });
  see(list);
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.batches}
      columns={BATCHES}
      list={list}
      idOf={({ batch_id }) => batch_id}
      actions={<StatusPick statuses={OF_BATCHES} value={status} onChange={choose} />}
      height={560}
      empty={<Empty title={batches.none.title} say={batches.none.say} />}
    />
  );
}

/** Operations and batches of a tenant, and a way to stop them. */
export default function WorkPage() {
  const [{ tab }, keep] = useAddressValues(['tab', 'status', 'q']);
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <Tabs
          label={texts.tabs.name}
          value={tab ?? 'operations'}
          onChange={(next) => keep({ tab: next, status: undefined, q: undefined })}
          tabs={[
            { id: 'operations', name: texts.tabs.operations, content: <Operations /> },
            { id: 'batches', name: texts.tabs.batches, content: <Batches /> },
          ]}
        />
      </ForTenant>
    </>
  );
}
