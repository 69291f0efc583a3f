import { z } from 'zod';
import { calendarMonth, monthAfter, monthBounds } from '../../../domain/books.ts';
import type { Paper } from '../../../domain/ports/services.ts';
import {
  isDocumented,
  type Statement,
  STATEMENT_KINDS,
  statementNumber,
  statementOf,
  type StatementRow,
} from '../../../domain/statement.ts';
import { grantsProjector } from '../../../projections/grants.ts';
import { ledgerProjector } from '../../../projections/ledger.ts';
import type { BooksCommands, BooksView } from '../../commands/money/books.ts';
import { type LogToRead, openingsIn } from '../../queries/log.ts';
import type { Queries } from '../../queries/queries.ts';
import { inTurns } from '../../server/csv.ts';
import { invalid, retryLater } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import {
  addresseeOf,
  type BillingDetailsDeps,
  type Customer,
  customerAt,
  customerOut,
  grouped,
  moneyText,
  PDF_TYPE,
  pdfAnswer,
  prefersPdf,
  sellerOut,
  timeText,
} from './billingDetails.ts';
import {
  creditsOut,
  instantOut,
  logIdOut,
  minorOut,
  tenantIdText,
  tenantNotFound,
  tenantParams,
  tagsOut,
} from '../schemas/basics.ts';

/** What these routes need. */
export interface StatementsDeps extends BillingDetailsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'statementOfTenant'>;
  readonly books: Pick<BooksCommands, 'view'>;
  readonly log: Pick<LogToRead, 'read' | 'vault'>;
  /** Whether the read models named have a position. */
  readonly waitFor: (
    position: bigint,
    options: { readonly timeoutMs: number; readonly projectors: readonly string[] },
  ) => Promise<boolean>;
  /** Which log the figures are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<StatementsDeps>();

const monthText = calendarMonth.meta({ description: 'A calendar month (UTC): `2026-11`.' });
const statusOut = z.enum(['closed', 'open']).meta({
  description:
    '`closed`: it never changes. `open`: its month is not closed, and what is booked in it is added.',
});
const numberOut = z.string().nullable().meta({
  description: 'Number of the statement; null while its month is open.',
});

const statementRow = z
  .strictObject({
    tenant_id: z.string(),
    month: monthText,
    statement: numberOut,
    kind: z.enum(STATEMENT_KINDS),
    booked_at: instantOut.nullable().meta({
      description:
        'Date of booking: in a closed month nothing is booked any more. null: a balance, or a sum.',
    }),
    id: z.string().nullable().meta({ description: 'ID of a sale, a refund, a reversal or an adjustment.' }),
    document: z
      .string()
      .nullable()
      .meta({ description: 'Number of its receipt, credit note or debit note.' }),
    project_id: z.string().nullable(),
    api_key_id: z.string().nullable(),
    tags: tagsOut.optional().meta({ description: 'Tags of the use; left out if it has none.' }),
    count: z.int().meta({ description: 'Movements or operations that the row sums up; 0 for a balance.' }),
    pages: z.int(),
    credits: creditsOut.meta({ description: 'Whole credits by which the balance changed.' }),
    currency: z.string().nullable(),
    gross_amount_minor: minorOut.nullable().meta({
      description: 'Money that was taken (+) or given back (−), with VAT; null: none, or not known.',
    }),
    balance_credits: creditsOut.meta({ description: 'Balance after the row.' }),
  })
  .meta({ id: 'StatementRow' });

const statementResponse = z
  .strictObject({
    log_id: logIdOut,
    tenant_id: z.string(),
    month: monthText,
    status: statusOut,
    number: numberOut,
    closing: z.int().nullable().meta({ description: 'Number of the closing that closed the month.' }),
    customer: customerOut,
    seller: sellerOut,
    opening_balance_credits: creditsOut,
    purchased_credits: creditsOut.meta({ description: 'Of sales, bonus credits among them.' }),
    refunded_credits: creditsOut.meta({ description: 'Of refunds, less those that were reversed.' }),
    transferred_credits: creditsOut.meta({ description: 'From other tenants (+) and to them (−).' }),
    adjusted_credits: creditsOut.meta({ description: 'Gifts (+) and credits that were clawed back (−).' }),
    used_credits: creditsOut,
    closing_balance_credits: creditsOut.meta({
      description:
        'Opening + purchased − refunded + transferred + adjusted − used: the opening balance of the next month.',
    }),
    items: z.array(statementRow).meta({
      description:
        'From the opening balance to the closing one: movements in the order of the log, then use by project, key ' +
        'and tags, the most first. Beyond 1,000 of each the rest is one row.',
    }),
    position: z.string().nullable().meta({
      description:
        'Position in the log up to which it counts: of the line under the month, once that is closed.',
    }),
    digest: z.string().meta({
      description:
        'SHA-256 of number, tenant_id, month, position, the seven totals and items as canonical JSON (RFC 8785).',
    }),
  })
  .meta({ id: 'StatementResponse' });

const monthItem = z
  .strictObject({ month: monthText, status: statusOut, number: numberOut })
  .meta({ id: 'StatementMonth' });

const monthsResponse = z
  .strictObject({
    tenant_id: z.string(),
    items: z.array(monthItem).meta({ description: 'From the tenant’s first month until now, newest first.' }),
  })
  .meta({ id: 'StatementMonthsResponse' });

/** The closing that closed a month: its own, or the first one, which closes what came before it too. */
const closingOf = ({ months }: BooksView, month: string) => {
  const closed = months.find((one) => one.month >= month);
  return closed?.closed == null ? undefined : closed;
};

