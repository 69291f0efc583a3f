import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  calendarMonth,
  monthAfter,
  type MonthNotClosable,
  type MonthNotReopenable,
} from '../../../domain/books.ts';
import type { BooksCommands, BooksView, ClosedMonth } from '../../commands/money/books.ts';
import type { Reconciliation } from '../../../projections/reconciliation.ts';
import { ALL_TENANTS, type Queries, type ReadYourWrites } from '../../queries/queries.ts';
import { neverRejected, problem, retryLater, type Sentences } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import { booleanText, creditsOut, instantOut, logIdOut, plainText, whoOut } from '../schemas/basics.ts';
import { closedReport, closingMembers, closingOf, type FiguredMonth, marginMembers } from './reports.ts';

/** What these routes need. */
export interface BooksDeps {
  readonly books: BooksCommands;
  readonly queries: Pick<Queries, 'reconciliation'>;
  readonly reads: Pick<ReadYourWrites, 'note'>;
  /** Which log the closings are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get, post } = routesOver<BooksDeps>();

const monthText = calendarMonth.meta({ description: 'A calendar month (UTC): `2026-11`.' });
const monthParams = z.object({ month: monthText });

const closedMonth = z
  .strictObject({
    month: monthText,
    status: z.enum(['closed', 'closing']).meta({
      description:
        '`closing`: the line is drawn, and the figures are not known yet. Close it again to go on.',
    }),
    cut_off_at: instantOut.meta({ description: 'When the line was drawn.' }),
    cut_off_by: whoOut,
    closing: closingMembers.nullable().meta({
      description: 'Who closed it, and what binds its figures to the log; null while it is closing.',
    }),
    report: z
      .strictObject(marginMembers)
      .nullable()
      .meta({ description: 'The figures, which never change; null while the month is closing.' }),
  })
  .meta({ id: 'ClosedMonth' });

const reopenedMonth = z
  .strictObject({
    month: monthText,
    number: z.int().meta({ description: 'Number of the closing that was taken back.' }),
    reason: z.string(),
    reopened_at: instantOut,
    reopened_by: whoOut,
  })
  .meta({ id: 'ReopenedMonth' });

const booksResponse = z
  .strictObject({
    log_id: logIdOut,
    open_from: instantOut.nullable().meta({
      description: 'Everything that comes is booked at this time or later; null: no month is closed.',
    }),
    next_month: monthText.nullable().meta({
      description: 'The month that is closed next; null: the first one may be any that is over.',
    }),
    items: z.array(closedMonth).meta({ description: 'All closed months, newest first.' }),
    reopened: z.array(reopenedMonth).meta({ description: 'Closings that were taken back, newest first.' }),
  })
  .meta({ id: 'BooksResponse' });

const isFigured = (month: ClosedMonth): month is FiguredMonth => month.closed !== null;

const monthAnswer = (month: ClosedMonth) => {
  const { cut_off_at, cut_off_by } = month;
  const own = { month: month.month, cut_off_at, cut_off_by };
  return isFigured(month)
    ? { ...own, status: 'closed' as const, closing: closingOf(month), report: closedReport(month) }
    : { ...own, status: 'closing' as const, closing: null, report: null };
};

const nextMonthOf = ({ months }: BooksView): string | null => {
  const last = months.at(-1);
  if (last === undefined) return null;
  return isFigured(last) ? monthAfter(last.month).slice(0, 7) : last.month;
};

export const listClosedMonths = get(
  '/v1/admin/books/months',
  {
    summary: 'Closed months, with their figures',
    description:
      'A closed month never changes: what comes later is booked in the open one. How it works: ' +
      'docs/explanation/closed-months.md.',
    access: 'admin',
    reply: { status: 200, schema: booksResponse },
  },
  async (_request, { books, logId }) => {
    const view = await books.view();
    return {
      log_id: logId(),
      open_from: view.opensAt,
      next_month: nextMonthOf(view),
      items: view.months.toReversed().map(monthAnswer),
      reopened: view.reopenings.toReversed().map((one) => ({
        month: one.month,
        number: one.closing,
        reason: one.reason,
        reopened_at: one.reopened_at,
        reopened_by: one.reopened_by,
      })),
    };
  },
);

const WHY_NOT_CLOSED: Readonly<Record<MonthNotClosable['why'], (next: string) => string>> = {
  not_over: () => 'The month is not over yet (UTC).',
  not_next: (next) => `Months are closed in order: ${next} comes next.`,
  before_first: () => 'The books were closed for the first time in a later month, which closed this one too.',
  superseded: () => 'The month was opened again while it was closed.',
};

const WHY_NOT_REOPENED: Readonly<Record<MonthNotReopenable['why'], string>> = {
  not_closed: 'The month is not closed.',
  not_last: 'Only the month that was closed last can be opened again.',
};

const NOT_CLOSED = {
  month_not_closable: ({ why, next_month }: MonthNotClosable) =>
    problem('month_not_closable', WHY_NOT_CLOSED[why](next_month ?? ''), { why, next_month }),
  month_not_reopenable: neverRejected,
} satisfies Sentences<MonthNotClosable | MonthNotReopenable>;

const NOT_REOPENED = {
  month_not_closable: neverRejected,
  month_not_reopenable: ({ why, last_month }: MonthNotReopenable) =>
    problem('month_not_reopenable', WHY_NOT_REOPENED[why], { why, last_month }),
} satisfies Sentences<MonthNotClosable | MonthNotReopenable>;

export const closeMonth = post(
  '/v1/admin/books/months/{month}/close',
  {
    summary: 'Close a month',
    description:
      'Months that are over (UTC) are closed in order. What comes afterwards is booked in the open month, whatever ' +
      'its time. A repeat answers the same. `busy`: the line is drawn and the figures are not known yet; send the ' +
      'request again.',
    access: 'admin',
    params: monthParams,
    reply: { status: 200, schema: closedMonth },
    problems: ['month_not_closable', 'busy'],
  },
  async ({ params: { month }, meta, doneOr }, { books, reads }) => {
    const outcome = await books.close(month, meta);
    if (outcome.kind === 'behind')
      throw retryLater(
        'busy',
        'The line is drawn, and the figures are not known yet. Send the request again.',
      );
    reads.note(ALL_TENANTS, doneOr(outcome, NOT_CLOSED).position);
    const closed = (await books.view()).months.find((one) => one.month === month);
    if (closed === undefined) throw NOT_CLOSED.month_not_closable({ ...SUPERSEDED, next_month: month });
    return monthAnswer(closed);
  },
);

const SUPERSEDED = { code: 'month_not_closable', why: 'superseded' } as const;

export const reopenMonth = post(
  '/v1/admin/books/months/{month}/reopen',
  {
    summary: 'Open the month that was closed last again',
    description:
      'What was booked since it was closed stays where it is. Its figures are made anew when it is closed.',
    access: 'admin',
    params: monthParams,
    body: z
      .strictObject({
        reason: plainText(1, 500).meta({
          description: 'Stays in the log for ever: put no names of people into it.',
        }),
      })
      .meta({ id: 'ReopenMonthRequest' }),
    reply: { status: 200, schema: reopenedMonth },
    problems: ['month_not_reopenable', 'busy'],
  },
  async ({ params: { month }, body: { reason }, meta, doneOr }, { books, reads }) => {
    const { events, position } = doneOr(await books.reopen({ month, reason }, meta), NOT_REOPENED);
    reads.note(ALL_TENANTS, position);
    const [event] = events;
    if (event?.type !== 'MonthReopened') throw new Error('a month was opened again without an event');
    const { closing: number, reopened_at, reopened_by } = event.data;
    return { month, number, reason, reopened_at, reopened_by };
  },
);

const reconciliationRow = z
  .strictObject({
    tenant_id: z.string(),
    grants_credits: creditsOut,
    adjustments_credits: creditsOut,
    burns_credits: creditsOut,
    expected_balance_credits: creditsOut,
    balance_credits: creditsOut,
    drift_credits: creditsOut,
  })
  .meta({ id: 'ReconciliationRow' });

const reconciliationResponse = z
  .strictObject({
    checked_at: instantOut,
    log_id: logIdOut,
    position: z.string().nullable().meta({ description: 'Position in the event log of these figures.' }),
    tenants_checked: z.int(),
    drifted: z.array(reconciliationRow),
    ok: z.array(reconciliationRow).optional(),
  })
  .meta({ id: 'ReconciliationResponse' });

const ATTEMPTS = 20;
const RETRY_MS = 50;

/** A read model that is being replaced is at another position for a moment; a stopped one stays there. */
const compared = async ({ queries }: BooksDeps, includeOk: boolean): Promise<Reconciliation> => {
  for (let attempt = 1; ; attempt += 1) {
    const found = await queries.reconciliation(includeOk);
    if ('rows' in found) return found;
    if (attempt === ATTEMPTS)
      throw retryLater(
        'not_ready',
        `The read model ${found.behind} (${found.state}) is behind the others. See /health and ` +
          `\`quire projections status\`.`,
      );
    await pause(RETRY_MS);
  }
};

export const getReconciliation = get(
  '/v1/admin/reconciliation',
  {
    summary: 'Compare grants, ledger and balances of every tenant',
    description:
      'Anything in `drifted` is an alert. `drift_credits` is the excess of the balance or, if the balance is right, ' +
      'of the ledger.',
    access: 'admin',
    query: z.object({ include_ok: booleanText.default(false) }),
    reply: { status: 200, schema: reconciliationResponse },
    problems: ['not_ready'],
    reads: 'all',
  },
  async (request, deps) => {
    const { include_ok } = request.query;
    const { position, tenants_checked, rows } = await compared(deps, include_ok);
    return {
      checked_at: request.meta.now,
      log_id: deps.logId(),
      position: position === null ? null : String(position),
      tenants_checked,
      drifted: rows.filter(({ drift_credits }) => drift_credits !== 0),
      ...(include_ok && { ok: rows.filter(({ drift_credits }) => drift_credits === 0) }),
    };
  },
);
