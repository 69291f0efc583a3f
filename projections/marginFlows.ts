import {
  type Columns,
  dayRange,
  type Exact,
  noSums,
  onlyRow,
  type RowOf,
  rowReader,
  sumsOf,
  textOf,
  type TimeRange,
  wholeNumericOf,
} from './engine/table.ts';
import type { MarginSums } from '../domain/marginReport.ts';
import type { SqlRow, SqlTx } from './engine/ports.ts';
import { listing } from './engine/query.ts';
import { BOOKING_SUMS, BURN_SUMS, marginDays } from './marginTables.ts';

/** What a period moved in one currency; `currency` is empty for given credits and those without a lot. */
export type CurrencyFlows = MarginSums & RowOf<typeof BOOKING_SUMS, Exact> & { readonly currency: string };

/** Value of unconsumed credits: what was booked and neither refunded nor recognised, micro-USD. */
export const deferredIn = (flows: readonly CurrencyFlows[]): bigint =>
  flows.reduce((sum, { booked, refunded, net, true_up }) => sum + booked - refunded - net - true_up, 0n);

const ALL_SUMS = sumsOf(marginDays.columns);

const columnsOf = (own: Columns): string =>
  ALL_SUMS.map((name) => (name in own ? `f.${name}` : '0')).join(', ');

/** Rows of a table that lie in the pieces of days `$3`, `$4`: found by the positions of their day. */
const pieceOf = (table: string, own: Columns): string => `
  select f.currency, ${columnsOf(own)}
  from unnest($3::text[], $4::text[]) as p(from_time, to_time)
  join (select day, min(first_position) as first, max(last_position) as last from read.margin_days group by day) d
    on d.day = left(p.from_time, 10)
  join read.${table} f on f.position between d.first and d.last
    and f.booked_at between p.from_time and p.to_time`;

const FLOWS = `
  select currency, ${ALL_SUMS.map((name) => `sum(${name})::numeric as ${name}`).join(', ')}
  from (
    select currency, ${ALL_SUMS.join(', ')} from read.margin_days where day between $1 and $2
    union all ${pieceOf('margin_burns', BURN_SUMS)}
    union all ${pieceOf('margin_bookings', BOOKING_SUMS)}
  ) flows group by currency order by currency`;

const flowsOf = (row: SqlRow): CurrencyFlows => ({
  ...noSums(marginDays.columns),
  ...Object.fromEntries(ALL_SUMS.map((name) => [name, wholeNumericOf(row, name)])),
  currency: textOf(row, 'currency'),
});

/** What was booked by currency, both ends included; micro-USD and whole credits. */
export const marginFlows =
  (sql: SqlTx) =>
  async (range: TimeRange): Promise<readonly CurrencyFlows[]> => {
    const { firstDay, lastDay, pieces } = dayRange(range);
    const edges = [pieces.map(({ from }) => from), pieces.map(({ to }) => to)];
    return (await sql.query(FLOWS, [firstDay, lastDay, ...edges])).map(flowsOf);
  };

/** What was booked in a period although its time lies in a month that was closed before. */
const LATE_FLOWS = `
  select count(distinct position)::int8 as events, coalesce(sum(net), 0)::numeric as net,
    coalesce(sum(true_up), 0)::numeric as true_up, coalesce(sum(dispute_fee), 0)::numeric as dispute_fee
  from (
    select position, net, 0::numeric as true_up, 0::numeric as dispute_fee, created_at, booked_at
    from read.margin_burns
    union all select position, 0, true_up, dispute_fee, created_at, booked_at from read.margin_bookings
  ) f where booked_at > created_at and booked_at between $1 and $2`;

const readLate = rowReader({ events: 'int8', net: 'numeric', true_up: 'numeric', dispute_fee: 'numeric' });

/** Events of closed months that are booked in a period, and what they recognised: micro-USD. */
export const lateFlows =
  (sql: SqlTx) =>
  async ({ from, to }: { readonly from: string; readonly to: string }) =>
    readLate(onlyRow(await sql.query(LATE_FLOWS, [from, to])));

/** Tenants that have unused credits of a sale, the one with most of them first. */
export const lotsOfGrant = listing(
  `select tenant_id, sum(credits - used)::int8 as credits from read.margin_lots
   where origin = $1 and is_open group by tenant_id order by 2 desc, tenant_id`,
  (grantId: string) => [grantId],
  rowReader({ tenant_id: 'text', credits: 'int8' }),
);
