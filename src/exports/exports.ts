import { monthAfter, monthBounds, type Opening } from '../../domain/books.ts';
import { decimalOf } from '../../domain/kernel/amounts.ts';
import { type JournalSettings, linesOf, pairsOf } from '../../domain/journal.ts';
import type { SqlRow, SqlTx, SqlValue } from '../../projections/engine/ports.ts';
import { pick, rowReader, textOf as textIn } from '../../projections/engine/table.ts';
import { entryPages, journalEntries } from '../../projections/journal.ts';
import { paymentLines } from '../../projections/paymentLines.ts';
import { statementOfTenant } from '../../projections/statements.ts';
import { marginUses } from '../../projections/recognition.ts';

/** `whole`: a whole number as text. `usd`: US dollars as text with 6 decimals. All else is text. */
type ColumnType = 'text' | 'whole' | 'usd';

/** A column, and whether its sum stands in the manifest. */
export interface ExportColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly isSummed: boolean;
}

/** One cell; null: nothing. */
export type ExportCell = string | null;
export type ExportRow = readonly ExportCell[];

interface Asked {
  readonly month: string;
  readonly settings: JournalSettings;
  /** Where the books open along the log. */
  readonly openings: readonly Opening[];
}

/** What can be exported of a month. */
export interface MonthExport {
  /** Name and version of a format of others; null: ours. */
  readonly format: string | null;
  readonly columns: readonly ExportColumn[];
  /** Rows by date of booking, page by page; those of a closed month are the same for ever. */
  readonly pages: (sql: SqlTx, asked: Asked) => AsyncIterable<readonly ExportRow[]>;
}

const PAGE_ROWS = 1_000;

const column = (name: string, type: ColumnType = 'text', isSummed = false): ExportColumn => ({
  name,
  type,
  isSummed,
});
const sum = (name: string, type: 'whole' | 'usd'): ExportColumn => column(name, type, true);

/** Micro-USD as text. */
const usd = (micro: bigint): string => decimalOf(micro, 6);

interface Walked {
  /** From `select` to the conditions; `$1` and `$2` bound the month. */
  readonly chosen: string;
  /** Columns of an index that tell each row from all others, with their types. */
  readonly key: Readonly<Record<string, 'text' | 'int8' | 'int4'>>;
}

/** All rows of a statement, page by page in the order of an index. */
async function* walk(
  sql: SqlTx,
  { chosen, key }: Walked,
  bounds: readonly [string, string],
): AsyncGenerator<readonly SqlRow[]> {
  const names = Object.keys(key);
  const behind = names.map((name, at) => `$${String(at + 3)}::${key[name] ?? ''}`).join(', ');
  let after: readonly SqlValue[] | undefined;
  do {
    const where = after === undefined ? '' : `and (${names.join(', ')}) > (${behind})`;
    const rows: readonly SqlRow[] = await sql.query(
      `${chosen} ${where} order by ${names.join(', ')} limit ${String(PAGE_ROWS)}`,
      [...bounds, ...(after ?? [])],
    );
    yield rows;
    const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    after = last && names.map((name) => last[name] as SqlValue);
  } while (after !== undefined);
}

const daysOf = (month: string): readonly [string, string] => {
  const { from, to } = monthBounds(month);
  return [from.slice(0, 10), to.slice(0, 10)];
};

const JOURNAL_COLUMNS = [
  column('booked_on'),
  column('tenant_id'),
  column('kind'),
  column('stream'),
  column('position', 'whole'),
  column('reference'),
  column('account'),
  column('account_name'),
  sum('debit_usd', 'usd'),
  sum('credit_usd', 'usd'),
];

async function* journalPages(sql: SqlTx, { month, settings }: Asked): AsyncGenerator<readonly ExportRow[]> {
  const [from, to] = daysOf(month);
  for await (const entries of entryPages(journalEntries(sql), { from, to, limit: PAGE_ROWS }))
    yield entries.flatMap((entry) =>
      linesOf(pairsOf(settings, entry)).map(({ code, name, debit, credit }) => [
        entry.day,
        entry.tenant_id,
        entry.kind,
        entry.stream,
        String(entry.position),
        entry.provider_txn_id,
        code,
        name,
        usd(debit),
        usd(credit),
      ]),
    );
}

