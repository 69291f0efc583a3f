import type { ServiceState } from '@quire/client';
import { operation as texts } from '../../texts/operation.ts';
import { Card } from '../../ui/card.tsx';
import { ProgressBar } from '../../ui/progressBar.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Credits } from '../../ui/values/numbers.tsx';
import { State } from './service.tsx';

type Model = ServiceState['read_models'][number];

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
  { id: 'next', name: texts.model.next, value: nextOf },
  { id: 'reason', name: texts.model.reason, value: ({ reason }) => reason },
];

/** Read models with the position that each has reached. */
export function Models({ models }: { models: readonly Model[] }) {
  return (
    <Card title={texts.models}>
      <DataTable label={texts.models} columns={MODELS} items={models} idOf={({ name }) => name} />
    </Card>
  );
}

/** Slots by tenant, and the limits of the process. */
export function Slots({ slots, maxUploadBytes }: { slots: ServiceState['slots']; maxUploadBytes: number }) {
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
export function Limits({ buckets }: { buckets: ServiceState['rate_limits'] }) {
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
export function Work({ work }: Pick<ServiceState, 'work'>) {
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
