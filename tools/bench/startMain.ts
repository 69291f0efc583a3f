import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  processTree,
  growDataDir,
  startOn,
  type ProcessMemory,
  type Growth,
  type Started,
} from './grownLog.ts';
import { median } from '../../engine/test/bench/measure.ts';
import { tellFigures } from './figures.ts';

interface Start {
  /** From the command until the service says that it is ready, and gives the console's page. */
  readonly readySeconds: number;
  /** CPU time of all processes until then; it depends less on what else the machine does. */
  readonly cpuSeconds: number;
  /** After `idleSeconds` without a request. */
  readonly idle: readonly ProcessMemory[];
}

interface StartOptions {
  /** The checkout that is started by `npm start`. */
  readonly checkout: string;
  readonly dataDir: string;
  readonly port: number;
  readonly idleSeconds: number;
}

const PATIENCE_MS = 120_000;
const ASK_EVERY_MS = 10;

const answers = async (url: string): Promise<boolean> => {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
};

const isReady = async (port: number): Promise<boolean> => {
  const url = `http://127.0.0.1:${port}`;
  return (await answers(`${url}/health/ready`)) && (await answers(`${url}/`));
};

/** `npm start`, until it is ready and idle; it has ended when this resolves. */
const timedStart = async (options: StartOptions): Promise<Start> => {
  const { checkout, dataDir, port, idleSeconds } = options;
  const began = performance.now();
  // What tools hand on to their own children the service does not know.
  const { QUIRE_BUNDLE: _, ...env } = process.env;
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: checkout,
    env: { ...env, DATA_DIR: dataDir, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const ended = once(npm, 'exit');
  const group = npm.pid ?? 0;
  try {
    while (!(await isReady(port))) {
      if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}`);
      if (performance.now() - began > PATIENCE_MS) throw new Error(`nothing became ready at port ${port}`);
      await wait(ASK_EVERY_MS);
    }
    const readySeconds = (performance.now() - began) / 1000;
    const cpuSeconds = processTree(group).reduce((sum, each) => sum + each.cpuSeconds, 0);
    await wait(idleSeconds * 1000);
    return { readySeconds, cpuSeconds, idle: processTree(group) };
  } finally {
    process.kill(-group, 'SIGTERM');
    await ended;
  }
};

const grownRow = (starts: readonly Started[]) => {
  const of = (figure: 'healthySeconds' | 'readySeconds' | 'cpuSeconds' | 'rssMb', digits: number) =>
    median(starts.map((start) => start[figure])).toFixed(digits);
  return {
    'to healthy, s': of('healthySeconds', 2),
    'to ready, s': of('readySeconds', 2),
    'CPU until then, s': of('cpuSeconds', 2),
    'RSS then, MB': of('rssMb', 0),
  };
};

/** Starts of the built service on a log of that size: the first, that makes the read models, and later ones. */
const benchGrownStart = async (growth: Growth, rounds: number): Promise<void> => {
  const dataDir = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'quire-start-'));
  try {
    const first = await growDataDir(dataDir, growth);
    const later: Started[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = await startOn(dataDir);
      later.push(start);
      await start.service.stop('SIGTERM');
    }
    console.table({ 'first start': grownRow([first]), 'later start': grownRow(later) });
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
};

/** The checkout that is measured: this one, or another by `BENCH_CHECKOUT`. What it has built is removed. */
const checkout = process.env['BENCH_CHECKOUT'] ?? fileURLToPath(new URL('../../../', import.meta.url));
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const idleSeconds = Number(process.env['BENCH_IDLE_SECONDS'] ?? 10);
const port = Number(process.env['BENCH_PORT'] ?? 18080);

/** Of a log that the service is started on, by `BENCH_EVENTS` and `BENCH_TENANTS`; without it, on nothing. */
const events = Number(process.env['BENCH_EVENTS'] ?? 0);
if (events > 0) {
  await benchGrownStart({ events, tenants: Number(process.env['BENCH_TENANTS'] ?? 10_000) }, rounds);
  process.exit();
}

const first: Start[] = [];
const later: Start[] = [];
for (let round = 0; round < rounds; round += 1) {
  for (const built of ['dist', 'console/dist'])
    await rm(join(checkout, built), { recursive: true, force: true });
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-start-'));
  const options = { checkout, dataDir, port, idleSeconds };
  first.push(await timedStart(options));
  later.push(await timedStart(options));
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
}

const isService = (command: string): boolean => /^\S*node /.test(command) && !command.includes('npm');
const row = (starts: readonly Start[]) => {
  const memory = starts.map(({ idle }) => idle.filter(({ command }) => !/^(npm|sh) /.test(command)));
  const ofService = memory.map((all) => all.find(({ command }) => isService(command)));
  const fixed = (values: readonly number[], digits: number): string => median(values).toFixed(digits);
  return {
    'to ready, s': fixed(
      starts.map(({ readySeconds }) => readySeconds),
      2,
    ),
    'CPU until then, s': fixed(
      starts.map(({ cpuSeconds }) => cpuSeconds),
      2,
    ),
    'idle RSS, MB': fixed(
      ofService.map((one) => one?.rssMb ?? 0),
      0,
    ),
    'idle PSS, MB': fixed(
      ofService.map((one) => one?.pssMb ?? 0),
      0,
    ),
    'other processes': Math.max(...memory.map((all) => all.length - 1)),
  };
};
const rows = { 'first start': row(first), 'later start': row(later) };
console.table(rows);
tellFigures({
  'first start until ready, s': Number(rows['first start']['to ready, s']),
  'later start until ready, s': Number(rows['later start']['to ready, s']),
  'idle memory (RSS), MB': Number(rows['later start']['idle RSS, MB']),
});