const monthFacts = (view: BooksView, tenant_id: string, month: string) => {
  const closing = closingOf(view, month)?.closing ?? null;
  const status: z.output<typeof statusOut> = closing === null ? 'open' : 'closed';
  return { month, status, number: statementNumber({ tenant_id, month, closing }) };
};

export const listStatements = get(
  '/v1/billing/statements/{tenant_id}',
  {
    summary: 'The months that a tenant has a statement of',
    description: 'From the month of its first event until the present one, newest first.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: monthsResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, meta }, { queries, books }) => {
    const tenant = await queries.balanceOfTenant(tenant_id);
    if (tenant === undefined) throw tenantNotFound();
    const view = await books.view();
    const [first, last] = [tenant.created_at.slice(0, 7), meta.now.slice(0, 7)];
    const items = [monthFacts(view, tenant_id, first)];
    for (let month = monthAfter(first).slice(0, 7); month <= last; month = monthAfter(month).slice(0, 7))
      items.push(monthFacts(view, tenant_id, month));
    return { tenant_id, items: items.reverse() };
  },
);

/** A month of 100,000 postings takes the database half a second. */
const inTurn = inTurns();

const BEHIND = 'The read models do not have the whole month yet. Send the request again in a moment.';
const HAVE_IT = { timeoutMs: 1_000, projectors: [ledgerProjector.name, grantsProjector.name] };

/** A tenant's month as it is booked; closed, it is the same for ever. */
const statementIn = async (
  { books, log, queries, waitFor }: StatementsDeps,
  tenant_id: string,
  month: string,
): Promise<Statement> => {
  const closing = closingOf(await books.view(), month);
  if (closing !== undefined && !(await waitFor(closing.position, HAVE_IT)))
    throw retryLater('not_ready', BEHIND);
  const openings = await openingsIn(log);
  const found = await inTurn(() => queries.statementOfTenant({ tenant_id, ...monthBounds(month), openings }));
  if (found.lines.some(({ kind, id, document }) => isDocumented(kind) && id !== null && document === null))
    throw retryLater('not_ready', BEHIND);
  const position = closing === undefined ? found.position : String(closing.position);
  return statementOf({ ...found, tenant_id, month, position, closing: closing?.closing ?? null });
};

const ROW_TITLES: Readonly<Record<StatementRow['kind'], string>> = {
  opening_balance: 'Opening balance',
  sale: 'Purchase',
  refund: 'Refund',
  reversal: 'Refund reversed',
  transfer_out: 'Sent to a tenant',
  transfer_in: 'Got from a tenant',
  admin_adjustment: 'Adjustment',
  usage: 'Usage',
  closing_balance: 'Closing balance',
};

