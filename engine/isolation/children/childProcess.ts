import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { statOf } from '../../kernel/tempFolders.ts';
import { HURRY_AFTER, type ChildMessage, type Job, type JobOutcome, type ToldToChild } from './jobs.ts';
import { confinementHere, type Confinement } from '../confinement/confinement.ts';
import { sentTo, type Sending } from './fileBytes.ts';
import { jobTimes, type Due, type JobTimes } from './jobTimes.ts';
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
  /** How long a job may take at the least on a machine that has no time for it. Default: 10 s. */
  readonly patienceMs?: number | undefined;
}

export interface JobLimits {
  /** Of the work itself, on a processor: neither waiting for one nor being paused counts. */
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

/** For loading a child, beside the time that its first job may take. */
const START_MS = 30_000;

/**
 * Of the deadline: how long a job may take in all, and at the least. A machine with many times more to do than it has
 * processors for lets a child work for a part of the time only; what is not done by then was kept from it by others.
 */
const PATIENCE = 4;
const PATIENCE_MS = 10_000;

/** The process is started as soon as it is known how this machine confines it. */
export function startChild(options: ChildOptions): Child {
  const { memoryMb, confinement = confinementHere, patienceMs = PATIENCE_MS } = options;
  let alive = true;
  let child: ChildProcess | undefined;
  const cpuMs = (): number | undefined => cpuMsOf(child?.pid);
  const times = jobTimes(cpuMs);
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
  const loading = started.then((running) => {
    if (running === undefined) return undefined;
    const ready = readyOf(running);
    return { ready, startFailure: startFailureOf(running, ready) };
  });
  const kill = (): void => {
    alive = false;
    child?.kill('SIGKILL');
    // Callers that wait for its end must live to see it.
    child?.ref();
  };
  return {
    run: async (job, limits) => {
      const [running, loaded] = [await started, await loading];
      if (running === undefined || loaded === undefined) return { kind: 'died' };
      return runJob({ child: running, ...loaded, kill, memoryMb, patienceMs, times }, job as Job, limits);
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
    cpuMs,
    kill,
    exited,
  };
}

const stopFamily = (pid: number | undefined): void => {
  keepPaused(pid, true);
  signalFamily(pid, 'SIGSTOP');
};

/** Kept of what a child writes before it is loaded, and shown of it, characters. */
const [KEPT_WORDS, SHOWN_WORDS] = [4_000, 300];
/** How long the last words of a child that has ended are waited for, ms. */
const LAST_WORDS_MS = 1_000;

/** How a child ended that was never loaded. */
type StartFailure = (code: number | null, killedBy: string | null) => Promise<JobOutcome>;

/** Hears what a child writes until it is loaded; what it writes later may be of a document, and is dropped. */
const startFailureOf = (child: ChildProcess, ready: Promise<void>): StartFailure => {
  let words = '';
  let isLoaded = false;
  void ready.then(() => {
    [isLoaded, words] = [true, ''];
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (!isLoaded) words = (words + text).slice(0, KEPT_WORDS);
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return async (code, killedBy) => {
    const late = new Promise<void>((resolve) => void setTimeout(resolve, LAST_WORDS_MS).unref());
    await Promise.race([closed, late]);
    const said = words.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN_WORDS);
    const how = killedBy === null ? `with code ${String(code)}` : `by ${killedBy}`;
    // The machine kills what it has no memory for: another one may start later.
    if (killedBy === 'SIGKILL') return { kind: 'starved' };
    return { kind: 'not_started', message: said === '' ? `ended ${how}` : `ended ${how}: ${said}` };
  };
};

const notMade = ({ message }: Error): JobOutcome => ({
  kind: 'not_started',
  message: `could not be made: ${message}`,
});

/** A child is told to hurry before its time is over. */
const duesOf = (child: ChildProcess, ms: number, over: () => void): readonly Due[] => [
  [HURRY_AFTER * ms, () => void child.send({ kind: 'hurry' } satisfies ToldToChild, () => undefined)],
  [ms, over],
];

interface Running {
  readonly child: ChildProcess;
  /** A child is loaded once, and that is no job's time. */
  readonly ready: Promise<void>;
  readonly startFailure: StartFailure;
  readonly kill: () => void;
  readonly memoryMb: number;
  readonly patienceMs: number;
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
  const { child, ready, startFailure, kill, memoryMb, times } = running;
  const { deadlineMs, parsingMs, signal, onProgress, isKept = false } = limits;
  return new Promise((resolve) => {
    let isSettled = false;
    let isReady = false;
    let reading: readonly number[] | undefined;
    const settle = (ended: JobOutcome): void => {
      if (isSettled) return;
      const outcome = { ...ended, reading, workedMs: times.workedMs() };
      isSettled = true;
      times.stop();
      stopWatching();
      child.off('message', onMessage).off('exit', onExit).off('error', onError);
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
    // It has not seen the file before it is loaded.
    const onExit = (code: number | null, killedBy: string | null): void =>
      isReady ? settle({ kind: 'died' }) : void startFailure(code, killedBy).then(settle);
    const onError = (error: Error): void => settle(notMade(error));
    const onAbort = (): void => killWith({ kind: 'aborted' });
    const timedOut = (): void => killWith({ kind: 'timed_out' });
    const starved = (): void => killWith({ kind: 'starved' });
    const patienceMs = Math.max(running.patienceMs, PATIENCE * deadlineMs);
    times.begin({ passed: [[START_MS + patienceMs, starved]] });
    void ready.then(() => {
      isReady = true;
      const passed = duesOf(child, patienceMs, starved);
      if (!isSettled) times.begin({ worked: duesOf(child, deadlineMs, timedOut), passed });
    });
    const stopWatching = watchMemory(child.pid, memoryMb, () => killWith({ kind: 'out_of_memory' }));

    child.ref();
    child.channel?.ref();
    child.on('message', onMessage).once('exit', onExit).once('error', onError);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const sending = sent(child, { job, isKept, deadlineMs }).then((failure) => {
      // How one ends that is not loaded is told by its end, which may have been before it was listened for.
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (failure?.kind === 'died' && !isReady && hasEnded) onExit(child.exitCode, child.signalCode);
      else if (failure?.kind === 'died' && !isReady) kill();
      else if (failure !== undefined) killWith(failure);
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
