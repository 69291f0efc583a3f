import type { ChildProcess } from 'node:child_process';
import { HURRY_AFTER, type ChildMessage, type Job, type JobOutcome, type ToldToChild } from '../jobs.ts';
import { confinementHere, type Confinement } from '../confinement/confinement.ts';
import { sentTo, type Sending } from './fileBytes.ts';
import { watchMemory } from './memoryWatch.ts';
import { keepPaused } from './pausedKeeper.ts';
import { cpuMsOf, signalFamily } from './processFamily.ts';
import { bytesOf, forget, newFolder, removed, spawned, type SpawnOptions } from './spawnChild.ts';
import { workingTime, type WorkingTime } from './workingTime.ts';

export interface ChildOptions extends SpawnOptions {
  /** Default: the best that this machine has. */
  readonly confinement?: (() => Promise<Confinement>) | undefined;
}

export interface JobLimits {
  /** Of the work itself: neither waiting nor being paused counts. */
  readonly deadlineMs: number;
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

/** The time of the job that a child does now: it stands still while the child is paused. */
interface JobTimes {
  /** Ends what ran before, and begins anew: what is to happen after so many ms of work. */
  readonly begin: (...due: readonly (readonly [ms: number, happens: () => void])[]) => void;
  readonly stop: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly isPaused: () => boolean;
}

const jobTimes = (): JobTimes => {
  let times: readonly WorkingTime[] = [];
  let paused = false;
  const stop = (): void => {
    for (const time of times) time.stop();
    times = [];
  };
  return {
    begin: (...due) => {
      stop();
      times = due.map(([ms, happens]) => workingTime(ms, happens));
      if (paused) for (const time of times) time.pause();
    },
    stop,
    pause: () => {
      paused = true;
      for (const time of times) time.pause();
    },
    resume: () => {
      paused = false;
      for (const time of times) time.resume();
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
  const { deadlineMs, signal, onProgress, isKept = false } = limits;
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (outcome: JobOutcome): void => {
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

const outcomeOf = (message: Exclude<ChildMessage, { readonly kind: 'progress' | 'ready' }>): JobOutcome =>
  message.kind === 'answer' ? { ...message, kind: 'answered' } : message;
