import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '../../projections/engine/ports.ts';
import { BLOCK_ROWS } from '../../projections/ledger.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { EMPTY_DATABASE } from './live.ts';
import { sideProcesses } from './contestants.ts';
import { alternating, sideBySide, startBare, type Target, type Throughput } from './reads.ts';

/** A ledger of many rows, made in the database: one large tenant, and many others. */
interface BigLedger {
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
  insert into ${schema}.ledger (tenant_id, ordinal, position, part, id, kind, operation, category,
    extraction_mode, billing_type, pages, free_pages, credits_per_page, credits_delta, balance_after,
    billing_config_version, project_id, task_id, document_id, job_id, api_key_id, tags, details, created_at)
  select $1 || case when $3::int8 > 1 then t.n::text else '' end, r.n, t.n * 100000000 + r.n, 1, 'row_' || r.n,
    case when r.n = 0 then 'sale' else 'usage' end,
    case when r.n = 0 then null when r.n % 50 = 0 then 'to_markdown' else 'extract' end,
    case when r.n = 0 then null else 'extraction' end, case when r.n = 0 then null else 'standard' end,
    case when r.n = 0 then null else 'full_service' end, case when r.n = 0 then 0 else 1 end, 0, 1,
    case when r.n = 0 then ${START_CREDITS} else -1 end, ${START_CREDITS} - r.n, 1, 'default', 'default', null, null,
    'key_bench', null, null,
    to_char(timestamp '2025-01-01' + r.n * (interval '365 days' / $2::int8), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  from generate_series(1, $3::int8) t(n) cross join generate_series(0, $2::int8 - 1) r(n)`;

const BLOCKS = (schema: string) => `
  insert into ${schema}.ledger_blocks
  select tenant_id, ordinal / ${BLOCK_ROWS}, kind, coalesce(operation, ''), count(*), min(ordinal), max(ordinal),
    min(created_at), max(created_at)
  from ${schema}.ledger group by 1, 2, 3, 4`;

const GRANTS = (grants: string, ledger: string) => `
  insert into ${grants}.grants (tenant_id, position, grant_id, kind, credits, bonus_credits, refunded_credits,
    refunded_amount_minor, currency, gross_amount_minor, discount_minor, vat_amount_minor, provider_fee_minor,
    net_amount_minor, price_list_version, fx_rate_to_usd, provider, provider_txn_id, occurred_at, created_at,
    dispute_fee_minor)
  select tenant_id, position, 'grt_' || tenant_id, 'sale', credits_delta, 0, 0, 0, 'USD',
    100000000, 0, 0, 0, 100000000, 1, '1', 'bench', tenant_id, created_at, created_at, 0
  from ${ledger}.ledger where ordinal = 0 and kind = 'sale'`;

const BALANCES = (balances: string, ledger: string) => `
  insert into ${balances}.balances as b
  select tenant_id, 'paid', sum(credits_delta)::int8, 0, ${START_CREDITS}, (count(*) - 1)::int8, 0, 0, 0, 1,
    min(created_at), max(created_at)
  from ${ledger}.ledger group by tenant_id
  on conflict (tenant_id) do update set balance_credits = excluded.balance_credits,
    purchased_credits = excluded.purchased_credits, used_credits = excluded.used_credits, grants_count = 1`;

/** Fills the tables of the read models that serve. */
const fillLedger = async (sql: Sql, { whale, whaleRows, others, rowsEach }: BigLedger): Promise<void> => {
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

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const ledger = {
  whale: 'whale',
  whaleRows: Number(env['BENCH_WHALE_ROWS'] ?? 2_000_000),
  others: Number(env['BENCH_TENANTS'] ?? 1_000),
  rowsEach: Number(env['BENCH_ROWS_EACH'] ?? 8_000),
};
const timing = { rounds: Number(env['BENCH_ROUNDS'] ?? 3), seconds: Number(env['BENCH_SECONDS'] ?? 6) };

const sql = postgresSql({ url: databaseUrl });
await sql.script(EMPTY_DATABASE);
const dataDir = await mkdtemp(join(tmpdir(), 'quire-reads-'));
const service = await startService(dataDir, { DATABASE_URL: databaseUrl });
const bare = await startBare(databaseUrl);
const processes = await sideProcesses(service.pid, databaseUrl);
const bareProcesses = await sideProcesses(bare.pid, databaseUrl);
const admin = (method: string, path: string, body?: unknown) =>
  fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const limit = { rate_per_second: 10_000, burst: 10_000 };
for (const tenant of ['whale', 'quire:admin'])
  await admin('PUT', `/v1/admin/tenants/${tenant}/rate-limits`, { general: limit });
const issued = (await (await admin('POST', '/v1/api-keys', { tenant_id: 'whale' })).json()) as {
  key: string;
};
await new Promise((resolve) => setTimeout(resolve, 1_000));
console.log(`filling ${ledger.whaleRows + ledger.others * ledger.rowsEach} ledger rows`);
await fillLedger(sql, ledger);

const shown = (name: string, [ours, theirs]: readonly [Throughput, Throughput]) => ({
  what: name,
  'Quire req/s': Math.round(ours.perSecond),
  'p50/p99 ms': `${ours.p50Ms} / ${ours.p99Ms}`,
  'bare req/s': Math.round(theirs.perSecond),
  'bare p50/p99': `${theirs.p50Ms} / ${theirs.p99Ms}`,
  ratio: (ours.perSecond / theirs.perSecond).toFixed(2),
  'CPU ms': `${ours.cpuMs.toFixed(3)} / ${theirs.cpuMs.toFixed(3)}`,
  'ratio of CPU': (ours.cpuMs / theirs.cpuMs).toFixed(2),
  failed: ours.failed + theirs.failed,
});
const { key } = issued;
const ours = (path: string, by: string): Target => ({ url: `${service.url}${path}`, key: by, processes });
const theirs = (path: string): Target => ({ url: `${bare.url}${path}`, processes: bareProcesses });
const balance = await sideBySide([ours('/v1/billing/balance/whale', key), theirs('/balance/whale')], timing);
const page = await sideBySide(
  [ours('/v1/admin/tenants/other-7/ledger?limit=100', ADMIN_KEY), theirs('/ledger/other-7?limit=100')],
  timing,
);
const whalePage = await sideBySide(
  [ours('/v1/billing/usage/whale?limit=100', key), theirs('/ledger/whale?limit=100')],
  timing,
);
const failed = balance[0].failed + page[0].failed + whalePage[0].failed;
if (failed > 0) throw new Error(`${failed} requests failed`);
console.table([
  shown('balance by HTTP', balance),
  shown('ledger page of 100, tenant of 8,000 rows, ours with total', page),
  shown('usage page of 100, tenant of 2,000,000 rows, ours with total', whalePage),
]);
const deep = async (offset: number) => {
  const query = `limit=100&offset=${String(offset)}`;
  const [own, raw] = await alternating(
    [ours(`/v1/admin/tenants/whale/ledger?${query}`, ADMIN_KEY), theirs(`/ledger/whale?${query}&total=1`)],
    11,
  );
  return { what: `offset ${String(offset)}, with total`, ours: own, theirs: raw };
};
const sums = await alternating([ours('/v1/admin/reconciliation', ADMIN_KEY), theirs('/sums')], 3);
const single = [
  await deep(Math.min(100_000, Math.floor(ledger.whaleRows / 20))),
  await deep(ledger.whaleRows - 200),
  { what: 'reconciliation beside a sum by tenant', ours: sums[0], theirs: sums[1] },
];
console.table(
  single.map(({ what, ours, theirs }) => ({
    what,
    'Quire ms': ours.toFixed(1),
    'raw SQL ms': theirs.toFixed(1),
    ratio: (ours / theirs).toFixed(3),
  })),
);
bare.stop();
await service.stop('SIGTERM');
await sql.script(EMPTY_DATABASE);
await sql.close();
await rm(dataDir, { recursive: true, force: true });
