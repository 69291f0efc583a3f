import { once } from 'node:events';
import { type Transferable, Worker } from 'node:worker_threads';
import type { Paper, Printer } from '../../domain/ports/services.ts';
import {
  buffersIn,
  doReviewJob,
  type ReviewAnswer,
  type ReviewJob,
  type ReviewWork,
  type ReviewWorker,
  sizeOfJob,
  type StoredReview,
} from '../commands/reviewWork.ts';
import type { LookupAnswer, LookupJob, LookupWorker } from '../rules/lookupWork.ts';
import { type RulesAnswer, type RulesJob, type RulesWorker, tooMuch } from '../rules/rulesWork.ts';

/** How long a thread rests before it ends, ms. */
const IDLE_MS = 30_000;

/** What a thread says of one piece of work. */
type News<Answer> = { readonly answer: Answer } | { readonly failed: string };

/** A thread that does one piece of work after the other, and is there while there is work for it. */
interface RestingThread<Job, Answer> {
  /**
   * A piece of work that takes longer than `ms`, or more memory than the thread has, is `OVERRUN`. Throws once
   * `signal` says that nobody waits for it.
   */
  readonly within: (job: Job, ms: number, signal: AbortSignal) => Promise<Answer | typeof OVERRUN>;
  readonly run: (job: Job, transferred?: readonly Transferable[]) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

const answerOf = <Answer>(
  worker: Worker,
  job: unknown,
  transferred: readonly Transferable[],
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const ended = (code: number) => reject(new Error(`the thread ended with ${String(code)}`));
    worker.once('exit', ended);
    worker.once('error', reject);
    worker.once('message', (news: News<Answer>) => {
      worker.off('exit', ended);
      worker.off('error', reject);
      if ('failed' in news) reject(new Error(news.failed));
      else resolve(news.answer);
    });
    worker.postMessage(job, [...transferred]);
  });

const OVERRUN = Symbol('it took too much');

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Throws where a thread ends before it has read its modules. */
const ready = async (own: Worker): Promise<void> => {
  const ended = once(own, 'exit').then(([code]) => {
    throw new Error(`the thread ended with ${String(code)} before it began`);
  });
  await Promise.race([once(own, 'message'), ended]);
};

interface Asked {
  readonly signal: AbortSignal;
  readonly leave: () => void;
}

/** Calls `leave` if the caller leaves meanwhile; throws if it has left already. */
const whileAsked = async <T>({ signal, leave }: Asked, work: () => Promise<T>): Promise<T> => {
  signal.throwIfAborted();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', leave);
  }
};

/** Work of each share in order: the next piece is loaded once the one before is done. */
const inTurn = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(share: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(share) ?? Promise.resolve()).then(work);
    const settled = mine
      .catch(() => undefined)
      .finally(() => {
        if (last.get(share) === settled) last.delete(share);
      });
    last.set(share, settled);
    return mine;
  };
};

/** `start` is called when there is work and no thread. */
const restingThread = <Job, Answer>(start: () => Worker): RestingThread<Job, Answer> => {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const turn = inTurn();
  const next = <T>(work: () => Promise<T>): Promise<T> => turn('', work);
  const stop = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  };
  /** A thread that ends by itself is forgotten: work that is sent to one is never answered. */
  const begun = (): Worker => {
    const own = start();
    const forget = () => {
      if (thread === own) thread = undefined;
    };
    own.on('error', forget);
    own.on('exit', forget);
    thread = own;
    return own;
  };
  /** A thread whose work has a limit says when it has read its modules. */
  const started = async (): Promise<void> => {
    if (thread === undefined) await ready(begun());
  };
  const run = async (job: Job, transferred: readonly Transferable[]): Promise<Answer> => {
    clearTimeout(idle);
    const own = thread ?? begun();
    own.unref();
    try {
      return await answerOf<Answer>(own, job, transferred);
    } catch (error) {
      // It may have ended: the next piece of work gets another one.
      await stop();
      throw error;
    } finally {
      idle = setTimeout(() => void stop(), IDLE_MS).unref();
    }
  };
  const timed = async (job: Job, ms: number): Promise<Answer | typeof OVERRUN> => {
    const late = new AbortController();
    // The time begins with the work: a thread that has to start first is waited for.
    await started();
    const timer = setTimeout(() => {
      late.abort();
      void stop();
    }, ms);
    try {
      return await run(job, []);
    } catch (error) {
      if (late.signal.aborted || isOutOfMemory(error)) return OVERRUN;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    run: (job, transferred = []) => next(() => run(job, transferred)),
    within: (job, ms, signal) =>
      next(() => whileAsked({ signal, leave: () => void stop() }, () => timed(job, ms))),
    stop,
  };
};

