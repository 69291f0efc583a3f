import { setTimeout as wait } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { ADMIN_KEY, type ServiceProcess } from '../../test/support/serviceProcess.ts';
import { processTree, growDataDir, startOn } from './grownLog.ts';

/** Requests come at a fixed rate, of random tenants: half are writes, half read what is left. */
interface SteadyLoad {
  readonly tenants: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** What a part of the time came to. */
interface Stretch {
  readonly requests: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  /** At its end: of the service's own process, and of those that it started. */
  readonly rssMb: number;
  readonly othersMb: number;
}

const STRETCHES = 10;
const TICK_MS = 10;

type Ask = (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>;

const adminOf =
  ({ url }: ServiceProcess): Ask =>
  async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = (await answer.json()) as Readonly<Record<string, unknown>>;
    // A tenant that has not traded yet has no balance.
    const isAnswer = answer.ok || json['code'] === 'tenant_not_found';
    if (!isAnswer) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json;
  };

const stretch = async (
  { pid }: ServiceProcess,
  { perSecond, seconds }: SteadyLoad,
  once: () => Promise<unknown>,
): Promise<Stretch> => {
  const latencies: number[] = [];
  const timed = async () => {
    const askedAt = performance.now();
    await once();
    latencies.push(performance.now() - askedAt);
  };
  const spent = cpuSince([pid]);
  const began = performance.now();
  const asked: Promise<void>[] = [];
  while (performance.now() - began < (seconds / STRETCHES) * 1000) {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
    while (asked.length < due) asked.push(timed());
    await wait(TICK_MS);
  }
  await Promise.all(asked);
  const cpuMs = spent() / Math.max(1, asked.length);
  const [own, ...others] = processTree(pid);
  latencies.sort((a, b) => a - b);
  return {
    requests: asked.length,
    p99Ms: latencies[Math.floor((latencies.length - 1) * 0.99)] ?? 0,
    cpuMs,
    rssMb: own?.rssMb ?? Number.NaN,
    othersMb: others.reduce((sum, { rssMb }) => sum + rssMb, 0),
  };
};

/** The stretches of a steady load, one after the other. Throws when a request fails or the books do not balance. */
async function* steadyStretches(service: ServiceProcess, load: SteadyLoad): AsyncGenerator<Stretch> {
  const admin = adminOf(service);
  const widest = { general: { rate_per_second: 10_000, burst: 10_000 } };
  await admin('PUT', '/v1/admin/tenants/quire:admin/rate-limits', widest);
  const random = seededRandom(1);
  const once = () => {
    const tenant = `tenant-${random.between(1, load.tenants)}`;
    if (random.next() < 0.5) return admin('GET', `/v1/billing/balance/${tenant}`);
    const gift = { credits: 1, reason: 'bench' };
    return admin('POST', `/v1/admin/tenants/${tenant}/adjust-credits`, gift);
  };
  for (let n = 0; n < STRETCHES; n += 1) yield await stretch(service, load, once);
  const { drifted } = await admin('GET', '/v1/admin/reconciliation');
  if (!Array.isArray(drifted) || drifted.length > 0) throw new Error(`drifted: ${JSON.stringify(drifted)}`);
}

const { env } = process;
const growth = {
  events: Number(env['BENCH_EVENTS'] ?? 10_000_000),
  tenants: Number(env['BENCH_TENANTS'] ?? 100_000),
};
const load = {
  tenants: growth.tenants,
  perSecond: Number(env['BENCH_RATE'] ?? 50),
  seconds: Number(env['BENCH_SECONDS'] ?? 3_600),
};

const dataDir = await mkdtemp(join(env['BENCH_DIR'] ?? tmpdir(), 'quire-memory-'));
try {
  await growDataDir(dataDir, growth);
  const { service } = await startOn(dataDir);
  try {
    console.log(`${load.perSecond} requests/s for ${load.seconds} s, in ${STRETCHES} stretches`);
    const rows = [];
    for await (const { requests, p99Ms, cpuMs, rssMb, othersMb } of steadyStretches(service, load)) {
      const memory = { 'RSS MB': rssMb.toFixed(0), 'others MB': othersMb.toFixed(0) };
      rows.push({ requests, 'p99 ms': p99Ms.toFixed(1), 'CPU ms a request': cpuMs.toFixed(2), ...memory });
    }
    console.table(rows);
    console.log('All books balance.');
  } finally {
    await service.stop('SIGTERM');
  }
} finally {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
}
