import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import type { ChildMessage, JobOutcome } from '../jobs.ts';
import { watchMemory } from './memoryWatch.ts';
import { keepPaused } from './pausedKeeper.ts';
import { cpuMsOf, signalFamily } from './processFamily.ts';
import { workingTime, type WorkingTime } from './workingTime.ts';

export interface ChildOptions {
  /** The module that the child runs. */
  readonly entry: string;
  readonly memoryMb: number;
  /** As `nice` has it; left out: that of the service. */
  readonly niceness?: number | undefined;
}

export interface JobLimits {
  /** Of the work itself: neither waiting nor being paused counts. */
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
  /** Stops the process where it is, and the time of its job; `resume` lets both go on. */
  pause(): void;
  resume(): void;
  /** CPU time that it has used since it was started, ms; undefined where that cannot be told. */
  readonly cpuMs: () => number | undefined;
  kill(): void;
  readonly exited: Promise<void>;
}

/** Fits any shell that POSIX knows; where `ulimit -d` is missing the memory watch is what limits. */
const SHELL_LINE = 'ulimit -d "$0" 2>/dev/null; ulimit -c 0 2>/dev/null; exec "$@"';

/** Who is busy does not see that its parent has gone, so a parent that ends takes its children along. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/**
 * `ulimit -d` caps all private memory, V8's and native alike, and a growth beyond it fails inside the
 * child. The environment is empty: what a hostile file may reach holds no secret.
 */
export function startChild({ entry, memoryMb, niceness }: ChildOptions): Child {
  const heapMb = Math.max(64, Math.floor(memoryMb / 2));
  const node = [process.execPath, `--max-old-space-size=${heapMb}`, '--no-warnings', entry];
  const child = spawn('/bin/sh', ['-c', SHELL_LINE, String(memoryMb * 1024), ...node], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', MALLOC_ARENA_MAX: '2' },
    serialization: 'advanced',
  });
  lowerPriority(child.pid, niceness);
  child.unref();
  child.channel?.unref();
  living.add(child);
  let alive = true;
  const times: JobTime = { time: undefined };
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      alive = false;
      living.delete(child);
      keepPaused(child.pid, false);
      resolve();
    };
    child.once('exit', end).once('error', end);
  });
  const kill = (): void => {
    alive = false;
    child.kill('SIGKILL');
    // Whoever waits for its end must live to see it.
    child.ref();
  };
  return {
    run: (job, limits) => runJob({ child, kill, memoryMb, times }, job, limits),
    alive: () => alive && child.connected,
    pause: () => {
      times.time?.pause();
      keepPaused(child.pid, true);
      signalFamily(child.pid, 'SIGSTOP');
    },
    resume: () => {
      if (alive) signalFamily(child.pid, 'SIGCONT');
      keepPaused(child.pid, false);
      times.time?.resume();
    },
    cpuMs: () => cpuMsOf(child.pid),
    kill,
    exited,
  };
}

/** Where the platform refuses, the child works at the priority of the service. */
function lowerPriority(pid: number | undefined, niceness: number | undefined): void {
  if (pid === undefined || niceness === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // What cannot be lowered stays as it is.
  }
}

/** The time of the job that a child does now. */
interface JobTime {
  time: WorkingTime | undefined;
}

interface Running {
  readonly child: ChildProcess;
  readonly kill: () => void;
  readonly memoryMb: number;
  readonly times: JobTime;
}

function runJob(
  { child, kill, memoryMb, times }: Running,
  job: unknown,
  limits: JobLimits,
): Promise<JobOutcome> {
  const { deadlineMs, signal, onProgress } = limits;
  return new Promise((resolve) => {
    const settle = (outcome: JobOutcome): void => {
      times.time?.stop();
      times.time = undefined;
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
      if (known.kind === 'progress') onProgress?.(known.progress);
      else settle(outcomeOf(known));
    };
    const onExit = (): void => settle({ kind: 'died' });
    const onAbort = (): void => killWith({ kind: 'aborted' });
    times.time = workingTime(deadlineMs, () => killWith({ kind: 'timed_out' }));
    const stopWatching = watchMemory(child.pid, memoryMb, () => killWith({ kind: 'out_of_memory' }));

    child.ref();
    child.channel?.ref();
    child.on('message', onMessage).once('exit', onExit).once('error', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    child.send(job as object, (error) => {
      if (error !== null) killWith({ kind: 'died' });
    });
  });
}

const outcomeOf = (message: Exclude<ChildMessage, { readonly kind: 'progress' }>): JobOutcome =>
  message.kind === 'answer'
    ? { kind: 'answered', answer: message.answer }
    : { kind: 'failed', message: message.message };
