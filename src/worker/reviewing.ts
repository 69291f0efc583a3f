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
import { restingThread } from '../parts/restingThread.ts';

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
