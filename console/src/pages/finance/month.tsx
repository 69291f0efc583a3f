import { CircleAlert, CircleCheck, CircleDashed, CircleHelp } from '../../ui/icons/icons.tsx';
import {
  isProblem,
  type ListAuditsResponse,
  type ListSealsResponse,
  type MarginReportResponse,
  type OpenPaymentList,
  type ReconciliationResponse,
  type ReconciliationRow,
} from '@quire/client';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, csvOf, fileOf, useChange, useRead } from '../../api/connection.ts';
import { finance as texts } from '../../texts/finance.ts';
import { Button } from '../../ui/button.tsx';
import { csvOf as textOfCsv } from '../../ui/csv.ts';
import { Downloads, type NamedFile } from '../../ui/download.tsx';
import type { Period } from '../../ui/period.ts';
import { Closing } from './closing.tsx';
import { gapOf, stepsOf } from './margin.tsx';
import { Badge } from '../../ui/card.tsx';
import { Go } from '../../ui/go.tsx';
import { ProblemNote, Empty, Skeleton } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Time } from '../../ui/values.tsx';

const { close } = texts;

const marginCsv = async (query: { start: string; end: string }): Promise<string> => {
  const report = await api.getMarginReport({ query });
  return textOfCsv(
    [texts.margin.figure, 'USD'],
    [...stepsOf(report), ...gapOf(report).slice(0, -1)].map(({ name, amount }) => [name, amount]),
  );
};

const LAYOUTS = ['datev', 'xero', 'quickbooks'] as const;

/** The month's reports, each as a file; one more is one entry here. */
const filesOf = ({ month, first, last }: Period): readonly NamedFile[] => {
  const { save } = close;
  const between = { from: first, to: last };
  const dates = { from_date: first, to_date: last };
  const files: readonly (readonly [keyof typeof save, NamedFile['load']])[] = [
    ['margin', () => marginCsv({ start: first, end: last })],
    ['journal', () => csvOf('getJournal', { query: { month } })],
    ...LAYOUTS.map((layout): [typeof layout, NamedFile['load']] => [
      layout,
      () => fileOf('getJournal', { query: { month, layout } }, 'text/csv'),
    ]),
    ['payments', () => csvOf('listPayments', { query: between })],
    ['vat', () => csvOf('getTaxReport', { query: between })],
    ['balances', () => csvOf('listBalancesAt', { query: { at: last } })],
    ['deferred', () => csvOf('getDeferredRevenue', { query: { on: last, by: 'lot' } })],
    ['usage', () => csvOf('getUsageStats', { query: { ...dates, group_by: 'day' } })],
    ['subsidy', () => csvOf('getFreeTierSubsidy', { query: dates })],
  ];
  return files.map(([id, load]) => ({ name: save[id], file: `${id}-${month}.csv`, load }));
};

/** In order, to do, not to be seen from here, or still being looked at. */
type Standing = 'good' | 'bad' | 'unknown' | 'waits';

interface Step {
  readonly id: keyof typeof texts.close.steps;
  readonly standing: Standing;
  readonly say: string;
  readonly error?: unknown;
  readonly retry?: () => void;
  /** Where it is seen to. */
  readonly to?: string;
  /** Sees to it in place. */
  readonly act?: ReactNode;
}

interface Seen {
  readonly isGood: boolean;
  readonly say: string;
}

const count = (value: number): string => value.toLocaleString('en');

/** A step that one report decides. */
const stepOf = <Data,>(id: Step['id'], read: UseQueryResult<Data>, see: (data: Data) => Seen): Step => {
  // that something is not there yet is something to do, and nothing that went wrong
  if (isProblem(read.error) && read.error.problem.code === 'fx_rate_not_found')
    return { id, standing: 'bad', say: close.noRate };
  const again = { error: read.error, retry: () => void read.refetch() };
  if (read.data === undefined)
    return { id, standing: read.error === null ? 'waits' : 'bad', say: '', ...again };
  const { isGood, say } = see(read.data);
  return { id, standing: isGood ? 'good' : 'bad', say, ...again };
};

const tab = (name: string, { month }: Period): string => `/finance?tab=${name}&month=${month}`;

const auditSeen = ({ items }: ListAuditsResponse, end: number): Seen => {
  if (items[0]?.status === 'running') return { isGood: false, say: close.auditing };
  const audit = items.find(
    ({ status, started_at }) => status === 'succeeded' && Date.parse(started_at) > end,
  );
  if (audit === undefined) return { isGood: false, say: close.noAudit };
  return { isGood: audit.findings === 0, say: close.audited(count(audit.findings ?? 0)) };
};

