import { bigintOrNull, onlyRow, pick, type RowOf, rowReader, tagsOf, wholeOf } from './engine/table.ts';
import type { SqlTx } from './engine/ports.ts';
import { finding, listing } from './engine/query.ts';
import { grants } from './grants.ts';
import type { LedgerKind } from './ledger.ts';
import { paymentLines } from './paymentLines.ts';
import type { Opening } from '../domain/books.ts';
import type { StatementLine } from '../domain/statement.ts';

/** Movements, and projects with keys, that a statement lists one by one; the rest of each are one line more. */
const LINES_MAX = 1_000;

/**
 * Postings of a tenant with their date of booking. Blocks of the ledger that end before the month are not read: the
 * balances at their ends say what they moved. $1: the tenant, $2 and $3: the first and the last instant of the month,
 * $4 and $5: from which positions on the books open at which instants.
 */
const POSTED = `
  openings as (
    select after_position, opens_at collate "C" as opens_at,
      lead(after_position) over (order by after_position) as until_position
    from unnest($4::int8[], $5::text[]) as o(after_position, opens_at)
  ), blocks as (
    select block, min(first_ordinal) as first_ordinal, max(last_ordinal) as last_ordinal,
      min(first_created_at) as first_at, max(last_created_at) as last_at
    from read.ledger_blocks where tenant_id = $1 group by block
  ), ends as (
    select b.*, lag(l.position, 1, -1::int8) over (order by b.block) as position_before, l.position as last_position,
      l.balance_after - lag(l.balance_after, 1, 0::int8) over (order by b.block) as credits,
      greatest(b.last_at collate "C",
        (select max(o.opens_at) from openings o where o.after_position < l.position)) as last_booked
    from blocks b join read.ledger l on l.tenant_id = $1 and l.ordinal = b.last_ordinal
  ), posted as (
    select l.position, l.part, l.id, l.kind, l.pages, l.credits_delta, l.project_id, l.api_key_id, l.tags, l.details,
      greatest(l.created_at collate "C", o.opens_at) as booked_at
    from ends b
    join openings o on o.after_position < b.last_position
      and (o.until_position is null or o.until_position > b.position_before)
    join read.ledger l on l.tenant_id = $1 and l.ordinal between b.first_ordinal and b.last_ordinal
      and l.position > o.after_position and (o.until_position is null or l.position <= o.until_position)
    where b.last_booked >= $2 and b.first_at collate "C" <= $3
  )`;

/** The series that a payment's document is numbered in: a dispute is a refund that somebody else asked for. */
const seriesOf = (row: string): string =>
  `case ${row}.kind when 'dispute' then 'refund' else ${row}.kind end`;

/** Movements of the month in the order of the log, each with the number of its document. */
const MOVED = `
  select m.kind, m.booked_at, m.id, n.document, 1 as count, m.credits_delta as credits,
    m.details ->> 'currency' as currency, m.position,
    case when m.kind = 'refund' then -1 else 1 end * (m.details ->> 'gross_amount_minor')::int8 as gross,
    row_number() over (order by m.position) as nth
  from posted m left join (
    select grant_id, row_number() over (partition by ${seriesOf('g')} order by position) as document
    from read.grants g where tenant_id = $1
  ) n on n.grant_id = m.id
  where m.kind <> 'usage' and m.booked_at between $2 and $3`;

/** Use of the month by project, key and tags, the most first. One with free and paid pages has two postings. */
const USED = `
  select project_id, api_key_id, tags, count(*) filter (where not (part = 0 and id like '%\\_free')) as count,
    sum(pages)::int8 as pages, sum(credits_delta)::int8 as credits,
    row_number() over (order by sum(credits_delta), project_id collate "C", api_key_id collate "C",
      tags::text collate "C" nulls first) as nth
  from posted where kind = 'usage' and booked_at between $2 and $3 group by project_id, api_key_id, tags`;

const STATEMENT = `
  with ${POSTED}, moved as (${MOVED}), used as (${USED}), before as (
    select coalesce((select sum(credits) from ends where last_booked < $2), 0)
      + coalesce((select sum(credits_delta) from posted where booked_at < $2), 0) as credits,
      greatest((select max(last_position) from ends where last_booked < $2),
        (select max(position) from posted where booked_at <= $3)) as position
  )
  select 0 as section, 0 as nth, 'opening' as kind, null::text as booked_at, null::text as id, null::int8 as document,
    null::text as project_id, null::text as api_key_id, 0::int8 as count, 0::int8 as pages, credits::int8 as credits,
    null::text as currency, null::int8 as gross_amount_minor, position, null::jsonb as tags from before
  union all
  select 1, nth, kind, booked_at, id, document, null, null, count, 0, credits, currency, gross, null, null
  from moved where nth <= ${String(LINES_MAX)}
  union all
  select 2, 0, kind, null, null, null, null, null, count(*), 0, sum(credits)::int8, currency, sum(gross)::int8, null,
    null
  from moved where nth > ${String(LINES_MAX)} group by kind, currency
  union all
  select 3, nth, 'usage', null, null, null, project_id, api_key_id, count, pages, credits, null, null, null, tags
  from used where nth <= ${String(LINES_MAX)}
  union all
  select 4, 0, 'usage', null, null, null, null, null, sum(count)::int8, sum(pages)::int8, sum(credits)::int8, null,
    null, null, null from used where nth > ${String(LINES_MAX)} having count(*) > 0
  order by section, nth, kind, currency`;

const readLine = rowReader({
  kind: 'text',
  booked_at: 'text?',
  id: 'text?',
  document: 'int8?',
  project_id: 'text?',
  api_key_id: 'text?',
  count: 'int8',
  pages: 'int8',
  credits: 'int8',
  currency: 'text?',
  gross_amount_minor: 'int8?',
});

