import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { statOf } from '../../kernel/tempFolders.ts';
import { HURRY_AFTER, type ChildMessage, type Job, type JobOutcome, type ToldToChild } from './jobs.ts';
import { confinementHere, type Confinement } from '../confinement/confinement.ts';
import { sentTo, type Sending } from './fileBytes.ts';
import { bytesOf, forget, newFolder, removed, spawned, type SpawnOptions } from './spawnChild.ts';

const PERIOD_MS = 100;
const PAGE_BYTES = 4096;

/**
 * Calls `onExceeded` once when the process holds more than `memoryMb`. It sees what `ulimit -d` does not
 * (shared and file-backed memory) and stands in where a shell has no such limit. Needs Linux's /proc;
 * elsewhere it watches nothing, and the heap limit and the deadline are what is left.
 */
function watchMemory(pid: number | undefined, memoryMb: number, onExceeded: () => void): () => void {
  if (pid === undefined || process.platform !== 'linux') return () => undefined;
  const bytesMax = memoryMb * 1024 * 1024;
  let reading = false;
  const timer = setInterval(() => {
    if (reading) return;
    reading = true;
    void residentBytes(pid).then((bytes) => {
      reading = false;
      if (bytes > bytesMax && !stopped) onExceeded();
    });
  }, PERIOD_MS);
  let stopped = false;
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** 0 when the process is gone. A process that was started by a launcher that stays counts with it. */
async function residentBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    const own = Number(pages) * PAGE_BYTES;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ');
    const started = await Promise.all(children.filter(Boolean).map((child) => residentBytes(Number(child))));
    return started.reduce((sum, bytes) => sum + bytes, own);
  } catch {
    return 0;
  }
}

/** A deadline of working time: it does not run while the work is paused. */
interface WorkingTime {
  readonly pause: () => void;
  readonly resume: () => void;
  /** `onOver` is not called any more. */
  readonly stop: () => void;
}

function workingTime(deadlineMs: number, onOver: () => void): WorkingTime {
  let leftMs = deadlineMs;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onOver, leftMs);
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    pause: () => {
      if (timer === undefined) return;
      stop();
      leftMs = Math.max(0, leftMs - (performance.now() - since));
    },
    resume: () => {
      if (timer !== undefined) return;
      since = performance.now();
      timer = setTimeout(onOver, leftMs);
    },
    stop,
  };
}

/** Linux counts CPU time for user programs in hundredths of a second, whatever its own clock. */
const TICK_MS = 10;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** A process and those below it, itself first: a launcher may stand between us and what works. */
export function familyOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

/** CPU time that one process has used, its ended children included, ms. */
const usedMs = (pid: number): number => {
  // utime, stime, cutime and cstime are fields 14 to 17
  const times = statOf(pid)?.slice(11, 15) ?? [];
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
};

/** CPU time of a process and those below it, ms; undefined where that cannot be told (no /proc, or gone). */
export function cpuMsOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  const sum = familyOf(pid).reduce((total, one) => total + usedMs(one), 0);
  return sum === 0 ? undefined : sum;
}

