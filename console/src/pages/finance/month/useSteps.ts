import { isProblem } from '@quire/client';
import type {
  ListAuditsResponse,
  ListSealsResponse,
  MarginReportResponse,
  ReconciliationResponse,
} from '@quire/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import type { Period } from '../period.ts';

/** In order, to do, not to be seen from here, or still being looked at. */
export type Standing = 'good' | 'bad' | 'unknown' | 'waits';

export interface Step {
  readonly id: keyof typeof texts.close.steps;
  readonly standing: Standing;
  readonly say: string;
  readonly error?: unknown;
  readonly retry?: () => void;
  /** Where it is seen to. */
  readonly to?: string;
}

interface Seen {
  readonly isGood: boolean;
  readonly say: string;
}

const { close } = texts;

const count = (value: number): string => value.toLocaleString('en');

/** A step that one report decides. */
const stepOf = <Data>(id: Step['id'], read: UseQueryResult<Data>, see: (data: Data) => Seen): Step => {
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

const booksSeen = ({ drifted, tenants_checked }: ReconciliationResponse): Seen => {
  const isGood = drifted.length === 0;
  return { isGood, say: isGood ? close.agree(count(tenants_checked)) : close.drifted(count(drifted.length)) };
};

/** Whether the month's books are in order, step by step (docs/how-to/close-a-month.md). */
export const useSteps = (period: Period, now: number): readonly Step[] => {
  const { first, last } = period;
  const end = Date.parse(`${last}T23:59:59.999Z`);
  const rate = useRead('getFxRate', { query: { base: 'EUR', quote: 'USD', on: last } });
  const missing = useRead('getMissingPricing', { query: { days: 90 } });
  const books = useRead('getReconciliation', { query: { include_ok: true } });
  const audits = useRead('listAudits', { query: { limit: 20 } });
  const seals = useRead('listSeals');
  const margin = useRead('getMarginReport', { query: { start: first, end: last } });
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
    { ...stepOf('audit', audits, (data) => auditSeen(data, end)), to: '/audit' },
    { ...stepOf('seal', seals, (data) => sealSeen(data, end)), to: '/audit' },
    { ...stepOf('margin', margin, marginSeen), to: tab('margin', period) },
    { id: 'payments', standing: 'unknown', say: close.payments },
    { id: 'keep', standing: 'unknown', say: close.keep },
  ];
};
