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

/** How long a thread rests before it ends, ms. */
const IDLE_MS = 30_000;

/** What a thread says of one piece of work. */
type News<Answer> = { readonly answer: Answer } | { readonly failed: string };

/** A thread that does one piece of work after the other, and is there while there is work for it. */
interface RestingThread<Job, Answer> {
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

/** `start` is called when there is work and no thread. */
const restingThread = <Job, Answer>(start: () => Worker): RestingThread<Job, Answer> => {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let before: Promise<unknown> = Promise.resolve();
  const stop = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  };
  const run = async (job: Job, transferred: readonly Transferable[]): Promise<Answer> => {
    clearTimeout(idle);
    const own = (thread ??= start());
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
  return {
    run: (job, transferred = []) => {
      const mine = before.then(() => run(job, transferred));
      before = mine.catch(() => undefined);
      return mine;
    },
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
