import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { growDataDir, startOn } from '../start/grownLog.ts';
import { steadyStretches, STRETCHES } from './steadyLoad.ts';

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