interface MonthAsked {
  readonly tenant_id: string;
  /** The first and the last instant of the month. */
  readonly from: string;
  readonly to: string;
  /** Where the books open along the log. */
  readonly openings: readonly Opening[];
}

/** Before the first event of the log. */
const START = -1n;

/**
 * What a month's statement is made of, by date of booking: the balance before it, its movements one by one, and its
 * use by project, key and tags. `position`: of the last posting that counts; null: there is none.
 */
export const statementOfTenant =
  (sql: SqlTx) =>
  async ({ tenant_id, from, to, openings }: MonthAsked) => {
    const places = [START, ...openings.map(({ position }) => position)];
    const times = ['', ...openings.map(({ opensAt }) => opensAt)];
    const [first, ...rest] = await sql.query(STATEMENT, [tenant_id, from, to, places, times]);
    const opening = onlyRow(first === undefined ? [] : [first]);
    return {
      opening_balance_credits: wholeOf(opening, 'credits'),
      position: bigintOrNull(opening, 'position')?.toString() ?? null,
      lines: rest.map((row) => {
        const { kind, ...line } = readLine(row);
        // Each kind of posting has its place in a statement, or this does not compile.
        const moved: StatementLine['kind'] = kind as LedgerKind;
        return { kind: moved, ...line, ...(row['tags'] !== null && { tags: tagsOf(row) }) };
      }),
    };
  };

/** The number of payments of its series and tenant up to a row. */
const ordinalOf = (row: string): string => `
  (select count(*) from read.grants n
   where n.tenant_id = ${row}.tenant_id and ${seriesOf('n')} = ${seriesOf(row)} and n.position <= ${row}.position)`;

const SHOWN = pick(
  grants.columns,
  'tenant_id',
  'position',
  'grant_id',
  'kind',
  'credits',
  'bonus_credits',
  'original_grant_id',
  'refund_id',
  'currency',
  'gross_amount_minor',
  'discount_minor',
  'discount_code',
  'price_list_version',
  'fx_rate_to_usd',
  'fx_rate_date',
  'provider',
  'provider_txn_id',
  'invoice_ref',
  'occurred_at',
  'created_at',
);

const TAX = pick(paymentLines.columns, 'tax_rate', 'tax_country');
const TAXED = { ...TAX, ...pick(paymentLines.columns, 'vat_amount_minor', 'net_amount_minor') };

/** Columns that are not the row's own. */
const SHOWN_AS: Readonly<Partial<Record<string, string>>> = {
  kind: `${seriesOf('g')} as kind`,
  invoice_ref: 'coalesce(s.invoice_ref, g.invoice_ref) as invoice_ref',
};

/**
 * A sale, refund or reversal with what its receipt or note says. Its tax is that of its line among the payments, which
 * stays as it is once its month is closed.
 */
const documented = finding(
  `select ${Object.keys(SHOWN)
    .map((name) => SHOWN_AS[name] ?? `g.${name}`)
    .join(', ')},
     l.tax_rate, l.tax_country,
     abs(l.vat_amount_minor) as vat_amount_minor, abs(l.net_amount_minor) as net_amount_minor,
     ${ordinalOf('g')} as ordinal, ${ordinalOf('s')} as sale_ordinal, ${ordinalOf('r')} as refund_ordinal
   from read.grants g
   join read.payment_lines l on l.position = g.position and l.line = 0
   left join read.grants s on s.tenant_id = g.tenant_id and s.grant_id = g.original_grant_id
   left join read.grants r on r.tenant_id = g.tenant_id and r.grant_id = g.refund_id
   where g.grant_id = $1`,
  (grantId: string) => [grantId],
  rowReader({ ...SHOWN, ...TAXED, ordinal: 'int8', sale_ordinal: 'int8', refund_ordinal: 'int8' }),
);

type Documented = NonNullable<Awaited<ReturnType<ReturnType<typeof documented>>>>;

/**
 * What each fact corrects. A new tax has two lines, which take off what had no tax, or another, and add it again with
 * it: the last of them has the new tax.
 */
const corrected = listing(
  `select position, booked_at, sum(vat_amount_minor)::int8 as vat_amount_minor, count(*) as lines,
     (array_agg(tax_rate order by line desc))[1] as tax_rate,
     (array_agg(tax_country order by line desc))[1] as tax_country
   from read.payment_lines
   where tenant_id = $1 and sale_id = $2 and kind = 'correction' and side = $3 and position > $4
   group by position, booked_at order by position`,
  ({ tenant_id, grant_id, original_grant_id: sale, position }: Documented) => [
    tenant_id,
    sale ?? grant_id,
    sale === null ? 'sale' : 'refund',
    position,
  ],
  rowReader({ position: 'position', booked_at: 'text', ...TAX, vat_amount_minor: 'int8', lines: 'int8' }),
);

/** A payment with what its receipt or note says, and the tax that became known after its month was closed. */
export const documentedPayment = (sql: SqlTx) => async (grantId: string) => {
  const payment = await documented(sql)(grantId);
  if (payment === undefined) return undefined;
  let known: Readonly<RowOf<typeof TAX>> = payment;
  const corrections = (await corrected(sql)(payment)).flatMap(({ lines, ...told }) => {
    const isOther = told.tax_rate !== known.tax_rate || told.tax_country !== known.tax_country;
    if (told.vat_amount_minor === 0 && !(lines > 1 && isOther)) return [];
    known = told;
    return [told];
  });
  return { ...payment, corrections };
};
