import { tmpdir } from 'node:os';
import { benchLive } from './live.ts';

const { env } = process;
const load = {
  perSecond: Number(env['BENCH_RATE'] ?? 1_000),
  seconds: Number(env['BENCH_SECONDS'] ?? 20),
  tenants: Number(env['BENCH_TENANTS'] ?? 100),
};
const where = { folder: env['BENCH_DIR'] ?? tmpdir(), databaseUrl: env['BENCH_DATABASE_URL'] };
console.log(
  `${load.perSecond} burns/s for ${load.seconds} s, ${load.tenants} tenants: append to visible in all read models`,
);
const results = await benchLive(load, where);
console.table(
  Object.fromEntries(
    Object.entries(results).map(([name, { burns, p50Ms, p99Ms, worstMs, cpuMs }]) => [
      name,
      {
        burns,
        'p50 ms': p50Ms.toFixed(1),
        'p99 ms': p99Ms.toFixed(1),
        'worst ms': worstMs.toFixed(1),
        'CPU ms a burn': cpuMs?.toFixed(3) ?? 'unknown',
      },
    ]),
  ),
);
