import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../../../test/http/support/client.ts';
import { startService } from '../../../test/support/serviceProcess.ts';
import { processCpuMs, round } from './probes.ts';

const TENANTS = 50;
const CALLERS = 16;
const WIDE = { rate_per_second: 100_000, burst: 100_000 };

/** All requests with so many callers; an answer other than 200 is an error. */
const askAll = async (count: number, ask: (n: number) => Promise<Response>): Promise<void> => {
  let next = 0;
  const caller = async () => {
    while (next < count) {
      const answer = await ask(next++);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

/** Processor time of the whole service process, embedded log and projections on PostgreSQL included. */
export const measureHttp = async (base: string, databaseUrl: string) => {
  const dataDir = mkdtempSync(join(base, 'quire-scale-'));
  const service = await startService(dataDir, { DATABASE_URL: databaseUrl });
  try {
    const api = await client(service.url);
    const keys: string[] = [];
    for (let n = 0; n < TENANTS; n += 1) {
      const tenant = `scale-${n}`;
      keys.push(await api.newKey(tenant));
      await api.call('put', `/v1/admin/tenants/${tenant}/rate-limits`, {
        json: { heavy: WIDE, general: WIDE },
      });
      await api.sell(tenant, 10_000_000);
    }
    const headersOf = (n: number) => ({
      'x-api-key': keys[n % TENANTS]!,
      'content-type': 'application/json',
    });
    const burn = (n: number) =>
      fetch(`${service.url}/v1/billing/dspy-examples-charge`, {
        method: 'POST',
        headers: headersOf(n),
        body: JSON.stringify({ tenant_id: `scale-${n % TENANTS}`, idempotency_key: `burn-${n}` }),
      });
    const balance = (n: number) =>
      fetch(`${service.url}/v1/billing/balance/scale-${n % TENANTS}`, { headers: headersOf(n) });
    const cpuOf = async (from: number, count: number, ask: (n: number) => Promise<Response>) => {
      await askAll(from, ask);
      const before = processCpuMs(service.pid);
      await askAll(count, (n) => ask(n + from));
      return (processCpuMs(service.pid) - before) / count;
    };
    return {
      burn_ms: round(await cpuOf(1_000, 5_000, burn)),
      balance_ms: round(await cpuOf(1_000, 5_000, balance)),
    };
  } finally {
    await service.stop('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** Processor time until a service is healthy, ms, on a log (none: an empty one) and what PostgreSQL holds of it. */
export const measureStart = async (
  base: string,
  databaseUrl: string,
  logPath: string | undefined,
): Promise<number> => {
  const dataDir = mkdtempSync(join(base, 'quire-scale-'));
  if (logPath !== undefined) copyFileSync(logPath, join(dataDir, 'events.db'));
  const service = await startService(dataDir, { DATABASE_URL: databaseUrl });
  const ms = processCpuMs(service.pid);
  await service.stop('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
  return ms;
};
