import type { Sql } from '../../projections/engine/ports.ts';
import { BLOCK_ROWS } from '../../projections/ledger.ts';

/** A ledger of many rows, made in the database: one large tenant, and many others. */
export interface BigLedger {
  readonly whale: string;
  readonly whaleRows: number;
  readonly others: number;
  readonly rowsEach: number;
}

const START_CREDITS = 1_000_000_000;

const schemaOf = async (sql: Sql, name: string): Promise<string> => {
  const [row] = await sql.query('select schema_name from projections.registry where name = $1 and serves', [
    name,
  ]);
  return String(row?.['schema_name']);
};

/** A sale, then burns of one credit, over a year. */
const LEDGER = (schema: string) => `
  insert into ${schema}.ledger
  select $1 || case when $3::int8 > 1 then t.n::text else '' end, r.n, t.n * 100000000 + r.n, 1, 'row_' || r.n,
    case when r.n = 0 then 'sale' else 'usage' end,
    case when r.n = 0 then null when r.n % 50 = 0 then 'to_markdown' else 'extract' end,
    case when r.n = 0 then null else 'extraction' end, case when r.n = 0 then null else 'standard' end,
    case when r.n = 0 then null else 'full_service' end, case when r.n = 0 then 0 else 1 end, 0, 1,
    case when r.n = 0 then ${START_CREDITS} else -1 end, ${START_CREDITS} - r.n, 1, 'default', 'default', null, null,
    'key_bench', null,
    to_char(timestamp '2025-01-01' + r.n * (interval '365 days' / $2::int8), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  from generate_series(1, $3::int8) t(n) cross join generate_series(0, $2::int8 - 1) r(n)`;

const BLOCKS = (schema: string) => `
  insert into ${schema}.ledger_blocks
  select tenant_id, ordinal / ${BLOCK_ROWS}, kind, coalesce(operation, ''), count(*), min(ordinal), max(ordinal),
    min(created_at), max(created_at)
  from ${schema}.ledger group by 1, 2, 3, 4`;

const GRANTS = (grants: string, ledger: string) => `
  insert into ${grants}.grants
  select tenant_id, position, 'grt_' || tenant_id, 'sale', credits_delta, null, 0, 0, 'USD', 100000000, 0, 0, 100000000,
    1, '1', 'bench', tenant_id, null, created_at, created_at
  from ${ledger}.ledger where ordinal = 0 and kind = 'sale'`;

const BALANCES = (balances: string, ledger: string) => `
  insert into ${balances}.balances as b
  select tenant_id, 'paid', sum(credits_delta)::int8, 0, ${START_CREDITS}, (count(*) - 1)::int8, 0, 0, 0, 1,
    min(created_at), max(created_at)
  from ${ledger}.ledger group by tenant_id
  on conflict (tenant_id) do update set balance_credits = excluded.balance_credits,
    purchased_credits = excluded.purchased_credits, used_credits = excluded.used_credits, grants_count = 1`;

/** Fills the tables of the read models that serve. */
export const fillLedger = async (
  sql: Sql,
  { whale, whaleRows, others, rowsEach }: BigLedger,
): Promise<void> => {
  const [ledger, grants, balances] = [
    await schemaOf(sql, 'ledger'),
    await schemaOf(sql, 'grants'),
    await schemaOf(sql, 'balances'),
  ];
  await sql.query(LEDGER(ledger), [whale, whaleRows, 1]);
  await sql.query(LEDGER(ledger), ['other-', rowsEach, others]);
  await sql.query(BLOCKS(ledger));
  await sql.query(GRANTS(grants, ledger));
  await sql.query(BALANCES(balances, ledger));
  for (const table of [
    `${ledger}.ledger`,
    `${ledger}.ledger_blocks`,
    `${grants}.grants`,
    `${balances}.balances`,
  ])
    await sql.query(`vacuum analyze ${table}`);
};
