import { Worker } from 'node:worker_threads';
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
import type { ReviewNews } from './reviewThread.ts';

/** Smaller work takes a few milliseconds, and a thread some tens of megabytes. */
const HERE_BYTES_MAX = 65_536;
/** How long the thread rests before it ends, ms. */
const IDLE_MS = 30_000;

interface Thread {
  readonly run: (job: ReviewJob) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

const startThread = (): Thread => {
  const worker = new Worker(new URL('./reviewThread.js', import.meta.url));
  worker.unref();
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const ended = (code: number) =>
          reject(new Error(`the thread of the reviews ended with ${String(code)}`));
        worker.once('exit', ended);
        worker.once('error', reject);
        worker.once('message', (news: ReviewNews) => {
          worker.off('exit', ended);
          worker.off('error', reject);
          if ('failed' in news) reject(new Error(news.failed));
          else resolve(news.answer);
        });
        worker.postMessage(job, buffersIn(Object.values(job.stored)));
      }),
    stop: async () => void (await worker.terminate()),
  };
};

/** Does one piece of work after the other, in a thread that is there while there is work for it. */
const threaded = () => {
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let before: Promise<unknown> = Promise.resolve();
  const stop = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.stop();
  };
  const run = async (job: ReviewJob): Promise<unknown> => {
    clearTimeout(idle);
    const own = (thread ??= startThread());
    try {
      return await own.run(job);
    } catch (error) {
      // It may have ended: the next piece of work gets another one.
      await stop();
      throw error;
    } finally {
      idle = setTimeout(() => void stop(), IDLE_MS).unref();
    }
  };
  return {
    run: (job: ReviewJob): Promise<unknown> => {
      const mine = before.then(() => run(job));
      before = mine.catch(() => undefined);
      return mine;
    },
    stop,
  };
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

/** Reviews of megabytes are read and written in a thread of their own; tenants take turns there. */
export const reviewWorker = (): ReviewWorker & { readonly stop: () => Promise<void> } => {
  const thread = threaded();
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
      const done = sizeOfJob(job) <= HERE_BYTES_MAX ? doReviewJob(job) : await thread.run(job);
      return done as ReviewAnswer<Work['kind']>;
    });
  return { run, stop: thread.stop };
};
