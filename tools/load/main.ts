import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { client } from '../../test/http/support/client.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { startScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { startService } from '../../test/support/serviceProcess.ts';
import { providerSteps, sendOne, type Sent, type Shop } from './traffic.ts';

const seconds = Number(process.env['LOAD_SECONDS'] ?? 300);
const callers = Number(process.env['LOAD_CALLERS'] ?? 12);
const seed = Number(process.env['LOAD_SEED'] ?? Date.now() % 1_000_000);
const TENANTS = 10;
const SAMPLE_MS = 2_000;
const WIDE = { rate_per_second: 10_000, burst: 10_000 };
/** Answers of 500 and above that a fault of a provider explains. */
const EXPLAINED = new Set(['model_provider_error', 'provider_timeout']);

const openShop = async (url: string, providerUrl: string): Promise<Shop> => {
  const api = await client(url);
  const tenants: { readonly tenant_id: string; readonly key: string }[] = [];
  for (let i = 0; i < TENANTS; i += 1) {
    const tenant_id = `load-${i}`;
    const key = await api.newKey(tenant_id);
    const json = { heavy: WIDE, general: WIDE };
    await api.call('put', `/v1/admin/tenants/${tenant_id}/rate-limits`, { json });
    await api.sell(tenant_id, 1_000_000);
    tenants.push({ tenant_id, key });
  }
  return { url, providerUrl, tenants };
};

/** Resident memory of a process, MB. */
const memoryOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0) / 1024;
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

const report = (sent: readonly Sent[]): void => {
  const kinds = new Map<string, Sent[]>();
  for (const one of sent) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one]);
  console.table(
    Object.fromEntries(
      [...kinds].map(([kind, all]) => {
        const ms = all.map((one) => one.ms);
        return [
          kind,
          { requests: all.length, 'p50 ms': median(ms).toFixed(1), 'p99 ms': p99(ms).toFixed(1) },
        ];
      }),
    ),
  );
  const ends = new Map<string, number>();
  for (const { kind, status, code } of sent) {
    const name = `${kind}: ${status}${code === null ? '' : ` ${code}`}`;
    ends.set(name, (ends.get(name) ?? 0) + 1);
  }
  console.table(Object.fromEntries([...ends].sort().map(([name, count]) => [name, { count }])));
};

const audit = async (dataDir: string): Promise<string> => {
  const quire = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
  const env = { ...process.env, DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [quire, 'audit'], {
    env,
    maxBuffer: 2 ** 26,
  });
  return stdout.trim();
};

const main = async (): Promise<boolean> => {
  console.log(`${callers} callers, ${TENANTS} tenants, ${seconds} s, LOAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-load-'));
  const provider = await startScriptedProvider();
  const step = providerSteps(random);
  provider.script('sk-load', () => {
    provider.requests.length = 0;
    return step();
  });
  const env = { LLM_ALLOW_PRIVATE_NETWORK: 'true', HEAVY_CONCURRENCY: '64', LOG_LEVEL: 'error' };
  const service = await startService(dataDir, env);
  const shop = await openShop(service.url, provider.url);
  const endsAt = performance.now() + seconds * 1000;
  const sent: Sent[] = [];
  const memory: number[] = [];
  const call = async (): Promise<void> => {
    while (performance.now() < endsAt) sent.push(await sendOne(shop, random));
  };
  const watch = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      memory.push(await memoryOf(service.pid));
      await pause(SAMPLE_MS);
    }
  };
  await Promise.all([watch(), ...Array.from({ length: callers }, call)]);
  report(sent);

  const third = Math.floor(memory.length / 3);
  const [early, late] = [median(memory.slice(third, 2 * third)), median(memory.slice(2 * third))];
  console.log(
    `memory: start ${memory[0]?.toFixed(0)} MB, middle third ${early.toFixed(0)} MB, last ` +
      `third ${late.toFixed(0)} MB, most ${Math.max(...memory).toFixed(0)} MB`,
  );
  const unexplained = sent.filter(
    ({ status, code }) => (status >= 500 || status === 0) && !EXPLAINED.has(code ?? ''),
  );
  console.log(
    `${sent.length} requests, ${(sent.length / seconds).toFixed(0)}/s; unexplained 5xx: ${unexplained.length}`,
  );
  const holds = await Promise.all(
    shop.tenants.map(async ({ tenant_id, key }) => {
      const headers = { 'x-api-key': key };
      const reply = await fetch(`${service.url}/v1/billing/balance/${tenant_id}`, { headers });
      return ((await reply.json()) as { readonly held_credits: number }).held_credits;
    }),
  );
  console.log(`credits left on hold: ${holds.reduce((sum, held) => sum + held, 0)}`);
  console.log(await audit(dataDir));
  const code = await service.stop('SIGTERM');
  await provider.stop();
  await rm(dataDir, { recursive: true, force: true });
  return unexplained.length === 0 && code === 0 && holds.every((held) => held === 0);
};

process.exitCode = (await main()) ? 0 : 1;
