import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { HttpRun, HttpLoad } from './httpClient.ts';
import { median, medianRun } from '../../engine/test/bench/measure.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { cpuSince, untilAtRest } from '../../engine/test/bench/cpu.ts';
import { sideProcesses, prepareBurns, verifyBurns, serverSettings } from './contestants.ts';
import { isAsked, tellFigures, tenantsName } from './figures.ts';
import { startBare } from './reads.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { EMPTY_DATABASE } from './live.ts';

/** The side that `npm start` is. */
const EMBEDDED = 'Quire, embedded';

/** Runs of one side, one a round. */
interface SideRuns {
  readonly side: string;
  readonly runs: readonly HttpRun[];
}

const spread = (values: readonly number[], digits: number): string =>
  `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;

/** A row a side: medians, and what it is of `base` in the same round, for rounds differ more than sides. */
const comparison = (sides: readonly SideRuns[], base: readonly HttpRun[]) =>
  sides.map(({ side, runs }) => {
    const { perSecond, p50Ms, p99Ms, cpuMs } = medianRun(runs);
    const inRound = (figure: 'perSecond' | 'p99Ms' | 'cpuMs') =>
      runs.map((run, n) => (run[figure] ?? Number.NaN) / (base[n]?.[figure] ?? Number.NaN));
    const rates = runs.map((run) => run.perSecond);
    return {
      side,
      'req/s': Math.round(perSecond),
      spread: spread(rates, 0),
      'p50 / p99 ms': `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`,
      ratio: median(inRound('perSecond')).toFixed(2),
      'its spread': spread(inRound('perSecond'), 2),
      'ratio of p99': median(inRound('p99Ms')).toFixed(2),
      'CPU ms/req': cpuMs?.toFixed(3) ?? 'unknown',
      'ratio of CPU': median(inRound('cpuMs')).toFixed(2),
      failed: runs.reduce((sum, run) => sum + run.failed, 0),
    };
  });

/** What `npm start` makes of Express with one statement, by the median of the rounds. */
const ofExpress = (sides: readonly SideRuns[], figure: 'perSecond' | 'p99Ms'): number => {
  const [ours, theirs] = [sides.find(({ side }) => side === EMBEDDED)?.runs ?? [], sides.at(-1)?.runs ?? []];
  return median(ours.map((run, n) => run[figure] / (theirs[n]?.[figure] ?? Number.NaN)));
};

const CLIENT = fileURLToPath(new URL('./httpClientMain.js', import.meta.url));

/** One server under load. */
interface HttpSide {
  readonly name: string;
  readonly burn: (load: SideLoad) => Promise<HttpRun>;
  /** undefined: nothing to compare. */
  readonly readBalance: ((load: SideLoad) => Promise<HttpRun>) | undefined;
  /** Throws when what tenants have left is not what was acknowledged. */
  readonly checkBooks: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How many of the side's tenants take part, over how many connections, for how long. */
interface SideLoad extends Pick<HttpLoad, 'connections' | 'seconds' | 'units' | 'seed'> {
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
const bareSide = async (databaseUrl: string, tenants: number): Promise<HttpSide> => {
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
const quireSide = async (
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

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const rounds = Number(env['BENCH_ROUNDS'] ?? 5);
const units = env['BENCH_UNITS'];
const seconds = Number(env['BENCH_SECONDS'] ?? (units === undefined ? 4 : 600));
const limits = { seconds, ...(units !== undefined && { units: Number(units) }) };
const tenantsMax = Number(env['BENCH_TENANTS'] ?? 1_000);
/** Before the first round of each load: code that has not run is slow. */
const WARM_UP_SECONDS = 2;
const only = env['BENCH_ONLY'];

const many = `${tenantsMax.toLocaleString('en')} tenants`;
const LOADS = [1, tenantsMax].flatMap((tenants) =>
  [16, 64].map((connections) => ({
    title: `${tenants === 1 ? 'one hot tenant' : many}, ${connections} connections`,
    tenants,
    connections,
  })),
);

type Ask = (side: HttpSide) => ((load: SideLoad) => Promise<HttpRun>) | undefined;

/** Sides take turns within a round; the last one is what the others are compared with. */
const compared = async (
  title: string,
  {
    sides,
    ask,
    load,
  }: { sides: readonly HttpSide[]; ask: Ask; load: Omit<SideLoad, 'seconds' | 'units' | 'seed'> },
): Promise<void> => {
  if (!isAsked(title, only)) return;
  const taking = sides.flatMap((side) => {
    const run = ask(side);
    return run === undefined ? [] : [{ side: side.name, run, runs: [] as HttpRun[] }];
  });
  for (const { run } of taking)
    await run({ ...load, ...limits, seconds: Math.min(WARM_UP_SECONDS, seconds), seed: 0 });
  for (let round = 1; round <= rounds; round += 1)
    for (const { run, runs } of taking) runs.push(await run({ ...load, ...limits, seed: round }));
  console.log(`\n${title}`);
  console.table(comparison(taking, taking.at(-1)?.runs ?? []));
  const [kind = ''] = title.split(':');
  const name = `${tenantsName(load.tenants)}, ${load.connections} connections`;
  tellFigures({
    [`HTTP ${kind} ÷ Express: ${name}`]: ofExpress(taking, 'perSecond'),
    [`p99 of HTTP ${kind} ÷ Express's: ${name}`]: ofExpress(taking, 'p99Ms'),
  });
};

const sql = postgresSql({ url: databaseUrl });
await sql.script(EMPTY_DATABASE);
const onPostgres = await quireSide('Quire, DATABASE_URL', { DATABASE_URL: databaseUrl }, tenantsMax);
const embedded = await quireSide(EMBEDDED, {}, tenantsMax);
const bare = await bareSide(databaseUrl, tenantsMax);
const sides = [onPostgres, embedded, bare];
console.log(`PostgreSQL: ${await serverSettings(databaseUrl)}`);
const each = units === undefined ? `${seconds} s` : `${units} requests`;
console.log(`${rounds} rounds of ${each} each; medians, and the ratios of each round`);
try {
  for (const { title, ...load } of LOADS)
    await compared(`burns: ${title}`, { sides, ask: ({ burn }) => burn, load });
  for (const tenants of [1, tenantsMax]) {
    const load = { tenants, connections: 16 };
    const title = `balance reads: ${tenants === 1 ? 'one tenant' : many}, 16 connections`;
    await compared(title, { sides, ask: ({ readBalance }) => readBalance, load });
  }
  for (const side of sides) await side.checkBooks();
  console.log('\nAll books balance.');
} finally {
  for (const side of sides) await side.stop();
  await sql.script(EMPTY_DATABASE);
  await sql.close();
}
