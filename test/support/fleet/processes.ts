import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { ADMIN_KEY } from '../serviceProcess.ts';
import { freePort } from '../freePort.ts';
import { MAIN, NODE_OPTIONS } from '../program.ts';

const HEAP_ON_SIGNAL = new URL('./heapOnSignal.js', import.meta.url).href;
const OUTPUT_MAX = 20_000;
/** A process that has not said it by then is busy or away, ms. */
const KEPT_WAIT_MS = 5_000;
const STARTED = /Quire (?:listens|runs)/;
/** Said by the process that begins to project. */
const PROJECTS = /"kind":"started"/;
const KEPT = /"kept_bytes":(\d+)/;

export type FleetRole = 'api' | 'projector' | 'worker';

/** Memory and files of a process at a moment. */
export interface Footprint {
  readonly rssMb: number;
  readonly files: number;
}

/** One process of the fleet, which can be ended and started again at the same address. */
export interface Replica {
  readonly name: string;
  readonly role: FleetRole;
  /** Where its API listens. */
  readonly url: string;
  readonly isRunning: () => boolean;
  /** When it last began to project, by `performance.now()`; 0: it has not since its start. */
  readonly projectsSince: () => number;
  readonly start: () => Promise<void>;
  /** From its next start on it is of this release; false: it was before. */
  readonly upgrade: () => boolean;
  readonly kill: (signal?: NodeJS.Signals) => Promise<number | null>;
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
  readonly footprint: () => Promise<Footprint | undefined>;
  /** What is left in memory after its garbage was collected, MB. */
  readonly keptMb: () => Promise<number | undefined>;
  /** The end of what it has printed. */
  readonly output: () => string;
}

const footprintOf = async (pid: number): Promise<Footprint | undefined> => {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const files = (await readdir(`/proc/${pid}/fd`)).length;
    return { rssMb: Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0) / 1024, files };
  } catch {
    return undefined;
  }
};

export interface ReplicaOptions {
  readonly name: string;
  readonly role: FleetRole;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it runs until it is upgraded; by default this release. */
  readonly program?: string | undefined;
}

/** A process with one role. It is not started yet. */
export const replicaOf = async ({
  name,
  role,
  dataDir,
  env,
  program = MAIN,
}: ReplicaOptions): Promise<Replica> => {
  let runs = program;
  const port = await freePort();
  const { PATH = '', HOME = '' } = process.env;
  let child: ChildProcess | undefined;
  let text = '';
  let projectsSince = 0;
  let isUp = false;
  let answers = 0;
  let keptMb = 0;
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  const hear = (chunk: Buffer): void => {
    const said = chunk.toString();
    if (PROJECTS.test(said)) projectsSince = performance.now();
    text = (text + said).slice(-OUTPUT_MAX);
    const kept = KEPT.exec(said)?.[1];
    if (kept === undefined) return;
    keptMb = Number(kept) / 2 ** 20;
    answers += 1;
  };

  const start = async (): Promise<void> => {
    text = '';
    isUp = false;
    projectsSince = 0;
    const own = { ROLES: role, PORT: String(port), DATA_DIR: dataDir, ADMIN_API_KEY: ADMIN_KEY };
    const flags = ['--enable-source-maps', '--expose-gc', '--import', HEAP_ON_SIGNAL];
    const started = spawn(process.execPath, [...NODE_OPTIONS, ...flags, runs], {
      env: { PATH, HOME, LOG_LEVEL: role === 'projector' ? 'info' : 'warn', ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    started.stdout.on('data', hear);
    started.stderr.on('data', hear);
    const exited = once(started, 'exit').then(() => 'exited' as const);
    for (;;) {
      isUp = STARTED.test(text);
      if (isUp) return;
      const end = await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 25))]);
      if (end === 'exited') throw new Error(`${name} ended at its start:\n${text}`);
    }
  };

  const askKept = async (): Promise<number | undefined> => {
    // Before it is up it would die of the signal.
    if (!isUp || !isRunning()) return undefined;
    const before = answers;
    child?.kill('SIGUSR2');
    const late = performance.now() + KEPT_WAIT_MS;
    while (answers === before && performance.now() < late)
      await new Promise((resolve) => setTimeout(resolve, 25));
    return answers === before ? undefined : keptMb;
  };

  return {
    name,
    role,
    url: `http://127.0.0.1:${port}`,
    isRunning,
    projectsSince: () => projectsSince,
    start,
    upgrade: () => {
      const isOlder = runs !== MAIN;
      runs = MAIN;
      return isOlder;
    },
    kill: async (signal = 'SIGKILL') => {
      if (child === undefined || !isRunning()) return child?.exitCode ?? null;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
    freeze: () => Promise.resolve(void child?.kill('SIGSTOP')),
    thaw: () => Promise.resolve(void child?.kill('SIGCONT')),
    footprint: () => footprintOf(child?.pid ?? 0),
    keptMb: askKept,
    output: () => text,
  };
};

/** Starts it, and again when a server that it needs is away: what an orchestrator does. */
export const startUntilUp = async (replica: Replica, attempts = 20): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await replica.start();
      return;
    } catch (error) {
      if (attempt >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
};
