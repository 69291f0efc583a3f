import type { Api } from '@quire/client';
import { useState, type ReactNode } from 'react';
import { useRead } from '../../api/connection.ts';
import { faultOf } from '../../api/faults.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { overview as texts } from '../../texts/overview.ts';
import { kindName } from '../../texts/shell.ts';
import { Card, PageHeader, Stat } from '../../ui/card.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Go } from '../../ui/go.tsx';
import { DocumentName } from '../../ui/names.tsx';
import { Empty, ProblemNote, Skeleton, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Time } from '../../ui/values.tsx';
import { dayAt, percentOf, successOf, spentOn, timeOf, type Day } from './figures.ts';
import { Figures, type FigureRow } from './figureTable.tsx';
import { NearBudgets } from './nearBudgets.tsx';
import { OfService } from './service.tsx';

type Outcomes = Awaited<ReturnType<Api['getOutcomes']>>;

function Success({ outcomes }: { outcomes: Outcomes }) {
  const share = successOf(outcomes);
  if (share === undefined) return <>{texts.none}</>;
  return (
    <a href="#failures" className="text-accent hover:underline">
      {percentOf(share)}{' '}
      <span className={outcomes.failed > 0 ? 'text-bad' : 'text-soft'}>{texts.failed(outcomes.failed)}</span>
    </a>
  );
}

function Took({ outcomes, to }: { outcomes: Outcomes; to: string }) {
  const { median_ms, p95_ms } = outcomes;
  if (median_ms === null) return <>{texts.none}</>;
  return (
    <Go to={to}>
      {timeOf(median_ms)} <span className="text-soft">{texts.timeSay(timeOf(p95_ms ?? median_ms))}</span>
    </Go>
  );
}

interface Span {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly days: readonly Day[];
  readonly outcomes: Outcomes;
}

/** A span's figures, each a link to the rows that it is of. */
const rowOf = ({ name, from, to, days, outcomes }: Span): FigureRow => {
  const rows = `/usage?tab=usage&from=${from}&to=${to}`;
  const link = (value: number): ReactNode => (
    <Go to={rows}>
      <Credits value={value} />
    </Go>
  );
  return {
    name,
    cells: [
      link(outcomes.pages),
      <Success outcomes={outcomes} />,
      <Took outcomes={outcomes} to={rows} />,
      link(spentOn(days)),
    ],
  };
};

function Left() {
  const tenant_id = useTenantId();
  const { data } = useRead('getTenantInfo', { path: { tenant_id } });
  if (data === undefined) return <Skeleton className="h-24" />;
  const { days_left_at_28_days: left, days_left_at_7_days: atWeek } = data;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-3">
      <Stat
        name={texts.balance}
        value={
          <Go to="/usage" className="hover:underline">
            <Credits value={data.available_credits} />
          </Go>
        }
        say={texts.balanceSay}
      />
      <Stat
        name={texts.lasts}
        value={
          <Go to="/usage?days=30" className="hover:underline">
            {texts.lastsOf(left)}
          </Go>
        }
        say={left === null ? texts.lastsNone : texts.lastsSay(texts.lastsOf(atWeek))}
      />
      <Stat
        name={texts.free}
        value={
          <Go to="/usage?tab=prices" className="hover:underline">
            <Credits value={data.free_pages_remaining} />
          </Go>
        }
        say={texts.freeSay(data.free_pages.allowance.toLocaleString('en'))}
      />
    </div>
  );
}

const OPEN_SHOWN = 5;

type OpenOperation = Awaited<ReturnType<Api['listOperations']>>['items'][number];

function OpenLine({ operation, status, pages, accepted_at }: OpenOperation) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <Status status={status} />
      <span>{kindName(operation)}</span>
      <span className="text-soft">{texts.waits.pages(pages)}</span>
      <span className="ml-auto text-soft">
        <Time at={accepted_at} />
      </span>
    </li>
  );
}

/** Results that a person has to look at; nothing where there are none. */
function Reviews() {
  const tenant_id = useTenantId();
  const { data } = useRead('listReviews', { query: { tenant_id, status: 'open', limit: 1 } });
  if (data === undefined || data.total === 0) return null;
  return (
    <p className="mb-2">
      <Go to="/reviews">{texts.waits.reviews(data.total)}</Go>
    </p>
  );
}

/** Operations that have not ended. */
function Waits() {
  const tenant_id = useTenantId();
  const asked = (status: 'queued' | 'running') => ({ query: { tenant_id, status, limit: OPEN_SHOWN } });
  const running = useRead('listOperations', asked('running'));
  const queued = useRead('listOperations', asked('queued'));
  const error = running.error ?? queued.error;
  if (error !== null) return <ProblemNote error={error} />;
  if (running.data === undefined || queued.data === undefined) return <Skeleton lines={2} />;
  const items = [...running.data.items, ...queued.data.items].slice(0, OPEN_SHOWN);
  const total = running.data.total + queued.data.total;
  if (total === 0) return <p className="text-soft">{texts.waits.none}</p>;
  return (
    <ul className="flex flex-col divide-y divide-line/60">
      {items.map((item) => (
        <OpenLine key={item.operation_id} {...item} />
      ))}
      {total > items.length && <li className="py-1.5 text-soft">{texts.waits.more(total - items.length)}</li>}
    </ul>
  );
}

