import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ADMIN_KEY, startService } from '../../../test/support/serviceProcess.ts';
import type { HttpLoad, HttpRun } from './httpClient.ts';
import { cpuSince, untilAtRest } from '../../../engine/test/bench/cpu.ts';
import { sideProcesses } from '../databaseProcesses.ts';
import { startBare } from '../reads.ts';
import { prepareBurns, verifyBurns } from './sqlBurns.ts';

const CLIENT = fileURLToPath(new URL('./httpClientMain.js', import.meta.url));

/** One server under load. */
export interface HttpSide {
  readonly name: string;
  readonly burn: (load: SideLoad) => Promise<HttpRun>;
  /** undefined: nothing to compare. */
  readonly readBalance: ((load: SideLoad) => Promise<HttpRun>) | undefined;
  /** Throws when what tenants have left is not what was acknowledged. */
  readonly checkBooks: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How many of the side's tenants take part, over how many connections, for how long. */
export interface SideLoad extends Pick<HttpLoad, 'connections' | 'seconds' | 'units' | 'seed'> {
  readonly tenants: number;
}

/**
 * Runs a load in a client process of its own, which the CPU time of the side leaves out. What the side has still to do
 * after the last answer counts.
 */
const clientRun = async (load: HttpLoad, processes: readonly number[] | undefined): Promise<HttpRun> => {
  if (processes === undefined) return timedRun(load);
  await untilAtRest(processes);
  const spent = cpuSince(processes);
  const run = await timedRun(load);
  await untilAtRest(processes);
  return { ...run, cpuMs: spent() / Math.max(1, run.done) };
};

const timedRun = async (load: HttpLoad): Promise<HttpRun> => {
  const child = spawn(process.execPath, [CLIENT], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(load));
  const run = JSON.parse(await text(child.stdout)) as HttpRun;
  if (run.failed > 0) console.log(`${run.failed} failed, the first with ${run.firstFailure}`);
  return run;
};

let runs = 0;
const nextRun = (): string => `r${String((runs += 1))}`;

/** Express with one statement on PostgreSQL; it answers balances from Quire's table. */
export const bareSide = async (databaseUrl: string, tenants: number): Promise<HttpSide> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  await prepareBurns(pool, tenants);
  const bare = await startBare(databaseUrl);
  const processes = await sideProcesses(bare.pid, databaseUrl);
  const ids = Array.from({ length: tenants }, (_, n) => ({ id: `t${n}`, key: '' }));
  let done = 0;
  const send = (load: SideLoad, request: HttpLoad['request']) =>
    clientRun(
      { ...load, url: bare.url, tenants: ids.slice(0, load.tenants), request, run: nextRun() },
      processes,
    );
  return {
    name: 'Express + one statement',
    burn: async (load) => {
      const body = '{"tenant_id":"{tenant}","idempotency_key":"{n}","credits":1}';
      const run = await send(load, { method: 'POST', path: '/burn', body });
      done += run.done - run.failed;
      return run;
    },
    readBalance: (load) => send(load, { method: 'GET', path: '/balance/{tenant}', body: '' }),
    checkBooks: () => verifyBurns(pool, tenants, done),
    stop: async () => {
      bare.stop();
      await pool.query('drop schema if exists bench_burns cascade');
      await pool.end();
    },
  };
};

/** Credits of one charge, by the billing config of the first start. */
const FEE = 5_000;
const START_CREDITS = 1_000_000_000_000;
/** Requests of the set-up at a time. */
const SET_UP_AT_ONCE = 32;

const adminOf = (url: string) => async (method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Readonly<Record<string, unknown>>;
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
  return json;
};

type Admin = ReturnType<typeof adminOf>;

const inTurns = async (count: number, once: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async () => {
    while (next < count) await once((next += 1) - 1);
  };
  await Promise.all(Array.from({ length: SET_UP_AT_ONCE }, worker));
};

/** Paying tenants with credits, a key each, and the hot one with the highest limits there are. */
const setUp = async (admin: Admin, tenants: number): Promise<HttpLoad['tenants']> => {
  const widest = { general: { rate_per_second: 10_000, burst: 10_000 } };
  for (const tenant of ['quire:admin', 't0'])
    await admin('PUT', `/v1/admin/tenants/${tenant}/rate-limits`, widest);
  const keys: string[] = [];
  await inTurns(tenants, async (n) => {
    const path = `/v1/admin/tenants/t${n}`;
    await admin('POST', `${path}/adjust-credits`, { credits: START_CREDITS, reason: 'start' });
    await admin('POST', `${path}/set-plan`, { plan: 'paid' });
    keys[n] = String((await admin('POST', '/v1/api-keys', { tenant_id: `t${n}` }))['key']);
  });
  return keys.map((key, n) => ({ id: `t${n}`, key }));
};

const checkBalances = async (admin: Admin, answered: readonly number[]): Promise<void> => {
  await inTurns(answered.length, async (n) => {
    const { balance_credits } = await admin('GET', `/v1/billing/balance/t${n}`);
    const expected = START_CREDITS - FEE * (answered[n] ?? 0);
    if (balance_credits !== expected)
      throw new Error(`t${n}: ${String(balance_credits)} credits are not ${expected}`);
  });
  const { drifted } = await admin('GET', '/v1/admin/reconciliation');
  if (!Array.isArray(drifted) || drifted.length > 0) throw new Error(`drifted: ${JSON.stringify(drifted)}`);
};

/** The whole service, with what the environment says. */
export const quireSide = async (
  name: string,
  env: Readonly<Record<string, string>>,
  tenants: number,
): Promise<HttpSide> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-bench-http-'));
  const service = await startService(dataDir, env);
  const processes = await sideProcesses(service.pid, env['DATABASE_URL']);
  const admin = adminOf(service.url);
  const all = await setUp(admin, tenants);
  const answered = all.map(() => 0);
  const send = (load: SideLoad, request: HttpLoad['request']) =>
    clientRun(
      { ...load, url: service.url, tenants: all.slice(0, load.tenants), request, run: nextRun() },
      processes,
    );
  return {
    name,
    burn: async (load) => {
      const body = '{"tenant_id":"{tenant}","idempotency_key":"{n}","examples_count":1}';
      const run = await send(load, { method: 'POST', path: '/v1/billing/dspy-examples-charge', body });
      for (const [n, count] of run.answered.entries()) answered[n] = (answered[n] ?? 0) + count;
      return run;
    },
    readBalance: (load) => send(load, { method: 'GET', path: '/v1/billing/balance/{tenant}', body: '' }),
    checkBooks: () => checkBalances(admin, answered),
    stop: async () => {
      await service.stop('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
