import { rowReader, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx, SqlValue } from '../engine/ports.ts';
import type { Page, RowPage } from '../engine/query.ts';
import { omit, pick } from '../engine/table.ts';
import { BLOCK_ROWS, ledgerBlocks } from './ledger.schema.ts';
import type { LedgerKind } from './ledgerRows.ts';
import type { MatchingBlock, PagePlan } from './pagePlan.ts';
import { isSparse, pagePlan } from './pagePlan.ts';

export interface LedgerQuery extends Page {
  readonly tenant_id: string;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339 UTC with milliseconds, inclusive. */
  readonly to?: string | undefined;
  readonly operation?: string | undefined;
  /** All kinds by default. */
  readonly kinds?: readonly LedgerKind[] | undefined;
}

/** `$1` tenant, `$2` kinds, `$3` operation, `$4` from, `$5` to: null where all are wanted. */
const MATCHES = `tenant_id = $1 and ($2::text[] is null or kind = any($2)) and ($3::text is null or operation = $3)`;
const IN_RANGE = `($4::text is null or created_at >= $4) and ($5::text is null or created_at <= $5)`;

const filterOf = ({ tenant_id, kinds, operation, from, to }: LedgerQuery): readonly SqlValue[] => [
  tenant_id,
  kinds ?? null,
  operation ?? null,
  from ?? null,
  to ?? null,
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

const DENSE = `
  select * from read.ledger where ${MATCHES} and ${IN_RANGE} and ordinal between $6 and $7
  order by ordinal desc limit $8 offset $9`;

const SPARSE = `
  select l.* from unnest($6::int8[], $7::int8[]) as b(first_ordinal, last_ordinal)
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

/**
 * Without a range of time no block is cut: the database adds up the blocks, and only those of the page come
 * back, with the newest one at least, for the total.
 */
const WHOLE = `
  select rows, first_ordinal, last_ordinal, upto, total from (
    select block, rows, first_ordinal, last_ordinal, (sum(rows) over (order by block desc))::int8 as upto,
      (sum(rows) over ())::int8 as total
    from (
      select block, sum(rows)::int8 as rows, min(first_ordinal) as first_ordinal,
        max(last_ordinal) as last_ordinal
      from read.ledger_blocks
      where tenant_id = $1 and ($2::text[] is null or kind = any($2)) and ($3::text is null or operation = $3)
      group by block
    ) counted
  ) summed
  where (upto > $4::int8 and upto - rows < $4::int8 + $5::int8) or upto = rows order by upto`;

const readWhole = rowReader({
  ...pick(ledgerBlocks.columns, 'rows', 'first_ordinal', 'last_ordinal'),
  ...{ upto: 'int8', total: 'int8' },
});

const wholePlan = async (
  sql: SqlTx,
  query: LedgerQuery,
): Promise<{ readonly plan: PagePlan; readonly total: number }> => {
  const { tenant_id, kinds = null, operation = null, offset, limit } = query;
  const counted = (await sql.query(WHOLE, [tenant_id, kinds, operation, offset, limit])).map(readWhole);
  const blocks = counted.filter(({ upto }) => upto > offset);
  const [first] = blocks;
  const skip = first === undefined ? 0 : offset - (first.upto - first.rows);
  return { plan: { skip, blocks }, total: counted[0]?.total ?? 0 };
};

const rangePlan = async (sql: SqlTx, query: LedgerQuery) => {
  const blocks = await exactly(sql, query, await blocksFor(sql, query));
  return { plan: pagePlan(blocks, query), total: blocks.reduce((sum, block) => sum + block.rows, 0) };
};

/** A page of a tenant's postings, newest first, and how many match in all. */
export const ledgerPage = async <Row>(
  sql: SqlTx,
  query: LedgerQuery,
  toRow: (row: SqlRow) => Row,
): Promise<RowPage<Row>> => {
  const isWhole = query.from === undefined && query.to === undefined;
  const { plan, total } = await (isWhole ? wholePlan : rangePlan)(sql, query);
  const rows = await read(sql, query, plan);
  return { items: rows.map(toRow), total };
};