/** Sends a signal to a process and those below it; one that is gone meanwhile is left out. */
function signalFamily(pid: number | undefined, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === undefined) return;
  for (const one of process.platform === 'linux' ? familyOf(pid) : [pid])
    try {
      process.kill(one, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
}

/** Reads the processes that are paused, one line for each change; ends the last of them when we are gone. */
const SHELL_LINE = 'p=; while read -r line; do p=$line; done; [ -n "$p" ] && kill -9 $p';

const paused = new Set<number>();
let told: Writable | undefined;

/** In a session of its own, so that what ends a terminal's processes leaves it to its task. */
const startKeeper = (): Writable | undefined => {
  const keeper = spawn('/bin/sh', ['-c', SHELL_LINE], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  const forget = (): void => {
    told = undefined;
  };
  keeper.once('error', forget).once('exit', forget);
  keeper.stdin.on('error', forget);
  keeper.unref();
  return keeper.stdin;
};

const tell = (): void => {
  told ??= startKeeper();
  told?.write(`${[...paused].flatMap(familyOf).join(' ')}\n`);
};

/**
 * A stopped process does not see that its parent was killed, and would be left for ever: a shell waits
 * beside for our end, and ends those that are paused then.
 */
function keepPaused(pid: number | undefined, isPaused: boolean): void {
  if (pid === undefined || paused.has(pid) === isPaused) return;
  if (isPaused) paused.add(pid);
  else paused.delete(pid);
  tell();
}

export interface ChildOptions extends SpawnOptions {
  /** Default: the best that this machine has. */
  readonly confinement?: (() => Promise<Confinement>) | undefined;
}

export interface JobLimits {
  /** Of the work itself: neither waiting nor being paused counts. */
  readonly deadlineMs: number;
  /** For parsing the pages of a PDF, which nothing but its end interrupts. Left out: all of the deadline. */
  readonly parsingMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Of jobs that tell how far they are. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** The child keeps the file of the job's request open: it is not sent again, and stays. */
  readonly isKept?: boolean | undefined;
}

/** One process that does one job at a time until it is killed or fails. */
export interface Child {
  run(job: unknown, limits: JobLimits): Promise<JobOutcome>;
  /** False once the process has ended or was killed. */
  readonly alive: () => boolean;
  /** Has it forget the file that it keeps open. */
  putAway(): void;
  /** Stops the process where it is, and the time of its job; `resume` lets both go on. */
  pause(): void;
  resume(): void;
  /** CPU time that it has used since it was started, ms; undefined where that cannot be told. */
  readonly cpuMs: () => number | undefined;
  kill(): void;
  readonly exited: Promise<void>;
}

/** A child that is not loaded by then is not waited for. */
const START_MS = 30_000;

/** The process is started as soon as it is known how this machine confines it. */
export function startChild(options: ChildOptions): Child {
  const { memoryMb, confinement = confinementHere } = options;
  const times = jobTimes();
  let alive = true;
  let child: ChildProcess | undefined;
  const started = confinement().then(async (confined) => {
    const folder = await newFolder();
    if (!alive) await removed(folder);
    else {
      child = spawned(options, confined, folder);
      if (times.isPaused()) stopFamily(child.pid);
    }
    return child;
  });
  const exited = started.then(async (running) => {
    if (running === undefined) return;
    await new Promise((resolve) => running.once('exit', resolve).once('error', resolve));
    alive = false;
    keepPaused(running.pid, false);
    await forget(running);
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
      return runJob({ child: running, ready, kill, memoryMb, times }, job as Job, limits);
    },
    alive: () => alive && child?.connected !== false,
    putAway: () => {
      if (alive && child?.connected === true) child.send({ kind: 'putAway' } satisfies ToldToChild);
    },
    pause: () => {
      times.pause();
      stopFamily(child?.pid);
    },
    resume: () => {
      if (alive) signalFamily(child?.pid, 'SIGCONT');
      keepPaused(child?.pid, false);
      times.resume();
    },
    cpuMs: () => cpuMsOf(child?.pid),
    kill,
    exited,
  };
}

const stopFamily = (pid: number | undefined): void => {
  keepPaused(pid, true);
  signalFamily(pid, 'SIGSTOP');
};

type Due = readonly [ms: number, happens: () => void];

/** The time of the job that a child does now: it stands still while the child is paused. */
interface JobTimes {
  /** Ends what ran before, and begins anew: what is to happen after so many ms of work. */
  readonly begin: (...due: readonly Due[]) => void;
  /** Adds what is to happen unless the one that was added before is taken back; undefined: takes it back. */
  readonly step: (due: Due | undefined) => void;
  /** Since it began. */
  readonly workedMs: () => number;
  readonly stop: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly isPaused: () => boolean;
}

const jobTimes = (): JobTimes => {
  let times: readonly WorkingTime[] = [];
  let ofStep: WorkingTime | undefined;
  let worked = { ms: 0, since: performance.now() };
  let paused = false;
  const all = (): readonly WorkingTime[] => (ofStep === undefined ? times : [...times, ofStep]);
  const started = ([ms, happens]: Due): WorkingTime => {
    const time = workingTime(ms, happens);
    if (paused) time.pause();
    return time;
  };
  const stop = (): void => {
    for (const time of all()) time.stop();
    [times, ofStep] = [[], undefined];
  };
  const workedMs = (): number => worked.ms + (paused ? 0 : performance.now() - worked.since);
  return {
    begin: (...due) => {
      stop();
      worked = { ms: 0, since: performance.now() };
      times = due.map(started);
    },
    step: (due) => {
      ofStep?.stop();
      ofStep = due && started(due);
    },
    workedMs,
    stop,
    pause: () => {
      worked = { ...worked, ms: workedMs() };
      paused = true;
      for (const time of all()) time.pause();
    },
    resume: () => {
      if (paused) worked = { ...worked, since: performance.now() };
      paused = false;
      for (const time of all()) time.resume();
    },
    isPaused: () => paused,
  };
};

interface Running {
  readonly child: ChildProcess;
  /** A child is loaded once, and that is no job's time. */
  readonly ready: Promise<void>;
  readonly kill: () => void;
  readonly memoryMb: number;
  readonly times: JobTimes;
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

function runJob(running: Running, job: Job, limits: JobLimits): Promise<JobOutcome> {
  const { child, ready, kill, memoryMb, times } = running;
  const { deadlineMs, parsingMs, signal, onProgress, isKept = false } = limits;
  return new Promise((resolve) => {
    let isSettled = false;
    let reading: readonly number[] | undefined;
    const settle = (ended: JobOutcome): void => {
      const outcome = { ...ended, reading, workedMs: times.workedMs() };
      isSettled = true;
      times.stop();
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
      else if (known.kind === 'reading') {
        reading = known.pages;
        times.step(known.isParsed || parsingMs === undefined ? undefined : [parsingMs, timedOut]);
      }
      // not before the file is sent: what is left of one would be taken for the next
      else void sending.then(() => settle(outcomeOf(known)));
    };
    const onExit = (): void => settle({ kind: 'died' });
    const onAbort = (): void => killWith({ kind: 'aborted' });
    const timedOut = (): void => killWith({ kind: 'timed_out' });
    const hurry = (): void => void child.send({ kind: 'hurry' } satisfies ToldToChild, () => undefined);
    times.begin([START_MS + deadlineMs, timedOut]);
    void ready.then(() => {
      if (!isSettled) times.begin([HURRY_AFTER * deadlineMs, hurry], [deadlineMs, timedOut]);
    });
    const stopWatching = watchMemory(child.pid, memoryMb, () => killWith({ kind: 'out_of_memory' }));

    child.ref();
    child.channel?.ref();
    child.on('message', onMessage).once('exit', onExit).once('error', onExit);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const sending = sent(child, { job, isKept, deadlineMs }).then((failure) => {
      if (failure !== undefined) killWith(failure);
    });
  });
}

const sent = (child: ChildProcess, sending: Sending): Promise<JobOutcome | undefined> => {
  const tell = (told: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      child.send(told as object, (error) => (error === null ? resolve() : reject(error)));
    });
  return sentTo({ tell, pipe: bytesOf(child) }, sending);
};

const outcomeOf = (
  message: Exclude<ChildMessage, { readonly kind: 'progress' | 'ready' | 'reading' }>,
): JobOutcome => (message.kind === 'answer' ? { ...message, kind: 'answered' } : message);