/** Papers as PDF, made in a thread of their own: one takes some 100 ms of work with its fonts. */
export const paperPrinter = (): Printer & { readonly stop: () => Promise<void> } => {
  const { run, stop } = restingThread<Paper, Uint8Array>(
    () => new Worker(new URL('./printThread.js', import.meta.url)),
  );
  return { print: (paper) => run(paper), stop };
};

/** Smaller work takes a few milliseconds, and a thread some tens of megabytes. */
const HERE_BYTES_MAX = 65_536;

/** Reviews of megabytes are read and written in a thread of their own; tenants take turns there. */
export const reviewWorker = (): ReviewWorker & { readonly stop: () => Promise<void> } => {
  const thread = restingThread<ReviewJob, unknown>(
    () => new Worker(new URL('./reviewThread.js', import.meta.url)),
  );
  const turn = inTurn();
  const run = <Work extends ReviewWork>(
    share: string,
    work: Work,
    load: () => Promise<StoredReview | undefined>,
  ) =>
    turn(share, async () => {
      const stored = await load();
      if (stored === undefined) return undefined;
      const job: ReviewJob = { work, stored };
      const done =
        sizeOfJob(job) <= HERE_BYTES_MAX
          ? doReviewJob(job)
          : await thread.run(job, buffersIn(Object.values(job.stored)));
      return done as ReviewAnswer<Work['kind']>;
    });
  return { run, stop: thread.stop };
};

/** How long the rules of a config may take before they are tried where only such ones are, and there, ms. */
const RULES_MS = 200;
const SLOW_RULES_MS = 3_000;
const RULES_MB = 128;

const rulesThread = () =>
  new Worker(new URL('./rulesThread.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: RULES_MB },
  });

/** Waits for work until its caller has left. */
const unlessLeft = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => (leave = () => reject(signal.reason as Error)));
  return whileAsked({ signal, leave }, () => Promise.race([work(), left]));
};

/** Rules of configs, in a thread of their own. Those that take long wait for one another, and nobody else for them. */
export const rulesWorker = (start = rulesThread): RulesWorker & { readonly stop: () => Promise<void> } => {
  const quick = restingThread<RulesJob, RulesAnswer>(start);
  const slow = restingThread<RulesJob, RulesAnswer>(start);
  const turn = inTurn();
  const judged = async (job: RulesJob, signal: AbortSignal): Promise<RulesAnswer> => {
    const soon = await quick.within(job, RULES_MS, signal);
    if (soon !== OVERRUN) return soon;
    const late = await slow.within(job, SLOW_RULES_MS, signal);
    return late === OVERRUN ? tooMuch(job) : late;
  };
  const judge: RulesWorker['judge'] = (share, job, signal) =>
    unlessLeft(signal, () => turn(share, () => judged(job, signal)));
  return {
    judge,
    stop: async () => {
      await quick.stop();
      await slow.stop();
    },
  };
};

/** How long the look-ups of one result may take, ms: reading the largest tables takes some seconds. */
const LOOKUPS_MS = 30_000;
const LOOKUPS_MB = 768;

const lookupThread = () =>
  new Worker(new URL('./lookupThread.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: LOOKUPS_MB },
  });

/** Tables with the lines of those that are missing, without those whose lines are gone. */
const sentTables = async (
  all: readonly string[],
  missing: ReadonlySet<string>,
  linesOf: (sha256: string) => Promise<Uint8Array | undefined>,
): Promise<LookupJob['tables']> => {
  const sent: LookupJob['tables'][number][] = [];
  for (const sha256 of all) {
    const lines = missing.has(sha256) ? await linesOf(sha256) : undefined;
    if (lines !== undefined || !missing.has(sha256)) sent.push({ sha256, lines });
  }
  return sent;
};

/**
 * Look-ups in tables, in a thread of their own, which keeps the tables that it used last: their rows are sent to it
 * only where it does not have them. Tenants take turns.
 */
export const lookupWorker = (start = lookupThread): LookupWorker & { readonly stop: () => Promise<void> } => {
  const thread = restingThread<LookupJob, LookupAnswer>(start);
  const turn = inTurn();
  const look: LookupWorker['look'] = (share, { asked, linesOf }, signal) =>
    unlessLeft(signal, () =>
      turn(share, async () => {
        const all = [...new Set(asked.map(({ sha256 }) => sha256))];
        let tables: LookupJob['tables'] = all.map((sha256) => ({ sha256 }));
        // What it had at first may have given way to others: then it is sent all of them.
        for (let round = 0; ; round += 1) {
          const answer = await thread.within({ tables, asked }, LOOKUPS_MS, signal);
          if (answer === OVERRUN) return { kind: 'too_much' };
          if (answer.kind === 'found') return answer;
          const missing = new Set(round === 0 ? answer.tables : all);
          tables = await sentTables(all, missing, linesOf);
        }
      }),
    );
  return { look, stop: thread.stop };
};