const detailOf = ({ kind, document, project_id, api_key_id, tags = {}, count, id }: StatementRow): string => {
  if (kind === 'usage') {
    const of = project_id === null ? 'other projects and keys' : `project ${project_id}`;
    const by = api_key_id === null ? '' : `, key ${api_key_id}`;
    const named = Object.entries(tags).map(([name, value]) => `, ${name} ${value}`);
    return `${of}${by}${named.join('')}: ${grouped(count)} ${count === 1 ? 'operation' : 'operations'}`;
  }
  if (kind === 'opening_balance' || kind === 'closing_balance') return '';
  return document ?? id ?? `${grouped(count)} more`;
};

const paperRow = (row: StatementRow) => ({
  cells: [
    timeText(row.booked_at),
    ROW_TITLES[row.kind],
    detailOf(row),
    row.pages === 0 ? '' : grouped(row.pages),
    moneyText(row.gross_amount_minor, row.currency),
    row.kind.endsWith('balance') ? '' : grouped(row.credits),
    grouped(row.balance_credits),
  ],
  isStrong: row.kind.endsWith('balance'),
});

interface Printed {
  readonly customer: Customer;
  readonly seller: readonly string[];
}

/** A statement as it is printed. */
export const statementPaper = (statement: Statement, { customer, seller }: Printed): Paper => {
  const { tenant_id, month, position, digest } = statement;
  const { from, to } = monthBounds(month);
  const number = statement.number ?? `${tenant_id}, ${month}: provisional, the month is open`;
  return {
    title: `Statement of credits, ${month}`,
    number,
    to: addresseeOf(tenant_id, customer),
    facts: [
      ['Account', tenant_id],
      ['Period (UTC)', `${from.slice(0, 10)} to ${to.slice(0, 10)}`],
      ['Opening', `${grouped(statement.opening_balance_credits)} credits`],
      ['Purchased', grouped(statement.purchased_credits)],
      ['Refunded', grouped(statement.refunded_credits)],
      ...(statement.transferred_credits === 0
        ? []
        : [['Transferred', grouped(statement.transferred_credits)] as const]),
      ['Adjusted', grouped(statement.adjusted_credits)],
      ['Used', grouped(statement.used_credits)],
      ['Closing', `${grouped(statement.closing_balance_credits)} credits`],
    ],
    columns: [
      { title: 'Booked (UTC)', share: 17 },
      { title: '', share: 17 },
      { title: 'Details', share: 26 },
      { title: 'Pages', share: 7, isAmount: true },
      { title: 'Paid, with VAT', share: 15, isAmount: true },
      { title: 'Credits', share: 10, isAmount: true },
      { title: 'Balance', share: 11, isAmount: true },
    ],
    rows: statement.items.map(paperRow),
    notes: [`Log position ${position ?? 'none'} · SHA-256 of the figures ${digest}`],
    foot: seller,
    dated: to,
  };
};

export const getStatement = get(
  '/v1/billing/statements/{tenant_id}/{month}',
  {
    summary: 'The statement of a tenant and a month',
    description:
      'As JSON, CSV or PDF, by `Accept`. By date of booking: its closing balance is the next month’s opening one, ' +
      'always. Of a closed month the answer is the same each time, byte for byte; a later change of the billing ' +
      'details changes none that had a name. Its texts go with the tenant’s erasure.',
    access: 'any',
    tenant: 'path',
    bucket: 'heavy',
    params: z.object({ tenant_id: tenantIdText, month: monthText }),
    reply: { status: 200, schema: statementResponse, alsoContentTypes: [PDF_TYPE] },
    problems: ['tenant_not_found', 'not_ready'],
    reads: 'tenant',
  },
  async (request, deps) => {
    const { tenant_id, month } = request.params;
    if (month > request.meta.now.slice(0, 7))
      throw invalid({ loc: ['path', 'month'], msg: 'The month has not begun (UTC).', type: 'value_error' });
    if ((await deps.queries.balanceOfTenant(tenant_id)) === undefined) throw tenantNotFound();
    const statement = await statementIn(deps, tenant_id, month);
    const line = statement.closing === null ? null : BigInt(statement.position ?? 0);
    const customer = await customerAt(deps, tenant_id, line);
    const { seller } = deps.papers;
    if (prefersPdf(request)) return pdfAnswer(deps, request, statementPaper(statement, { customer, seller }));
    const { items, ...facts } = statement;
    const status: z.output<typeof statusOut> = statement.closing === null ? 'open' : 'closed';
    return { log_id: deps.logId(), status, customer, seller: [...seller], ...facts, items: [...items] };
  },
);