type Failure = Outcomes['failures'][number];
const { columns: names } = texts.failures;

const failureColumns = (tenantId: string): readonly Column<Failure>[] => [
  {
    id: 'at',
    name: names.at,
    value: (f) => f.failed_at,
    show: (f) => <Time at={f.failed_at} />,
    share: 1.4,
    isWhole: true,
  },
  { id: 'what', name: names.what, value: ({ operation }) => kindName(operation) },
  {
    id: 'problem',
    name: names.problem,
    value: ({ problem_code }) => problem_code,
    show: ({ problem_code }) => (
      <a className="text-accent hover:underline" href={`/docs/problems/${encodeURIComponent(problem_code)}`}>
        {problem_code}
      </a>
    ),
    share: 1.6,
  },
  { id: 'pages', name: names.pages, value: ({ pages }) => pages, isNumber: true, share: 0.6 },
  {
    id: 'document',
    name: names.document,
    value: ({ document_id }) => document_id,
    show: ({ document_id }) => <DocumentName id={document_id} tenantId={tenantId} />,
    share: 1.6,
  },
];

function Failures({ items }: { items: readonly Failure[] }) {
  const columns = failureColumns(useTenantId());
  return (
    <div id="failures" className="scroll-mt-16">
      <Card title={texts.failures.title}>
        <DataTable
          label={texts.failures.title}
          columns={columns}
          items={items}
          idOf={({ id }) => id}
          height={300}
          empty={<p className="text-soft">{texts.failures.none}</p>}
        />
      </Card>
    </div>
  );
}

/** A tenant: its figures, what is left, what waits and what went wrong. */
function OfTenant({ isAdmin }: { isAdmin: boolean }) {
  const tenant_id = useTenantId();
  const [now] = useState(Date.now);
  const [today, first] = [dayAt(now), dayAt(now, -29)];
  const usage = useRead('getUsageDays', { path: { tenant_id }, query: { start: first, end: today } });
  const ofToday = useRead('getOutcomes', { query: { tenant_id, from_date: today } });
  const ofMonth = useRead('getOutcomes', { query: { tenant_id, from_date: first } });
  const failed = [usage, ofToday, ofMonth].find(({ error }) => error !== null);
  if (failed !== undefined)
    return faultOf(failed.error).code === 'tenant_not_found' ? (
      <Empty title={texts.empty.title} say={texts.empty.say}>
        <Go to="/playground">{texts.empty.go}</Go>
      </Empty>
    ) : (
      <ProblemNote error={failed.error} onRetry={() => void failed.refetch()} />
    );
  if (usage.data === undefined || ofToday.data === undefined || ofMonth.data === undefined)
    return <Skeleton lines={6} className="h-8" />;
  const days = usage.data.items;
  const { spans, columns } = texts;
  const month = { name: spans.month, from: first, to: today, days, outcomes: ofMonth.data };
  const one = { ...month, name: spans.today, from: today, days: days.slice(-1), outcomes: ofToday.data };
  const { succeeded, partial, failed: notRead, running } = ofMonth.data;
  const isEmpty = succeeded + partial + notRead + running === 0;
  return (
    <div className="flex flex-col gap-4">
      <Left />
      <NearBudgets />
      {isEmpty ? (
        <Empty title={texts.empty.title} say={texts.empty.say}>
          <Go to="/playground">{texts.empty.go}</Go>
        </Empty>
      ) : (
        <Card>
          <Figures
            label={texts.figures}
            columns={[columns.pages, columns.success, columns.time, columns.spend]}
            rows={[rowOf(one), rowOf(month)]}
          />
          <p className="mt-2 text-[13px] text-soft">
            {texts.utc} {isAdmin && texts.notBilled} {ofMonth.data.counted_from !== null && texts.countedFrom}
          </p>
        </Card>
      )}
      <Card title={texts.waits.title}>
        <Reviews />
        <Waits />
      </Card>
      {!isEmpty && <Failures items={ofMonth.data.failures} />}
    </div>
  );
}

/** The first page: how it goes for a tenant, and for operators the service as a whole. */
export default function OverviewPage() {
  const { session, tenantId } = useActing();
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <div className="flex flex-col gap-8">
        {session.role === 'admin' && <OfService />}
        <section aria-label={tenantId} className="flex flex-col gap-3">
          {session.role === 'admin' && tenantId !== undefined && (
            <h2 className="text-base font-semibold">{tenantId}</h2>
          )}
          <ForTenant>
            <OfTenant isAdmin={session.role === 'admin'} />
          </ForTenant>
        </section>
      </div>
    </>
  );
}
