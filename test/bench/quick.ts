import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../adapters/embedded/sqliteEventLog.ts';
import { accountWriter } from '../../src/commands/accountWriter.ts';
import { adjustment, charge } from '../support/accountCommands.ts';
const tenants = Number(process.argv[2] ?? 1),
  flight = Number(process.argv[3] ?? 16),
  secs = 3;
const store = openSqliteEventLog({ path: join(mkdtempSync('/tmp/qb-'), 'log.db') });
const w = accountWriter({ store });
for (let t = 0; t < tenants; t++) await w.execute(adjustment('t' + t, 1e9));
let n = 0;
const stop = performance.now() + secs * 1000;
const cpu0 = process.cpuUsage();
const lat: number[] = [];
await Promise.all(
  Array.from({ length: flight }, async (_, i) => {
    let k = 0;
    while (performance.now() < stop) {
      const t0 = performance.now();
      const o = await w.execute(charge('t' + Math.floor(Math.random() * tenants), 1, `k${i}-${k++}`));
      lat.push(performance.now() - t0);
      if (o.kind !== 'done') throw new Error(o.kind);
      n++;
    }
  }),
);
const c = process.cpuUsage(cpu0);
lat.sort((a, b) => a - b);
console.log(
  tenants,
  flight,
  Math.round(n / secs),
  'burns/s; cpu us/cmd',
  ((c.user + c.system) / n).toFixed(1),
  'p50',
  lat[n >> 1]!.toFixed(2),
  'p99',
  lat[Math.floor(n * 0.99)]!.toFixed(2),
);
await w.close();
await store.close();
