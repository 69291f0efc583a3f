import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import type { ChildMessage, Job, JobOutcome } from '../jobs.ts';
import { confinementHere, type Confinement } from './confinement.ts';
import { BYTES_AT, sentTo } from './fileBytes.ts';
import { watchMemory } from './memoryWatch.ts';

export interface ChildOptions {
  /** The module that the child runs. */
  readonly entry: string;
  readonly memoryMb: number;
  /** Default: the best that this machine has. */
  readonly confinement?: (() => Promise<Confinement>) | undefined;
}

export interface JobLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Of jobs that tell how far they are. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

/** One process that does one job at a time until it is killed or fails. */
export interface Child {
  run(job: unknown, limits: JobLimits): Promise<JobOutcome>;
  /** False once the process has ended or was killed. */
  readonly alive: () => boolean;
  kill(): void;
  readonly exited: Promise<void>;
}

/**
 * Fits any shell that POSIX knows; where `ulimit -d` is missing the memory watch is what limits. No file that
 * it writes grows beyond 1 GiB (2^21 blocks of 512 bytes).
 */
const SHELL_LINE =
  'ulimit -d "$0" 2>/dev/null; ulimit -c 0 2>/dev/null; ulimit -f 2097152 2>/dev/null; exec "$@"';

/** A child that is not loaded by then is not waited for. */
const START_MS = 30_000;

/** A busy child does not see that its parent has gone, so a parent that ends kills its children. */
const living = new Map<ChildProcess, string | undefined>();
process.once('exit', () => {
  for (const [child, folder] of living) {
    child.kill('SIGKILL');
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
});

/** The PDF library puts pictures into files; undefined where no folder can be made, and only that fails. */
const newFolder = (): Promise<string | undefined> =>
  mkdtemp(join(tmpdir(), 'quire-child-')).catch(() => undefined);

/**
 * `ulimit -d` caps all private memory, V8's and native alike, and a growth beyond it fails inside the
 * child. The environment is empty of everything that is the service's.
 */
function spawned(
  { entry, memoryMb }: ChildOptions,
  { command }: Confinement,
  folder: string | undefined,
): ChildProcess {
  const heapMb = Math.max(64, Math.floor(memoryMb / 2));
  const node = command([`--max-old-space-size=${heapMb}`, '--no-warnings', entry], folder);
  const own = folder === undefined ? {} : { TMPDIR: folder };
  const child = spawn('/bin/sh', ['-c', SHELL_LINE, String(memoryMb * 1024), ...node], {
    // the last is BYTES_AT
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', MALLOC_ARENA_MAX: '2', ...own },
    serialization: 'advanced',
  });
  const bytes = bytesOf(child);
  // a write to a child that has ended fails, and its end is told by `exit`
  bytes.on('error', () => undefined);
  bytes.unref();
  child.unref();
  child.channel?.unref();
  living.set(child, folder);
  return child;
}

const removed = async (folder: string | undefined): Promise<void> => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
};

const bytesOf = (child: ChildProcess): Socket => child.stdio[BYTES_AT] as Socket;

/** The process is started as soon as it is known how this machine confines it. */
export function startChild(options: ChildOptions): Child {
  const { memoryMb, confinement = confinementHere } = options;
  let alive = true;
  let child: ChildProcess | undefined;
  const started = confinement().then(async (confined) => {
    const folder = await newFolder();
    if (alive) child = spawned(options, confined, folder);
    else await removed(folder);
    return child;
  });
  const exited = started.then(async (running) => {
    if (running === undefined) return;
    await new Promise((resolve) => running.once('exit', resolve).once('error', resolve));
    alive = false;
    await removed(living.get(running));
    living.delete(running);
  });
  const ready = started.then((running) => running && readyOf(running));
  const kill = (): void => {
    alive = false;
    child?.kill('SIGKILL');
    // Callers that wait for its end must live to see it.
    child?.ref();
  };
  return {
    run: async (job, limits) => {
      const running = await started;
      if (running === undefined) return { kind: 'died' };
      return runJob({ child: running, ready, kill, memoryMb }, job as Job, limits);
    },
    alive: () => alive && child?.connected !== false,
    kill,
    exited,
  };
}

interface Running {
  readonly child: ChildProcess;
  /** A child is loaded once, and that is no job's time. */
  readonly ready: Promise<void>;
  readonly kill: () => void;
  readonly memoryMb: number;
}

const readyOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if ((message as ChildMessage).kind !== 'ready') return;
      child.off('message', hear);
      resolve();
    };
    child.on('message', hear);
  });

function runJob({ child, ready, kill, memoryMb }: Running, job: Job, limits: JobLimits): Promise<JobOutcome> {
  const { deadlineMs, signal, onProgress } = limits;
  return new Promise((resolve) => {
    let deadline: NodeJS.Timeout | undefined;
    let isSettled = false;
    const settle = (outcome: JobOutcome): void => {
      isSettled = true;
      clearTimeout(deadline);
      stopWatching();
      child.off('message', onMessage).off('exit', onExit).off('error', onExit);
      signal?.removeEventListener('abort', onAbort);
      child.unref();
      child.channel?.unref();
      resolve(outcome);
    };
    const killWith = (outcome: JobOutcome): void => {
      kill();
      settle(outcome);
    };
    const onMessage = (message: unknown): void => {
      const known = message as ChildMessage;
      if (known.kind === 'ready') return;
      if (known.kind === 'progress') onProgress?.(known.progress);
      // not before the file is sent: what is left of one would be taken for the next
      else void sending.then(() => settle(outcomeOf(known)));
    };
    const onExit = (): void => settle({ kind: 'died' });
    const onAbort = (): void => killWith({ kind: 'aborted' });
    const endIn = (ms: number): void => {
      clearTimeout(deadline);
      if (!isSettled) deadline = setTimeout(() => killWith({ kind: 'timed_out' }), ms);
    };
    endIn(START_MS + deadlineMs);
    void ready.then(() => endIn(deadlineMs));
    const stopWatching = watchMemory(child.pid, memoryMb, () => killWith({ kind: 'out_of_memory' }));

    child.ref();
    child.channel?.ref();
    child.on('message', onMessage).once('exit', onExit).once('error', onExit);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const sending = sent(child, job).then((failure) => {
      if (failure !== undefined) killWith(failure);
    });
  });
}

const sent = (child: ChildProcess, job: Job): Promise<JobOutcome | undefined> => {
  const tell = (told: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      child.send(told as object, (error) => (error === null ? resolve() : reject(error)));
    });
  return sentTo({ tell, pipe: bytesOf(child) }, job);
};

const outcomeOf = (message: Exclude<ChildMessage, { readonly kind: 'progress' | 'ready' }>): JobOutcome =>
  message.kind === 'answer'
    ? { kind: 'answered', answer: message.answer }
    : { kind: 'failed', message: message.message };
