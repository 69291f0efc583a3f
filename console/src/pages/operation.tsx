import type { Api, ServiceState } from '@quire/client';
import { Pause, Play } from '../ui/icons/icons.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { operation as texts } from '../texts/operation.ts';
import { Badge, Card, Stat, PageHeader, type Tone } from '../ui/card.tsx';
import { Credits, Time } from '../ui/values.tsx';
import { ProgressBar, ProblemNote, Skeleton } from '../ui/states.tsx';
import { DataTable, type Column } from '../ui/table.tsx';
import { useChange, useRead } from '../api/connection.ts';
import { Button } from '../ui/button.tsx';

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', live: 'good', degraded: 'warn', down: 'bad' };

/** A state as a word with its colour; what is not known to be well stands out. */
function State({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? 'warn'}>{state.replaceAll('_', ' ')}</Badge>;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** The two largest units of a duration. */
const durationOf = (seconds: number): string => {
  const whole = (size: number, of = seconds): string => String(Math.floor(of / size));
  if (seconds >= DAY) return `${whole(DAY)} d ${whole(HOUR, seconds % DAY)} h`;
  if (seconds >= HOUR) return `${whole(HOUR)} h ${whole(MINUTE, seconds % HOUR)} min`;
  return seconds >= MINUTE ? `${whole(MINUTE)} min` : `${String(seconds)} s`;
};

/** What one sees at once. */
function Figures({ state }: { state: ServiceState }) {
  const { status, version, uptime_seconds, roles, log } = state;
  return (
    <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
      <Stat
        name={texts.health}
        value={<span className={status === 'ok' ? 'text-good' : 'text-warn'}>{texts.status[status]}</span>}
        say={state.draining ? texts.draining : undefined}
      />
      <Stat name={texts.version} value={version} say={texts.replica} />
      <Stat
        name={texts.uptime}
        value={durationOf(uptime_seconds)}
        say={`${texts.roles}: ${roles.join(', ')}`}
      />
      <Stat name={texts.end} value={<Credits value={log.end_position ?? '–'} />} say={texts.endSay} />
    </div>
  );
}

const wordOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(wordOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Each part with its state and what it says of itself. */
function Parts({ parts }: Pick<ServiceState, 'parts'>) {
  return (
    <Card title={texts.parts}>
      <ul className="flex flex-col divide-y divide-line/60">
        {Object.entries(parts).map(([name, { status, ...said }]) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2">
            <span className="w-32 font-medium">{name.replaceAll('_', ' ')}</span>
            <State state={wordOf(status)} />
            <span className="min-w-0 basis-40 grow text-[13px] wrap-anywhere text-soft">
              {Object.entries(said)
                .filter(([, value]) => value !== null)
                .map(([member, value]) => `${member.replaceAll('_', ' ')} ${wordOf(value)}`)
                .join(' · ')}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

type Model = ServiceState['read_models'][number];
type ReadModelName = Parameters<Api['retryReadModel']>[0]['path']['name'];

const nextOf = ({ next }: Model): string | null =>
  next === null ? null : `${String(next.version)}: ${next.state}, ${next.position ?? '–'}`;

const MODELS: readonly Column<Model>[] = [
  { id: 'name', name: texts.model.name, value: ({ name }) => name, share: 2 },
  {
    id: 'state',
    name: texts.model.state,
    value: ({ state }) => state,
    show: (m) => <State state={m.state} />,
  },
  { id: 'version', name: texts.model.version, value: ({ version }) => version, isNumber: true },
  { id: 'position', name: texts.model.position, value: ({ position }) => position, isNumber: true },
  { id: 'lag', name: texts.model.lag, value: (m) => m.lag_events, isNumber: true },
  { id: 'late', name: texts.model.late, value: (m) => Math.round(m.lag_seconds), isNumber: true },
  { id: 'next', name: texts.model.next, value: nextOf },
  { id: 'reason', name: texts.model.reason, value: ({ reason }) => reason },
];

/** Read models with the position that each has reached. */
function Models({ models }: { models: readonly Model[] }) {
  return (
    <Card title={texts.models}>
      <DataTable label={texts.models} columns={MODELS} items={models} idOf={({ name }) => name} />
    </Card>
  );
}

/** Tenants whose events a read model leaves; nothing where there are none. */
function Parked({ models }: { models: readonly Model[] }) {
  const { parked: said } = texts;
  const retry = useChange('retryReadModel');
  const cache = useQueryClient();
  const rows = models.flatMap(({ name, parked }) => parked.map((one) => ({ name, ...one })));
  if (rows.length === 0) return null;
  const again = (name: string, tenant_id: string): void =>
    retry.mutate(
      // it is one of those that the service listed
      { path: { name: name as ReadModelName }, body: { tenant_id } },
      {
        onSuccess: () => {
          toast.success(said.asked(tenant_id));
          void cache.invalidateQueries({ queryKey: ['getServiceState'] });
        },
      },
    );
  return (
    <Card title={said.title}>
      <p className="mb-2 text-[13px] text-soft">{said.say}</p>
      <ProblemNote error={retry.error} />
      <ul className="flex flex-col divide-y divide-line/60">
        {rows.map(({ name, tenant_id, reason, waiting_since, retrying }) => (
          <li key={`${name} ${tenant_id}`} className="flex flex-wrap items-center justify-between gap-2 py-2">
            <span className="min-w-0 basis-60 grow wrap-anywhere">
              <span className="font-medium">{said.where(tenant_id, name)}</span> <Time at={waiting_since} />
              <span className="block text-[13px] text-soft">{reason}</span>
            </span>
            <Button
              isBusy={retrying}
              aria-label={said.retryOf(tenant_id, name)}
              onClick={() => again(name, tenant_id)}
            >
              {said.retry}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Slots by tenant, and the limits of the process. */
function Slots({ slots, maxUploadBytes }: { slots: ServiceState['slots']; maxUploadBytes: number }) {
  const { in_use, max, tenants } = slots;
  return (
    <Card title={texts.slots}>
      <p className="text-[13px] text-soft">{texts.slotsSay}</p>
      <p className="mt-2">{texts.slotsOf(in_use, max)}</p>
      <ProgressBar label={texts.slots} value={in_use} max={max} />
      <ul className="mt-2 flex flex-col gap-1 empty:hidden">
        {tenants.map((tenant) => (
          <li key={tenant.tenant_id}>
            <span className="flex justify-between gap-2">
              <span className="break-all">{tenant.tenant_id}</span>
              <Credits value={tenant.in_use} />
            </span>
            <ProgressBar label={`${texts.slotsTenant} ${tenant.tenant_id}`} value={tenant.in_use} max={max} />
          </li>
        ))}
      </ul>
      <p className="mt-3 flex justify-between gap-2 border-t border-line pt-2">
        <span className="text-soft">{texts.upload}</span>
        <Credits value={Math.round(maxUploadBytes / 1_000_000)} unit="MB" />
      </p>
    </Card>
  );
}

const { limits: limited } = texts;

/** Rate-limit buckets that are not full. */
function Limits({ buckets }: { buckets: ServiceState['rate_limits'] }) {
  return (
    <Card title={limited.title}>
      <p className="text-[13px] text-soft">{buckets.length === 0 ? limited.none : limited.say}</p>
      <ul className="flex flex-col divide-y divide-line/60">
        {buckets.map(({ tenant_id, bucket, remaining, burst, rate_per_second }) => (
          <li key={`${bucket} ${tenant_id}`} className="flex flex-col gap-1 py-2">
            <span className="flex flex-wrap justify-between gap-x-4">
              <span className="wrap-anywhere">
                {tenant_id} <span className="text-soft">{limited.buckets[bucket]}</span>
              </span>
              <span className={remaining === 0 ? 'text-bad' : ''}>{limited.left(remaining, burst)}</span>
            </span>
            <span className="flex items-center gap-3">
              <ProgressBar
                label={limited.bar(tenant_id, limited.buckets[bucket])}
                value={burst - remaining}
                max={burst}
              />
              <span className="text-[13px] whitespace-nowrap text-soft">{limited.rate(rate_per_second)}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What waits and runs, of all processes. */
function Work({ work }: Pick<ServiceState, 'work'>) {
  return (
    <Card title={texts.work}>
      {work.length === 0 ? (
        <p className="text-soft">{texts.workNone}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line/60">
          {work.map(({ kind, status, count }) => (
            <li key={`${kind} ${status}`} className="flex items-center justify-between gap-2 py-2">
              <span>
                {kind.replaceAll('_', ' ')} <span className="text-soft">{status.replaceAll('_', ' ')}</span>
              </span>
              <Credits value={count} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type Replica = ServiceState['replicas'][number];
const { replicaOf: names } = texts;

const COLUMNS: readonly Column<Replica>[] = [
  { id: 'id', name: names.id, value: ({ replica_id }) => replica_id, share: 2 },
  { id: 'version', name: names.version, value: ({ version }) => version },
  { id: 'roles', name: names.roles, value: ({ roles }) => roles.join(', '), share: 1.6 },
  {
    id: 'started',
    name: names.started,
    value: ({ started_at }) => started_at,
    show: ({ started_at }) => <Time at={started_at} />,
    isWhole: true,
    share: 1.5,
  },
  {
    id: 'seen',
    name: names.seen,
    value: ({ seen_at }) => seen_at,
    show: ({ seen_at }) => <Time at={seen_at} />,
    isWhole: true,
    share: 1.5,
  },
];

/** The processes of the service with their versions. */
function Replicas({ replicas }: { replicas: readonly Replica[] }) {
  const versions = new Set(replicas.map(({ version }) => version));
  return (
    <Card title={texts.replicas}>
      <p className="mb-2 text-[13px] text-soft">
        {versions.size > 1 ? texts.versions(versions.size) : texts.replicasSay}
      </p>
      <DataTable
        label={texts.replicas}
        columns={COLUMNS}
        items={replicas}
        idOf={({ replica_id }) => replica_id}
      />
    </Card>
  );
}

const SECONDS = 5;

/** Operation; read again while it is seen. */
export default function OperationPage() {
  const [isPaused, pause] = useState(false);
  const state = useRead('getServiceState', {}, isPaused ? {} : { refetchInterval: SECONDS * 1_000 });
  const Icon = isPaused ? Play : Pause;
  return (
    <>
      <PageHeader title={texts.title} say={texts.say}>
        <span className="text-[13px] text-soft">{isPaused ? texts.paused : texts.every(SECONDS)}</span>
        <Button onClick={() => pause(!isPaused)}>
          <Icon aria-hidden className="size-4" />
          {isPaused ? texts.resume : texts.pause}
        </Button>
      </PageHeader>
      <div className="flex flex-col gap-4">
        <ProblemNote error={state.error} onRetry={() => void state.refetch()} />
        {state.isPending && <Skeleton lines={8} className="h-10" />}
        {state.data !== undefined && (
          <>
            <Figures state={state.data} />
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <div className="flex flex-col gap-4">
                <Parts parts={state.data.parts} />
                <Work work={state.data.work} />
              </div>
              <div className="flex flex-col gap-4">
                <Slots slots={state.data.slots} maxUploadBytes={state.data.max_upload_bytes} />
                <Limits buckets={state.data.rate_limits} />
              </div>
            </div>
            <Replicas replicas={state.data.replicas} />
            <Models models={state.data.read_models} />
            <Parked models={state.data.read_models} />
          </>
        )}
      </div>
    </>
  );
}
