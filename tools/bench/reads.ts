import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { median } from '../../engine/test/bench/measure.ts';

const run = promisify(execFile);
const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon');
const BARE = fileURLToPath(new URL('./bareServer.js', import.meta.url));

/** One address to ask, and what to send with it. */
export interface Target {
  readonly url: string;
  readonly key?: string;
  /** That answer; undefined where some of them cannot be seen. */
  readonly processes: readonly number[] | undefined;
}

/** Requests a second and latency under 16 connections. */
export interface Throughput {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** A request, of all processes of the side; NaN where it cannot be told. */
  readonly cpuMs: number;
  readonly failed: number;
}

interface Cannon {
  readonly requests: { readonly average: number; readonly total: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
}

const CONNECTIONS = 16;

/** Requests of a run; without it, as many as there is time for. */
const units = process.env['BENCH_UNITS'];

const cannon = async ({ url, key, processes }: Target, seconds: number): Promise<Throughput> => {
  const headers = key === undefined ? [] : ['-H', `x-api-key=${key}`];
  const limit = units === undefined ? ['-d', String(seconds)] : ['-a', units];
  const args = [AUTOCANNON, '-j', '-c', String(CONNECTIONS), ...limit, ...headers, url];
  const spent = processes && cpuSince(processes);
  const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 26 });
  const { requests, latency, non2xx, errors } = JSON.parse(stdout) as Cannon;
  const { p50: p50Ms, p99: p99Ms } = latency;
  const cpuMs = (spent?.() ?? Number.NaN) / Math.max(1, requests.total);
  return { perSecond: requests.average, p50Ms, p99Ms, failed: non2xx + errors, cpuMs };
};

const medianOf = (runs: readonly Throughput[]): Throughput => ({
  perSecond: median(runs.map(({ perSecond }) => perSecond)),
  p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
  cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
  failed: Math.max(...runs.map(({ failed }) => failed)),
});

/** Two servers in turn, so many rounds; medians. */
export const sideBySide = async (
  [ours, bare]: readonly [Target, Target],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<readonly [Throughput, Throughput]> => {
  const runs: [Throughput[], Throughput[]] = [[], []];
  for (const target of [ours, bare]) await cannon(target, Math.min(2, seconds));
  for (let round = 0; round < rounds; round += 1) {
    runs[0].push(await cannon(ours, seconds));
    runs[1].push(await cannon(bare, seconds));
  }
  return [medianOf(runs[0]), medianOf(runs[1])];
};

const once1 = async ({ url, key }: Target): Promise<number> => {
  const began = performance.now();
  const answer = await fetch(url, key === undefined ? {} : { headers: { 'x-api-key': key } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${String(answer.status)} ${text.slice(0, 200)}`);
  return performance.now() - began;
};

/** One request at a time, in turn; medians in ms. */
export const alternating = async (
  [ours, bare]: readonly [Target, Target],
  times: number,
): Promise<readonly [number, number]> => {
  const taken: [number[], number[]] = [[], []];
  for (let n = 0; n < times + 1; n += 1) {
    const [a, b] = [await once1(ours), await once1(bare)];
    if (n === 0) continue;
    taken[0].push(a);
    taken[1].push(b);
  }
  return [median(taken[0]), median(taken[1])];
};

/** Starts the bare server in a process of its own. */
export const startBare = async (databaseUrl: string) => {
  const env = { ...process.env, BENCH_DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [BARE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /listens on (\S+)/.exec(line.toString())?.[1];
  if (url === undefined) throw new Error('the bare server did not start');
  return { url, pid: child.pid ?? 0, stop: () => child.kill() };
};
