import { z } from 'zod';
import { calendarMonth, monthBounds } from '../../../domain/books.ts';
import { decimalOf } from '../../../domain/kernel/amounts.ts';
import { type JournalSettings, linesOf, type Moved, pairsOf } from '../../../domain/journal.ts';
import { entryPages, type JournalEntry } from '../../../projections/journal.ts';
import { DEFERRED_BY } from '../../../projections/recognition.ts';
import { JOURNAL_LAYOUTS, type JournalLayout, laidOut, layoutFile } from '../../exports/journalLayouts.ts';
import type { Queries } from '../../queries/queries.ts';
import { CSV_PAGE_ROWS, CSV_TYPE, inTurn } from '../../server/csv.ts';
import type { RawBody } from '../../server/routes.ts';
import { routesOver } from '../../server/routes.ts';
import { creditsOut, logIdOut, pageFacts, pageMembers, pagingQuery } from '../schemas/basics.ts';

/** What these routes need. */
export interface JournalDeps {
  readonly queries: Pick<Queries, 'deferredRevenue' | 'deferredTotals' | 'journalEntries' | 'journalSums'>;
  readonly journal: JournalSettings;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<JournalDeps>();

/** Micro-USD as decimal text with 6 decimals. */
const usd = (micro: bigint): string => decimalOf(micro, 6);

const usdOut = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'US dollars as decimal text with 6 decimals.' });

const deferredSums = {
  credits_left: creditsOut.meta({ description: 'Credits that are neither used nor taken back.' }),
  paid_usd: usdOut.meta({
    description: 'What remains paid, without VAT and fees, less refunds, at the booked rates.',
  }),
  recognised_usd: usdOut.meta({ description: 'The part of it that is recognised, by use and at once.' }),
  deferred_usd: usdOut.meta({ description: 'The rest.' }),
};

const deferredItem = z
  .strictObject({
    tenant_id: z.string().nullable(),
    currency: z.string().nullable().meta({ description: 'Of the sales; null for given credits.' }),
    lot_id: z.string().nullable().meta({ description: 'The `grant_id` of the sale, or the adjustment.' }),
    kind: z
      .enum(['sold', 'given'])
      .meta({ description: 'Given credits carry no value and have a row of their own.' }),
    lots: z.int().meta({ description: 'Sales or adjustments that the row adds up.' }),
    ...deferredSums,
  })
  .meta({ id: 'DeferredRevenueItem' });

const deferredReport = z
  .strictObject({
    log_id: logIdOut,
    on: z.iso.date(),
    by: z.enum(DEFERRED_BY).meta({ description: 'One row for each of these.' }),
    items: z.array(deferredItem),
    totals: z.strictObject(deferredSums).nullable().meta({
      description: 'Sums of all lots, not of the page; null on pages with a cursor.',
    }),
    ...pageMembers,
  })
  .meta({ id: 'DeferredRevenueReport' });

interface LotSums {
  readonly credits: bigint;
  readonly paid: bigint;
  readonly deferred: bigint;
}

const sumsAnswer = ({ credits, paid, deferred }: LotSums) => ({
  credits_left: Number(credits),
  paid_usd: usd(paid),
  recognised_usd: usd(paid - deferred),
  deferred_usd: usd(deferred),
});

const orNull = (text: string): string | null => (text === '' ? null : text);

export const getDeferredRevenue = get(
  '/v1/admin/deferred-revenue',
  {
    summary: 'Recognised and deferred revenue on a day, by tenant, currency or lot',
    description:
      'A lot is a sale, or credits that somebody gave. Everything counts that is booked on the UTC day `on` (left ' +
      'out: today) or earlier, so a day of a closed month never changes, and the sum on its last day is the ' +
      '`deferred_revenue_usd` of its margin report.',
    access: 'admin',
    query: z.object({
      on: z.iso.date().optional(),
      by: z
        .enum(DEFERRED_BY)
        .default('tenant')
        .meta({ description: 'One row for each tenant, currency or lot.' }),
      ...pagingQuery,
    }),
    reply: { status: 200, schema: deferredReport },
    reads: 'all',
  },
  async ({ query, meta }, { queries, logId }) => {
    const { by, on = meta.now.slice(0, 10) } = query;
    const found = await queries.deferredRevenue({ ...query, on });
    const totals = query.cursor === undefined ? sumsAnswer(await queries.deferredTotals(on)) : null;
    return {
      log_id: logId(),
      on,
      by,
      items: found.items.map(({ tenant_id, currency, lot_id, kind, lots, ...sums }) => ({
        tenant_id: orNull(tenant_id),
        currency: orNull(currency),
        lot_id: orNull(lot_id),
        kind: kind === 'given' ? ('given' as const) : ('sold' as const),
        lots: Number(lots),
        ...sumsAnswer(sums),
      })),
      totals,
      ...pageFacts(query, found),
    };
  },
);

const accountMembers = {
  account: z.string().meta({ description: 'Number of the account.' }),
  account_name: z.string().meta({ description: 'Name of the account.' }),
  debit_usd: usdOut,
  credit_usd: usdOut,
};