/** Members of a payment that later facts of it never change once its month is closed. */
const PAYMENT_TEXTS = [
  'booked_at',
  'created_at',
  'occurred_at',
  'tenant_id',
  'kind',
  'grant_id',
  'sale_id',
] as const;
const PAYMENT_FACTS = [
  'provider',
  'provider_txn_id',
  'currency',
  'tax_rate',
  'tax_country',
  'fx_rate_to_usd',
] as const;
const PAYMENT_SUMS = [
  'credits',
  'gross_amount_minor',
  'vat_amount_minor',
  'provider_fee_minor',
  'net_amount_minor',
] as const;

const PAYMENT_COLUMNS = [
  ...[...PAYMENT_TEXTS, ...PAYMENT_FACTS].map((name) => column(name)),
  ...PAYMENT_SUMS.map((name) => sum(name, 'whole')),
  column('position', 'whole'),
];

const readPayment = rowReader(
  pick(paymentLines.columns, ...PAYMENT_TEXTS, ...PAYMENT_FACTS, ...PAYMENT_SUMS, 'position'),
);

const textOf = (value: string | number | bigint | null): ExportCell =>
  value === null ? null : String(value);

async function* paymentPages(sql: SqlTx, { month }: Asked): AsyncGenerator<readonly ExportRow[]> {
  const { from, to } = monthBounds(month);
  const walked: Walked = {
    chosen: 'select * from read.payment_lines where booked_at between $1 and $2',
    key: { booked_at: 'text', position: 'int8', line: 'int4' },
  };
  for await (const rows of walk(sql, walked, [from, to]))
    yield rows
      .map(readPayment)
      .map((row) => PAYMENT_COLUMNS.map(({ name }) => textOf(row[name as keyof typeof row])));
}

type Use = ReturnType<typeof readUse>;
const readUse = rowReader(marginUses.columns);

/** The version of the specification whose columns these are. */
const FOCUS_VERSION = '1.2';
const LIST_PRICE_USD = '0.001';

const startOf = (day: string): string => `${day}T00:00:00Z`;
const endOf = (day: string): string =>
  startOf(new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10));

/**
 * Columns of FOCUS, and what each says of the use of a day. What was billed is 0, for credits are bought before they
 * are used; list and contracted cost are the credits at list price; effective cost is the revenue that was recognised.
 */
const FOCUS: readonly (readonly [ExportColumn, (use: Use, month: string) => ExportCell])[] = [
  [sum('BilledCost', 'usd'), () => usd(0n)],
  [column('BillingAccountId'), ({ tenant_id }) => tenant_id],
  [column('BillingAccountName'), ({ tenant_id }) => tenant_id],
  [column('BillingAccountType'), () => 'Tenant'],
  [column('BillingCurrency'), () => 'USD'],
  [column('BillingPeriodEnd'), (_, month) => startOf(monthAfter(month).slice(0, 10))],
  [column('BillingPeriodStart'), (_, month) => startOf(`${month}-01`)],
  [column('ChargeCategory'), () => 'Usage'],
  [column('ChargeClass'), () => null],
  [column('ChargeDescription'), ({ operation, billing_type }) => `${operation}, ${billing_type}`],
  [column('ChargeFrequency'), () => 'Usage-Based'],
  [column('ChargePeriodEnd'), ({ day }) => endOf(day)],
  [column('ChargePeriodStart'), ({ day }) => startOf(day)],
  [sum('ConsumedQuantity', 'whole'), ({ pages }) => String(pages)],
  [column('ConsumedUnit'), () => 'Pages'],
  [sum('ContractedCost', 'usd'), ({ credits }) => listCost(credits)],
  [column('ContractedUnitPrice'), () => LIST_PRICE_USD],
  [sum('EffectiveCost', 'usd'), ({ net, fee }) => usd(net + fee)],
  [column('InvoiceIssuerName'), () => 'Quire'],
  [sum('ListCost', 'usd'), ({ credits }) => listCost(credits)],
  [column('ListUnitPrice'), () => LIST_PRICE_USD],
  [column('PricingCategory'), () => 'Standard'],
  [column('PricingCurrency'), () => 'Credits'],
  [sum('PricingQuantity', 'whole'), ({ credits }) => String(credits)],
  [column('PricingUnit'), () => 'Credits'],
  [column('ProviderName'), () => 'Quire'],
  [column('PublisherName'), () => 'Quire'],
  [column('ResourceId'), ({ api_key_id }) => (api_key_id === '' ? null : api_key_id)],
  [column('ResourceType'), ({ api_key_id }) => (api_key_id === '' ? null : 'API key')],
  [column('ServiceCategory'), () => 'AI and Machine Learning'],
  [column('ServiceName'), () => 'Quire'],
  [column('ServiceSubcategory'), () => 'Other (AI and Machine Learning)'],
  [column('SkuId'), ({ operation }) => operation],
  [column('SkuPriceId'), ({ operation, billing_type }) => `${operation}/${billing_type}`],
  [column('SubAccountId'), ({ project_id }) => project_id],
  [column('SubAccountName'), ({ project_id }) => project_id],
  [column('SubAccountType'), () => 'Project'],
  [column('Tags'), ({ operation, billing_type, tags }) => focusTags({ operation, billing_type }, tags)],
  [column('x_FocusVersion'), () => FOCUS_VERSION],
  [sum('x_Operations', 'whole'), ({ operations }) => String(operations)],
  [column('x_Position', 'whole'), ({ last_position }) => String(last_position)],
];