const sealSeen = ({ items }: ListSealsResponse, end: number): Seen => {
  const isGood = items.some(({ made_at, state }) => Date.parse(made_at) > end && state !== 'differs');
  return { isGood, say: isGood ? close.sealed : close.noSeal };
};

const marginSeen = (report: MarginReportResponse): Seen => {
  const isGood = report.unpriced_calls + report.sales_without_amount + report.sales_without_rate === 0;
  return { isGood, say: isGood ? close.priced : close.unpriced };
};

/** Claims that are neither booked nor released; what is stuck is released there. */
const paymentsStep = (read: UseQueryResult<OpenPaymentList>): Step => {
  const items = read.data?.items ?? [];
  const [stuck] = items.filter((one) => one.stuck !== null);
  const say = stuck === undefined ? close.underWay : close.stuck;
  const step = stepOf('payments', read, () => ({
    isGood: items.length === 0,
    say: items.length === 0 ? close.noneOpen : say(count(items.length)),
  }));
  return { ...step, to: '/books?tab=open' };
};

const booksSeen = ({ drifted, tenants_checked }: ReconciliationResponse): Seen => {
  const isGood = drifted.length === 0;
  return { isGood, say: isGood ? close.agree(count(tenants_checked)) : close.drifted(count(drifted.length)) };
};

const EACH_MS = 1_000;

/** The audits that are kept, read again until the one that runs has ended. */
const useAudits = () => {
  const input = { query: { limit: 20 } };
  const { data } = useRead('listAudits', input);
  const isRunning = data?.items[0]?.status === 'running';
  return useRead('listAudits', input, isRunning ? { refetchInterval: EACH_MS } : {});
};

/** Begins an audit of everything. */
function RunAudit({ isRunning }: { isRunning: boolean }) {
  const cache = useQueryClient();
  const start = useChange('startAudit');
  const run = (): void =>
    start.mutate(
      { body: {} },
      { onSettled: () => void cache.invalidateQueries({ queryKey: ['listAudits'] }) },
    );
  return (
    <div className="flex flex-col items-start gap-2">
      <Button size="small" isBusy={start.isPending || isRunning} onClick={run}>
        {close.audit}
      </Button>
      <ProblemNote error={start.error} />
    </div>
  );
}

/** Seals the log as it is. */
function MakeSeal() {
  const make = useChange('sealEventLog');
  const cache = useQueryClient();
  const send = (): void =>
    make.mutate({ body: {} }, { onSettled: () => void cache.invalidateQueries({ queryKey: ['listSeals'] }) });
  return (
    <div className="flex flex-col items-start gap-2">
      <Button size="small" isBusy={make.isPending} onClick={send}>
        {close.seal}
      </Button>
      <ProblemNote error={make.error} />
    </div>
  );
}

/** Whether the month's books are in order, step by step (docs/how-to/close-a-month.md). */
export const useSteps = (period: Period, now: number): readonly Step[] => {
  const { first, last } = period;
  const end = Date.parse(`${last}T23:59:59.999Z`);
  const rate = useRead('getFxRate', { query: { base: 'EUR', quote: 'USD', on: last } });
  const missing = useRead('getMissingPricing', { query: { days: 90 } });
  const books = useRead('getReconciliation', { query: { include_ok: true } });
  const audits = useAudits();
  const seals = useRead('listSeals');
  const margin = useRead('getMarginReport', { query: { start: first, end: last } });
  const open = useRead('listOpenPayments');
  const isOver = now > end;
  return [
    { id: 'over', standing: isOver ? 'good' : 'bad', say: isOver ? close.isOver : close.notOver },
    {
      ...stepOf('rates', rate, ({ rate_date }) => ({
        isGood: rate_date >= first,
        say: rate_date >= first ? close.rate(rate_date) : close.noRate,
      })),
      to: tab('rates', period),
    },
    {
      ...stepOf('prices', missing, ({ items }) => ({
        isGood: items.length === 0,
        say: items.length === 0 ? close.allPriced : close.missing(count(items.length)),
      })),
      to: tab('costs', period),
    },
    { ...stepOf('reconciliation', books, booksSeen), to: tab('reconciliation', period) },
    {
      ...stepOf('audit', audits, (data) => auditSeen(data, end)),
      to: '/audit?tab=audits',
      act: <RunAudit isRunning={audits.data?.items[0]?.status === 'running'} />,
    },
    {
      ...stepOf('seal', seals, (data) => sealSeen(data, end)),
      to: '/audit?tab=seals',
      act: seals.data !== undefined && sealSeen(seals.data, end).isGood ? undefined : <MakeSeal />,
    },
    { ...stepOf('margin', margin, marginSeen), to: tab('margin', period) },
    paymentsStep(open),
    {
      id: 'keep',
      standing: 'unknown',
      say: close.keep,
      to: `/books?tab=journal&month=${period.month}`,
      act: <Downloads files={filesOf(period)} />,
    },
  ];
};

