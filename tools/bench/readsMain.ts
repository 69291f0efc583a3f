import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresSql } from '../../adapters/postgres.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { fillLedger } from './bigLedger.ts';
import { EMPTY_DATABASE } from './live.ts';
import { sideProcesses } from './databaseProcesses.ts';
import { alternating, sideBySide, startBare, type Target, type Throughput } from './reads.ts';

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