/** Ours, then the customer's, which win by name: what ours say stands in other columns too. */
const focusTags = (ours: Readonly<Record<string, string>>, tags: string): string =>
  JSON.stringify({ ...ours, ...(JSON.parse(tags) as object) });

const listCost = (credits: number): string => usd(BigInt(credits) * 1_000n);

async function* focusPages(sql: SqlTx, { month }: Asked): AsyncGenerator<readonly ExportRow[]> {
  const walked: Walked = {
    chosen: 'select * from read.margin_uses where day between $1 and $2',
    key: {
      day: 'text',
      tenant_id: 'text',
      project_id: 'text',
      api_key_id: 'text',
      operation: 'text',
      billing_type: 'text',
      tags_key: 'text',
    },
  };
  for await (const rows of walk(sql, walked, daysOf(month)))
    yield rows.map(readUse).map((use) => FOCUS.map(([, cell]) => cell(use, month)));
}

const STATEMENT_COLUMNS = [
  column('tenant_id'),
  column('kind'),
  column('booked_at'),
  column('id'),
  column('project_id'),
  column('api_key_id'),
  column('currency'),
  sum('opening_credits', 'whole'),
  sum('credits', 'whole'),
  sum('closing_credits', 'whole'),
  sum('pages', 'whole'),
  sum('gross_amount_minor', 'whole'),
  column('tags'),
];

/** A tenant's statement: its balances, then what moved them. Nothing where nothing was ever posted. */
const statementRows = (
  tenant_id: string,
  { opening_balance_credits: opening, position, lines }: Statement,
): readonly ExportRow[] => {
  if (position === null) return [];
  const moved = lines.reduce((total, { credits }) => total + credits, 0);
  const closing = String(opening + moved);
  return [
    [tenant_id, 'balance', null, null, null, null, null, String(opening), null, closing, null, null, null],
    ...lines.map((line) => [
      tenant_id,
      line.kind,
      line.booked_at,
      line.id,
      line.project_id,
      line.api_key_id,
      line.currency,
      null,
      String(line.credits),
      null,
      String(line.pages),
      textOf(line.gross_amount_minor),
      line.tags === undefined ? null : JSON.stringify(line.tags),
    ]),
  ];
};

type Statement = Awaited<ReturnType<ReturnType<typeof statementOfTenant>>>;

async function* statementPages(sql: SqlTx, { month, openings }: Asked): AsyncGenerator<readonly ExportRow[]> {
  const bounds = monthBounds(month);
  const tenants: Walked = {
    chosen: 'select tenant_id from read.balances where created_at between $1 and $2',
    key: { tenant_id: 'text' },
  };
  for await (const rows of walk(sql, tenants, ['', bounds.to]))
    for (const row of rows) {
      const tenant_id = textIn(row, 'tenant_id');
      yield statementRows(tenant_id, await statementOfTenant(sql)({ tenant_id, ...bounds, openings }));
    }
}

/** By name; one more is one entry here. */
export const EXPORTS = {
  journal: { format: null, columns: JOURNAL_COLUMNS, pages: journalPages },
  payments: { format: null, columns: PAYMENT_COLUMNS, pages: paymentPages },
  statements: { format: null, columns: STATEMENT_COLUMNS, pages: statementPages },
  focus: {
    format: `FOCUS ${FOCUS_VERSION}`,
    columns: FOCUS.map(([one]) => one),
    pages: focusPages,
  },
} as const satisfies Readonly<Record<string, MonthExport>>;

export type ExportName = keyof typeof EXPORTS;
export const EXPORT_NAMES = Object.keys(EXPORTS) as readonly ExportName[];
