import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { ordinary, seenOf, type Seen, type Tenant } from './fairness.ts';
import type { HostileTenant } from './fairnessHostile.ts';
import { scannedReport } from '../../engine/test/bench/scans.ts';

/** Of each half: without the hostile tenant, and with it. */
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const others = Number(process.env['BENCH_TENANTS'] ?? 9);
const pages = Number(process.env['BENCH_PAGES'] ?? 10);
/** Another build of the service to measure: its `dist/main.js`. */
const main = process.env['BENCH_MAIN'];
const WIDE = { rate_per_second: 10_000, burst: 10_000 };
const WARM_UP_MS = Math.min(5_000, seconds * 1_000);
/** Until the hostile tenant has its files in storage and its requests at work. */
const LEAD_MS = Math.min(5_000, seconds * 1_000);

type Customer = Omit<Tenant, 'signal'>;

const dataDir = await mkdtemp(join(tmpdir(), 'quire-fairness-'));
const scan = await scannedReport(pages);
const service = await startService(dataDir, { HEAVY_CONCURRENCY: '16' }, main);

const admin = async (method: string, path: string, body: unknown): Promise<unknown> => {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};
const customer = async (tenant_id: string, limits: typeof WIDE | undefined): Promise<Customer> => {
  const { key } = (await admin('POST', '/v1/api-keys', { tenant_id, role: 'tenant' })) as { key: string };
  const at = `/v1/admin/tenants/${tenant_id}`;
  if (limits !== undefined) await admin('PUT', `${at}/rate-limits`, { heavy: limits, general: limits });
  await admin('POST', `${at}/set-plan`, { plan: 'paid', reason: 'bench' });
  await admin('POST', `${at}/adjust-credits`, { credits: 10_000_000, reason: 'bench' });
  return { url: service.url, tenant_id, key };
};

const hostileThread = (workerData: HostileTenant): Worker =>
  new Worker(new URL('./fairnessHostile.js', import.meta.url), { workerData });

const phase = async (
  tenants: readonly Customer[],
  enemy: Customer | undefined,
  forMs = seconds * 1000,
): Promise<Seen & { readonly cpuMs: number }> => {
  const end = new AbortController();
  const { signal } = end;
  const attack = enemy && hostileThread({ ...enemy, scan });
  if (enemy !== undefined) await pause(LEAD_MS);
  const spent = cpuSince([service.pid]);
  const asked = tenants.map((tenant) => ordinary({ ...tenant, signal }));
  await pause(forMs);
  end.abort();
  const latencies = (await Promise.all(asked)).flat();
  await attack?.terminate();
  return { ...seenOf(latencies), cpuMs: spent() };
};

const row = ({ requests, p50Ms, p99Ms, worstMs, cpuMs }: Awaited<ReturnType<typeof phase>>) => ({
  requests,
  'p50 ms': Math.round(p50Ms),
  'p99 ms': Math.round(p99Ms),
  'worst ms': Math.round(worstMs),
  // Beside a hostile tenant it is that tenant's work too.
  'CPU ms a request': (cpuMs / Math.max(1, requests)).toFixed(1),
});

try {
  const tenants: Customer[] = [];
  for (let n = 1; n <= others; n += 1) tenants.push(await customer(`ordinary-${n}`, WIDE));
  const enemy = await customer('hostile', undefined);
  // Processes are started and modules loaded before anything is measured.
  await phase(tenants, undefined, WARM_UP_MS);
  const quiet = await phase(tenants, undefined);
  console.table({ 'without a hostile tenant': row(quiet) });
  const beside = await phase(tenants, enemy);
  console.table({ 'beside a hostile tenant': row(beside) });
  console.log(`p99 beside it: ${(beside.p99Ms / quiet.p99Ms).toFixed(2)} times`);
} finally {
  await service.stop('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
}
process.exit();
