import { entryKindOf, type Moved } from '../domain/journal.ts';
import { accountStream } from '../domain/account/messages.ts';
import { behindKey, keyColumns, type Listed, orderBy } from './engine/cursor.ts';
import type { SqlRow, SqlTx } from './engine/ports.ts';
import { type Page, type RowPage, walked } from './engine/query.ts';
import { onlyRow, rowReader, wholeOf } from './engine/table.ts';

/** Days of booking (UTC), both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

/** An entry of the journal: an event in one currency, or a tenant's use of a day. */
export interface JournalEntry extends Moved {
  /** UTC day of booking. */
  readonly day: string;
  readonly tenant_id: string;
  /** Of the event; for use, that of the day's last operation. */
  readonly stream: string;
  readonly position: bigint;
  /** The sale, refund, reversal or adjustment; null for use. */
  readonly entry_id: string | null;
  /** Of the payment; null where there is none. */
  readonly provider_txn_id: string | null;
}

/** Stands behind all positions: the use of a day comes after its events. */
const LAST = '999999999999999999';

const ORDER: Listed['order'] = [
  { by: 'day collate "C"', as: 'text', isAscending: true },
  { by: 'tenant_id collate "C"', as: 'text', isAscending: true },
  { by: 'place', as: 'int8', isAscending: true },
  { by: 'currency collate "C"', as: 'text', isAscending: true },
];
const LIST: Listed = { name: 'journal', order: ORDER };

/** Events that moved value; `behind` and `end` bound what is read. */
const bookings = (behind: string, end: string) => `
  select left(booked_at, 10) as day, tenant_id, position as place, currency, position, kind, entry_id,
    booked - refunded as paid, vat_due, true_up, dispute_fee, 0::numeric as net, 0::numeric as fee
  from read.margin_bookings
  where left(booked_at, 10) between $1 and $2 ${behind}
    and (booked <> refunded or vat_due <> 0 or true_up <> 0 or dispute_fee <> 0)
  ${end}`;

const uses = (behind: string, end: string) => `
  select day, tenant_id, ${LAST}::int8 as place, '' as currency, max(last_position) as position, 'use' as kind,
    null::text as entry_id, 0::numeric as paid, 0::numeric as vat_due, 0::numeric as true_up,
    0::numeric as dispute_fee, sum(net)::numeric as net, sum(fee)::numeric as fee
  from read.margin_uses where day between $1 and $2 ${behind}
  group by day, tenant_id having sum(net) <> 0 or sum(fee) <> 0 ${end}`;

const ENTRIES = `(${bookings('', '')} union all ${uses('', '')}) e`;
const WITH_PAYMENT = 'left join read.grants g on g.tenant_id = e.tenant_id and g.grant_id = e.entry_id';

/** Entries that a page skips at its beginning, at most: those of one event in all currencies. */
const SKIPPED_MAX = 200;

/** Each side is read in the order of an index, and no further than the page needs. */
const pageFrom = (hasPlace: boolean) => {
  const [most, skipped] = hasPlace ? ['$7', '0'] : ['$3', '$4::int8'];
  const limit = `limit ${most} + ${skipped} + ${String(SKIPPED_MAX)}`;
  const events = hasPlace ? 'and (left(booked_at, 10), tenant_id, position) >= ($3, $4, $5::int8)' : '';
  const days = hasPlace ? 'and (day, tenant_id) >= ($3, $4)' : '';
  return `
    select e.*, g.provider, g.provider_txn_id, ${keyColumns({ order: ORDER.map(ofEntry) })}
    from (
      (${bookings(events, `order by left(booked_at, 10), tenant_id, position, currency ${limit}`)})
      union all (${uses(days, `order by day, tenant_id ${limit}`)})
    ) e ${WITH_PAYMENT}
    ${hasPlace ? `where ${behindKey({ order: ORDER.map(ofEntry) }, 3)}` : ''}
    order by ${orderBy({ order: ORDER.map(ofEntry) })} limit ${most} offset ${skipped}`;
};

const ofEntry = (one: Listed['order'][number]): Listed['order'][number] => ({ ...one, by: `e.${one.by}` });

const [FIRST, FOLLOWING] = [pageFrom(false), pageFrom(true)];
const COUNT = `select count(*) as total from ${ENTRIES}`;

const readMoved = rowReader({
  kind: 'text',
  provider: 'text?',
  paid: 'numeric',
  vat_due: 'numeric',
  true_up: 'numeric',
  dispute_fee: 'numeric',
  net: 'numeric',
  fee: 'numeric',
});
const readPlace = rowReader({
  day: 'text',
  tenant_id: 'text',
  position: 'position',
  entry_id: 'text?',
  provider_txn_id: 'text?',
});

const movedIn = (row: SqlRow): Moved => {
  const { kind, ...moved } = readMoved(row);
  return { ...moved, kind: entryKindOf(kind) };
};

const entryOf = (row: SqlRow): JournalEntry => {
  const place = readPlace(row);
  return { ...place, ...movedIn(row), stream: accountStream(place.tenant_id) };
};

/** The entries of some days, by day and tenant: events in the order of the log, then the use of the day. */
export const journalEntries =
  (sql: SqlTx) =>
  (asked: Days & Page): Promise<RowPage<JournalEntry>> =>
    walked(LIST, asked, {
      find: async ({ limit, place }) => {
        const days = [asked.from, asked.to];
        if (place !== undefined)
          return { rows: await sql.query(FOLLOWING, [...days, ...place.key, limit]), total: place.total };
        const rows = await sql.query(FIRST, [...days, limit, asked.offset]);
        return { rows, total: wholeOf(onlyRow(await sql.query(COUNT, days)), 'total') };
      },
      read: entryOf,
    });

type AskEntries = (asked: Days & Page) => Promise<RowPage<JournalEntry>>;

/** All entries of some days, page by page. */
export async function* entryPages(
  ask: AskEntries,
  { from, to, limit }: Days & Pick<Page, 'limit'>,
): AsyncGenerator<readonly JournalEntry[]> {
  let cursor: string | undefined;
  for (;;) {
    const { items, next_cursor } = await ask({ from, to, limit, offset: 0, cursor });
    yield items;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}

const SUMS = `
  select e.kind, g.provider, sum(paid)::numeric as paid, sum(vat_due)::numeric as vat_due,
    sum(true_up)::numeric as true_up, sum(dispute_fee)::numeric as dispute_fee, sum(net)::numeric as net,
    sum(fee)::numeric as fee
  from ${ENTRIES} ${WITH_PAYMENT} group by 1, 2 order by 1, 2`;

/** The same summed up by kind and payment provider: what the accounts of the days come to. */
export const journalSums =
  (sql: SqlTx) =>
  async ({ from, to }: Days): Promise<readonly Moved[]> =>
    (await sql.query(SUMS, [from, to])).map(movedIn);
