import { omit, onlyRow, rowReader, tagsOf, textOf, wholeOf } from './engine/table.ts';
import type { SqlRow, SqlTx, SqlValue } from './engine/ports.ts';
import { keyColumns, type Place } from './engine/cursor.ts';
import { askableOf, paging, walked, type Found, type Page, type RowPage } from './engine/query.ts';
import { sortsBy, type TextsOf } from './engine/sorts.ts';
import { BLOCK_ROWS, ledger, ledgerBlocks, type LedgerKind } from './ledger.ts';
import { listValueUsd } from '../domain/kernel/amounts.ts';

/** Rows of one block that match a filter, and between which ordinals they lie. */
export interface MatchingBlock {
  readonly rows: number;
  readonly first_ordinal: number;
  readonly last_ordinal: number;
}

/** Which rows to read for a page: blocks newest first, and how many of their newest rows to pass over. */
export interface PagePlan {
  readonly skip: number;
  readonly blocks: readonly MatchingBlock[];
}

/**
 * The blocks that hold the rows `offset` to `offset + limit`, newest first. What lies before them is
 * counted, not read: `skip` is less than the rows of the first of them.
 */
export const pagePlan = (
  newestFirst: readonly MatchingBlock[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): PagePlan => {
  const blocks: MatchingBlock[] = [];
  let before = 0;
  let skip = 0;
  for (const block of newestFirst) {
    if (before >= offset + limit) break;
    if (block.rows > 0 && before + block.rows > offset) {
      if (blocks.length === 0) skip = offset - before;
      blocks.push(block);
    }
    before += block.rows;
  }
  return { skip, blocks };
};

const spanOf = (blocks: readonly MatchingBlock[]): number =>
  (blocks[0]?.last_ordinal ?? 0) - (blocks.at(-1)?.first_ordinal ?? 0) + 1;

/**
 * Whether matching rows lie so thinly that the blocks are better read one by one than all that lies
 * between the first and the last.
 */
export const isSparse = ({ blocks }: PagePlan, blockRows: number): boolean => {
  const matching = blocks.reduce((sum, { rows }) => sum + rows, 0);
  return spanOf(blocks) > 8 * matching + blockRows;
};

export interface LedgerQuery extends Page {
  readonly tenant_id: string;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly to?: string | undefined;
  readonly operation?: string | undefined;
  readonly category?: string | undefined;
  /** All kinds by default. */
  readonly kinds?: readonly LedgerKind[] | undefined;
}

/** `$1` tenant, `$2` kinds, `$3` operation, `$4` from, `$5` to: null where all are wanted. */
const MATCHES = `tenant_id = $1 and ($2::text[] is null or kind = any($2)) and ($3::text is null or operation = $3)`;
const IN_RANGE = `($4::text is null or created_at >= $4) and ($5::text is null or created_at <= $5)`;

const whatOf = ({ tenant_id, kinds, operation }: LedgerQuery): readonly SqlValue[] => [
  tenant_id,
  kinds ?? null,
  operation ?? null,
];

const filterOf = (query: LedgerQuery): readonly SqlValue[] => [
  ...whatOf(query),
  query.from ?? null,
  query.to ?? null,
];

const readBlock = rowReader(omit(ledgerBlocks.columns, 'tenant_id', 'kind', 'operation'));

const blockOf = (row: SqlRow, { from, to }: LedgerQuery) => {
  const { first_created_at, last_created_at, ...block } = readBlock(row);
  const beginsWithin = from !== undefined && first_created_at < from;
  const endsWithin = to !== undefined && last_created_at > to;
  return { ...block, isCut: beginsWithin || endsWithin };
};

/** Where the range of time ends within it, `isCut`: its rows must be counted one by one. */
type CountedBlock = ReturnType<typeof blockOf>;

/** The blocks that may hold matching rows, newest first. */
const blocksFor = async (sql: SqlTx, query: LedgerQuery): Promise<readonly CountedBlock[]> => {
  const rows = await sql.query(
    `select block, sum(rows)::int8 as rows, min(first_ordinal) as first_ordinal,
       max(last_ordinal) as last_ordinal, min(first_created_at) as first_created_at,
       max(last_created_at) as last_created_at
     from read.ledger_blocks
     where ${MATCHES} and ($4::text is null or last_created_at >= $4)
       and ($5::text is null or first_created_at <= $5)
     group by block order by block desc`,
    filterOf(query),
  );
  return rows.map((row) => blockOf(row, query));
};

const rangesOf = (blocks: readonly MatchingBlock[]): readonly SqlValue[] => [
  blocks.map(({ first_ordinal }) => BigInt(first_ordinal)),
  blocks.map(({ last_ordinal }) => BigInt(last_ordinal)),
];

/** Counts the rows of the blocks that the range of time cuts; there are seldom more than two. */
const exactly = async (
  sql: SqlTx,
  query: LedgerQuery,
  blocks: readonly CountedBlock[],
): Promise<readonly CountedBlock[]> => {
  const cut = blocks.filter(({ isCut }) => isCut);
  if (cut.length === 0) return blocks;
  const rows = await sql.query(
    `select b.n, count(*) as rows
     from unnest($6::int8[], $7::int8[]) with ordinality as b(first_ordinal, last_ordinal, n)
     join read.ledger l on l.ordinal between b.first_ordinal and b.last_ordinal
     where ${MATCHES} and ${IN_RANGE} group by b.n`,
    [...filterOf(query), ...rangesOf(cut)],
  );
  const counted = new Map(rows.map((row) => [cut[wholeOf(row, 'n') - 1]?.block, wholeOf(row, 'rows')]));
  return blocks.map((block) => (block.isCut ? { ...block, rows: counted.get(block.block) ?? 0 } : block));
};

/** What an item of a page is made of. */
export const itemColumns = omit(ledger.columns, 'tenant_id', 'ordinal', 'position', 'part');
const NEWEST_POSTING_FIRST = { name: 'ledger', order: [{ by: 'l.ordinal', as: 'int8' }] } as const;
const ITEM = Object.keys(itemColumns)
  .map((name) => `l.${name}`)
  .join(', ');
const COLUMNS = `${ITEM}, ${keyColumns(NEWEST_POSTING_FIRST)}`;

const DENSE = `
  select ${COLUMNS} from read.ledger l where ${MATCHES} and ${IN_RANGE} and ordinal between $6 and $7
  order by ordinal desc limit $8 offset $9`;

const SPARSE = `
  select ${COLUMNS} from unnest($6::int8[], $7::int8[]) as b(first_ordinal, last_ordinal)
  join read.ledger l on l.ordinal between b.first_ordinal and b.last_ordinal
  where ${MATCHES} and ${IN_RANGE} order by l.ordinal desc limit $8 offset $9`;

const read = (sql: SqlTx, query: LedgerQuery, plan: PagePlan): Promise<readonly SqlRow[]> => {
  const [newest, oldest] = [plan.blocks[0], plan.blocks.at(-1)];
  if (newest === undefined || oldest === undefined) return Promise.resolve([]);
  const filter = filterOf(query);
  const page = [query.limit, plan.skip];
  if (isSparse(plan, BLOCK_ROWS)) return sql.query(SPARSE, [...filter, ...rangesOf(plan.blocks), ...page]);
  const span = [BigInt(oldest.first_ordinal), BigInt(newest.last_ordinal)];
  return sql.query(DENSE, [...filter, ...span, ...page]);
};

/** Which rows to read, and from where on; without a place from `offset` on. */
interface Asked {
  readonly query: LedgerQuery;
  readonly place: Place | undefined;
}

const ordinalOf = ({ key }: Place): number => Number(key[0]);

/** The blocks that have rows behind an ordinal: the one that holds it ends before it, and is counted anew. */
const blocksBehind = (blocks: readonly CountedBlock[], ordinal: number): readonly CountedBlock[] =>
  blocks
    .filter(({ first_ordinal }) => first_ordinal < ordinal)
    .map((block) =>
      block.last_ordinal < ordinal ? block : { ...block, last_ordinal: ordinal - 1, isCut: true },
    );

/** A page however deep it lies, by the counts of all blocks. */
const anyPage = async (sql: SqlTx, { query, place }: Asked): Promise<Found> => {
  const all = await blocksFor(sql, query);
  const blocks = await exactly(sql, query, place === undefined ? all : blocksBehind(all, ordinalOf(place)));
  const total = place?.total ?? blocks.reduce((sum, block) => sum + block.rows, 0);
  const { limit, offset } = query;
  const plan = pagePlan(blocks, { limit, offset: place === undefined ? offset : 0 });
  return { rows: await read(sql, query, plan), total };
};

/** A page among the `BLOCK_ROWS` rows behind a place; undefined where rows of the page lie deeper. */
const nextPage = async (sql: SqlTx, { query, place }: Asked): Promise<Found | undefined> => {
  if (place === undefined) return undefined;
  const ordinal = ordinalOf(place);
  const span = [BigInt(ordinal - BLOCK_ROWS), BigInt(ordinal - 1)];
  const rows = await sql.query(DENSE, [...filterOf(query), ...span, query.limit, 0]);
  return rows.length < query.limit && ordinal > BLOCK_ROWS ? undefined : { rows, total: place.total };
};

/**
 * A page among the `BLOCK_ROWS` rows from the newest match on, with the total beside each row. A page without rows
 * gives one row of nulls beside the total.
 */
const NEWEST = `
  select counted.total, l.* from (
    select coalesce(sum(rows), 0)::int8 as total, max(last_ordinal) as newest
    from read.ledger_blocks where ${MATCHES}
  ) counted left join lateral (
    select ${COLUMNS}, ordinal from read.ledger l
    where ${MATCHES} and ordinal between counted.newest - ${String(BLOCK_ROWS - 1)} and counted.newest
    order by ordinal desc limit $4 offset $5
  ) l on true order by l.ordinal desc`;

/** Whether the page can be among the newest rows. Rows of one operation often lie deeper. */
const isNear = ({ from, to, operation, limit, offset }: LedgerQuery): boolean =>
  from === undefined && to === undefined && operation === undefined && offset + limit <= BLOCK_ROWS;

/** One statement for most pages that are asked for; undefined where rows of the page lie deeper. */
const newestPage = async (sql: SqlTx, { query, place }: Asked): Promise<Found | undefined> => {
  if (place !== undefined || !isNear(query)) return undefined;
  const { limit, offset } = query;
  const found = await sql.query(NEWEST, [...whatOf(query), limit, offset]);
  const total = wholeOf(onlyRow(found), 'total');
  const rows = found.filter(({ id }) => id !== null);
  return rows.length < Math.min(limit, total - offset) ? undefined : { rows, total };
};

const detail = (name: string): string => `l.details->>'${name}'`;

const ANY_ORDER = {
  sorts: sortsBy(
    ledger.columns,
    'id',
    'kind',
    'operation',
    'category',
    'extraction_mode',
    'billing_type',
    'completion_window',
    'pages',
    'free_pages',
    'credits_per_page',
    'credits_delta',
    'balance_after',
    'project_id',
    'task_id',
    'document_id',
    'job_id',
    'api_key_id',
    'created_at',
  ),
  searched: {
    columns: [
      'id',
      'kind',
      'operation',
      'category',
      'project_id',
      'task_id',
      'document_id',
      'job_id',
      'api_key_id',
      detail('provider_txn_id'),
      detail('grant_id'),
    ],
    written: [detail('reason'), detail('invoice_ref')],
  },
};

/** A page in another order than that of the log, or of what a search or a category leaves: all postings are read. */
const inAnyOrder = <Row>(toRow: (row: SqlRow) => Row) =>
  paging(
    {
      ...NEWEST_POSTING_FIRST,
      ...ANY_ORDER,
      columns: ITEM,
      chosen: `from read.ledger l where ${MATCHES} and ${IN_RANGE} and ($6::text is null or category = $6)`,
    },
    (query: LedgerQuery) => [...filterOf(query), query.category ?? null],
    toRow,
  );

/** Pages of a tenant's postings, newest first or as they are asked for, and how many match in all. */
const ledgerPages =
  <Row>(toRow: (row: SqlRow) => Row) =>
  (sql: SqlTx, texts?: TextsOf) => {
    const anyOrder = inAnyOrder(toRow)(sql, texts);
    return (query: LedgerQuery): Promise<RowPage<Row>> => {
      if ([query.sort, query.q, query.filter, query.category].some((one) => one !== undefined))
        return anyOrder(query);
      return walked(NEWEST_POSTING_FIRST, query, {
        find: async ({ limit, place }) => {
          const asked = { query: { ...query, limit }, place };
          return (await newestPage(sql, asked)) ?? (await nextPage(sql, asked)) ?? anyPage(sql, asked);
        },
        read: toRow,
      });
    };
  };

const readUsage = rowReader(omit(itemColumns, 'kind', 'details', 'tags'));

/** A row of the usage history, as an item of `UsageHistoryResponse`. */
type UsageRow = ReturnType<typeof usageRowOf>;

/** A row of the ledger: a usage row, and the members of its kind. */
export type LedgerItem = ReturnType<typeof ledgerItemOf>;

const KINDS: readonly LedgerKind[] = ['sale', 'refund', 'reversal', 'transfer_out', 'transfer_in', 'usage'];

const kindOf = (row: SqlRow): LedgerKind => {
  const kind = textOf(row, 'kind');
  return KINDS.find((known) => known === kind) ?? 'admin_adjustment';
};

const usageRowOf = (row: SqlRow) => {
  const kind = kindOf(row);
  const usage = readUsage(row);
  // At list price 1,000 credits are 1 USD.
  const total_cost_usd = listValueUsd(kind === 'usage' ? Math.abs(usage.credits_delta) : 0);
  // A copy comes last: adding members to one makes V8 describe all of them again.
  return { kind, total_cost_usd, ...usage, tags: tagsOf(row) };
};

/** The members of its kind lie beside those that all rows have. */
const ledgerItemOf = (row: SqlRow) => ({
  ...usageRowOf(row),
  ...(row['details'] as Readonly<Record<string, unknown>> | null),
});

/** Postings of all kinds, newest first. */
export const ledgerOfTenant = Object.assign(ledgerPages(ledgerItemOf), askableOf(ANY_ORDER));

interface UsageQuery extends Omit<LedgerQuery, 'kinds' | 'operation'> {
  readonly include_adjustments: boolean;
}

/** Usage, newest first; adjustments only when asked for. Purchases are in the grants. */
export const usageOfTenant = Object.assign((sql: SqlTx, texts?: TextsOf) => {
  const pageOf = ledgerPages(usageRowOf)(sql, texts);
  return ({ include_adjustments, ...query }: UsageQuery): Promise<RowPage<UsageRow>> => {
    const kinds: readonly LedgerKind[] = include_adjustments ? ['usage', 'admin_adjustment'] : ['usage'];
    return pageOf({ ...query, kinds });
  };
}, askableOf(ANY_ORDER));
