import type { Transferable, Worker } from 'node:worker_threads';

/** How long a thread rests before it ends, ms. */
const IDLE_MS = 30_000;

/** What a thread says of one piece of work. */
type News<Answer> = { readonly answer: Answer } | { readonly failed: string };

/** A thread that does one piece of work after the other, and is there while there is work for it. */
export interface RestingThread<Job, Answer> {
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
export const restingThread = <Job, Answer>(start: () => Worker): RestingThread<Job, Answer> => {
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