const journalLine = z
  .strictObject({
    booked_on: z.iso.date().meta({ description: 'UTC day of booking.' }),
    tenant_id: z.string(),
    kind: z.string().meta({
      description:
        'Text key of the entry: `sale`, `sale_details`, `rate`, `rate_correction`, `refund`, `reversal`, ' +
        '`dispute`, `adjustment`, `transfer` or `use`.',
    }),
    stream: z.string().meta({ description: 'Of the event.' }),
    position: z
      .string()
      .meta({ description: 'Of the event in the log; of the last one, for the use of a day.' }),
    reference: z.string().nullable().meta({ description: 'The transaction at the payment provider.' }),
    ...accountMembers,
  })
  .meta({ id: 'JournalLine', description: 'One side of an entry; the other amount is 0.' });

const accountBalance = z
  .strictObject(accountMembers)
  .meta({ id: 'JournalAccount', description: 'What an account comes to in the month, on one of its sides.' });

const journalReport = z
  .strictObject({
    log_id: logIdOut,
    month: calendarMonth.meta({ description: 'A calendar month (UTC).' }),
    items: z.array(journalLine),
    accounts: z.array(accountBalance).nullable().meta({
      description: 'Balances of all entries, not of the page; null on pages with a cursor.',
    }),
    ...pageMembers,
  })
  .meta({ id: 'Journal' });

const linesIn = (settings: JournalSettings, moved: Moved) => linesOf(pairsOf(settings, moved));

const lineAnswers = (settings: JournalSettings, entry: JournalEntry) =>
  linesIn(settings, entry).map(({ code, name, debit, credit }) => ({
    booked_on: entry.day,
    tenant_id: entry.tenant_id,
    kind: entry.kind,
    stream: entry.stream,
    position: String(entry.position),
    reference: entry.provider_txn_id,
    account: code,
    account_name: name,
    debit_usd: usd(debit),
    credit_usd: usd(credit),
  }));

/** What the accounts come to: the lines of sums are the sums of lines. */
const accountAnswers = (settings: JournalSettings, sums: readonly Moved[]) =>
  linesOf(sums.flatMap((moved) => pairsOf(settings, moved)))
    .toSorted((a, b) => (a.code < b.code ? -1 : 1))
    .map(({ code, name, debit, credit }) => ({
      account: code,
      account_name: name,
      debit_usd: usd(debit),
      credit_usd: usd(credit),
    }));

interface LaidOut {
  readonly layout: JournalLayout;
  readonly month: string;
  readonly signal: AbortSignal;
}

const daysOf = (month: string) => {
  const { from, to } = monthBounds(month);
  return { from: from.slice(0, 10), to: to.slice(0, 10) };
};

/** The whole month in the layout of another program, read page by page while the caller reads. */
async function* laidOutPieces(
  { queries, journal }: JournalDeps,
  { layout, month, signal }: LaidOut,
): AsyncGenerator<string> {
  const { start, textOf } = laidOut(layout, { month, settings: journal });
  yield start;
  const ask: Queries['journalEntries'] = (asked) => inTurn(() => queries.journalEntries(asked));
  for await (const entries of entryPages(ask, { ...daysOf(month), limit: CSV_PAGE_ROWS })) {
    if (signal.aborted) return;
    yield entries.map(textOf).join('');
  }
}

const fileOf = (deps: JournalDeps, asked: LaidOut): RawBody => ({
  contentType: CSV_TYPE,
  body: laidOutPieces(deps, asked),
});

export const getJournal = get(
  '/v1/admin/journal',
  {
    summary: 'The journal of a month: double entry, by day of booking',
    description:
      'Sales, refunds, reversals, later facts and corrected rates have an entry for each event; what use recognised ' +
      'has one by day and tenant. Each entry sums to zero, exactly: amounts are US dollars with 6 decimals. Credits ' +
      'that somebody gives carry no value and have no entry. `limit` and `total` count entries, of two lines or ' +
      'more. Accounts are those of `JOURNAL`. `layout` other than `generic` answers with the whole month as a file ' +
      'for another program, in cents.',
    access: 'admin',
    query: z.object({
      month: calendarMonth.meta({ description: 'A calendar month (UTC): `2026-11`.' }),
      layout: z
        .enum(['generic', ...JOURNAL_LAYOUTS])
        .default('generic')
        .meta({ description: 'The program that the file is for; `generic`: JSON or CSV as every list.' }),
      ...pagingQuery,
    }),
    reply: { status: 200, schema: journalReport },
    reads: 'all',
  },
  async ({ query, signal, answer }, deps) => {
    const { month, layout } = query;
    if (layout !== 'generic') {
      answer.header('Content-Disposition', `attachment; filename="${layoutFile(layout, month)}"`);
      return fileOf(deps, { layout, month, signal });
    }
    const { queries, journal, logId } = deps;
    const found = await queries.journalEntries({ ...query, ...daysOf(month) });
    const sums = query.cursor === undefined ? await queries.journalSums(daysOf(month)) : null;
    return {
      log_id: logId(),
      month,
      items: found.items.flatMap((entry) => lineAnswers(journal, entry)),
      accounts: sums === null ? null : accountAnswers(journal, sums),
      ...pageFacts(query, found),
    };
  },
);