const ICONS = { good: CircleCheck, bad: CircleAlert, unknown: CircleHelp, waits: CircleDashed } as const;
const COLOURS: Readonly<Record<Standing, string>> = {
  good: 'text-good',
  bad: 'text-bad',
  unknown: 'text-soft',
  waits: 'text-soft',
};
const TONES = { good: 'good', bad: 'bad', unknown: 'neutral', waits: 'neutral' } as const;

function StepLine({ step, number }: { step: Step; number: number }) {
  const Icon = ICONS[step.standing];
  return (
    <li className="flex gap-3 border-t border-line p-3 first:border-t-0">
      <Icon aria-hidden className={`mt-0.5 size-5 shrink-0 ${COLOURS[step.standing]}`} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {`${String(number)}. ${texts.close.steps[step.id]}`}
          <Badge tone={TONES[step.standing]}>{texts.close.states[step.standing]}</Badge>
        </p>
        <p className="break-words text-soft">{step.say}</p>
        {step.act}
        <ProblemNote error={step.error} onRetry={step.retry} />
      </div>
      {step.to !== undefined && (
        <Button asChild size="small" className="self-center">
          <Go to={step.to}>{texts.close.go}</Go>
        </Button>
      )}
    </li>
  );
}

/** What is to be in order before a month is closed, as the books stand now. */
export function CloseMonth({ period, now }: { period: Period; now: number }) {
  const steps = useSteps(period, now);
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <Closing month={period.month} isOver={now > Date.parse(`${period.last}T23:59:59.999Z`)} />
      <p className="text-soft">{texts.close.say}</p>
      <ol className="rounded-lg border border-line bg-surface">
        {steps.map((step, index) => (
          <StepLine key={step.id} step={step} number={index + 1} />
        ))}
      </ol>
    </div>
  );
}

const { reconciliation: words } = texts;

const credits = (
  id: string,
  name: string,
  value: (row: ReconciliationRow) => number,
): Column<ReconciliationRow> => ({
  id,
  name,
  value,
  isNumber: true,
  show: (row) => <Credits value={value(row)} />,
});

const COLUMNS: readonly Column<ReconciliationRow>[] = [
  {
    id: 'tenant',
    name: words.tenant,
    value: ({ tenant_id }) => tenant_id,
    share: 2,
    show: ({ tenant_id }) => <Go to={`/tenants/${encodeURIComponent(tenant_id)}`}>{tenant_id}</Go>,
  },
  credits('grants', words.grants, ({ grants_credits }) => grants_credits),
  credits('adjustments', words.adjustments, ({ adjustments_credits }) => adjustments_credits),
  credits('burns', words.burns, ({ burns_credits }) => burns_credits),
  credits('expected', words.expected, ({ expected_balance_credits }) => expected_balance_credits),
  credits('balance', words.balance, ({ balance_credits }) => balance_credits),
  credits('drift', words.drift, ({ drift_credits }) => drift_credits),
];

/** Whether grants, ledger and balances of every tenant agree. */
export function Reconciliation() {
  const [isAll, showAll] = useState(true);
  const read = useRead('getReconciliation', { query: { include_ok: isAll } });
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data === undefined) return <Skeleton lines={5} />;
  const { drifted, ok = [], tenants_checked, checked_at, position } = read.data;
  const isGood = drifted.length === 0;
  return (
    <div className="flex flex-col gap-4">
      <div
        role="status"
        className={`flex flex-wrap items-center justify-between gap-2 rounded-lg p-3 ${
          isGood ? 'bg-good-soft text-good' : 'bg-bad-soft text-bad'
        }`}
      >
        <span className="font-medium">
          {isGood
            ? words.good(tenants_checked.toLocaleString('en'))
            : words.bad(drifted.length.toLocaleString('en'))}
        </span>
        <span className="text-[13px]">
          {words.checked} <Time at={checked_at} /> · {words.position} {position ?? '–'}
        </span>
      </div>
      <DataTable
        label={isAll ? words.all : words.drifted}
        columns={COLUMNS}
        items={[...drifted, ...ok]}
        idOf={({ tenant_id }) => tenant_id}
        actions={
          <>
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={isAll}
                onChange={({ target }) => showAll(target.checked)}
                className="size-4 accent-(--accent)"
              />
              {words.withOk}
            </label>
            <Button size="small" isBusy={read.isFetching} onClick={() => void read.refetch()}>
              {words.again}
            </Button>
          </>
        }
        empty={
          <Empty title={words.none}>
            <Button onClick={() => showAll(true)}>{words.withOk}</Button>
          </Empty>
        }
      />
    </div>
  );
}
