import type { AuditItem, ServiceState, UsageStatsTotals } from '@quire/client';
import { useState, type ReactNode } from 'react';
import { useRead } from '../../api/connection.ts';
import { overview } from '../../texts/overview.ts';
import { Card } from '../../ui/card.tsx';
import { Go } from '../../ui/go.tsx';
import { TriangleAlert } from '../../ui/icons/icons.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Credits, Money } from '../../ui/values.tsx';
import { dayAt } from './figures.ts';
import { Figures, type FigureRow } from './figureTable.tsx';

const { service: texts, columns, spans } = overview;

const rowOf = (name: string, totals: UsageStatsTotals): FigureRow => {
  const link = (shown: ReactNode): ReactNode => <Go to="/tenants">{shown}</Go>;
  return {
    name,
    cells: [
      link(<Credits value={totals.pages} />),
      link(<Credits value={totals.credits} />),
      <Go to="/finance?tab=margin">
        <Money amount={totals.list_value_usd} currency="USD" isShort />
      </Go>,
    ],
  };
};

function Usage() {
  const [now] = useState(Date.now);
  const day = useRead('getUsageStats', { query: { from_date: dayAt(now) } });
  const month = useRead('getUsageStats', { query: { from_date: dayAt(now, -29) } });
  const error = day.error ?? month.error;
  if (error !== null) return <ProblemNote error={error} />;
  if (day.data === undefined || month.data === undefined) return <Skeleton lines={3} />;
  return (
    <Figures
      label={overview.figures}
      columns={[columns.pages, columns.spend, columns.value]}
      rows={[rowOf(spans.today, day.data.totals), rowOf(spans.month, month.data.totals)]}
    />
  );
}

interface Alert {
  readonly say: string;
  readonly to: string;
}

/** As the alert rules have it. */
const STILL_MAX_SECONDS = 120;

const OPERATION = '/operation';

/** Parts that are away, and read models that stopped. */
const alertsOfState = ({ parts, read_models }: ServiceState): readonly Alert[] => [
  ...Object.entries(parts)
    .filter(([, { status }]) => status !== 'ok')
    .map(([name, { status }]) => ({ say: texts.part(name, String(status)), to: OPERATION })),
  ...read_models
    .filter(({ state }) => state !== 'live')
    .map(({ name }) => ({ say: texts.late(name), to: OPERATION })),
  ...read_models
    .filter(({ parked }) => parked.length > 0)
    .map(({ name, parked }) => ({ say: texts.parked(name, parked.length), to: OPERATION })),
  ...read_models
    .filter(({ state, still_seconds }) => state === 'live' && still_seconds >= STILL_MAX_SECONDS)
    .map(({ name, still_seconds }) => ({ say: texts.still(name, still_seconds), to: OPERATION })),
];

const alertsOfAudit = (last: AuditItem | undefined): readonly Alert[] => {
  const to = '/audit?tab=audits';
  if (last?.status === 'failed') return [{ say: texts.auditFailed, to }];
  const findings = last?.findings ?? 0;
  return findings > 0 ? [{ say: texts.audit(findings), to }] : [];
};

const useAlerts = (state: ServiceState | undefined): readonly Alert[] | undefined => {
  const prices = useRead('getMissingPricing', { query: { days: 30 } });
  const audits = useRead('listAudits', { query: { limit: 1 } });
  if (state === undefined || prices.isPending || audits.isPending) return undefined;
  const missing = prices.data?.items.length ?? 0;
  return [
    ...alertsOfState(state),
    ...(missing > 0 ? [{ say: texts.prices(missing), to: '/finance?tab=costs' }] : []),
    ...alertsOfAudit(audits.data?.items[0]),
  ];
};

const nameOf = (kind: string): string => {
  const { kinds } = texts;
  return kind in kinds ? kinds[kind as keyof typeof kinds] : kind;
};

function Work({ work }: Pick<ServiceState, 'work'>) {
  if (work.length === 0) return <p className="text-soft">{texts.noWork}</p>;
  return (
    <ul className="flex flex-col gap-1">
      {work.map(({ kind, status, count }) => (
        <li key={`${kind} ${status}`} className="flex justify-between gap-2">
          <span>
            {nameOf(kind)} <span className="text-soft">{status}</span>
          </span>
          <Go to={kind === 'reviews' ? '/reviews' : OPERATION}>
            <Credits value={count} />
          </Go>
        </li>
      ))}
    </ul>
  );
}

function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  if (alerts.length === 0) return <p className="text-soft">{texts.noAlerts}</p>;
  return (
    <ul className="flex flex-col gap-1">
      {alerts.map(({ say, to }) => (
        <li key={say} className="flex items-start gap-2">
          <TriangleAlert aria-hidden className="mt-1 size-4 shrink-0 text-warn" />
          <Go to={to}>{say}</Go>
        </li>
      ))}
    </ul>
  );
}

/** All tenants together, what waits in the service, and what needs its operator. */
export function OfService() {
  const state = useRead('getServiceState');
  const alerts = useAlerts(state.data);
  return (
    <section aria-label={texts.title} className="flex flex-col gap-3">
      <h2 className="text-base font-semibold">{texts.title}</h2>
      <ProblemNote error={state.error} onRetry={() => void state.refetch()} />
      <div className="grid gap-4 lg:grid-cols-[2fr_1fr_1fr]">
        <Card>
          <Usage />
        </Card>
        <Card title={texts.work}>
          {state.data === undefined ? <Skeleton lines={2} /> : <Work work={state.data.work} />}
        </Card>
        <Card title={texts.alerts}>
          {alerts === undefined ? <Skeleton lines={2} /> : <Alerts alerts={alerts} />}
        </Card>
      </div>
    </section>
  );
}
