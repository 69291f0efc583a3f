import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { hasDigests } from '../../../adapters/sqlite/eventLog.ts';
import type { EventFeed } from '../../../domain/ports/log.ts';
import type { StartedShare, StartShares } from '../../audit/shares.ts';
import type { ShareMessage, ShareOf } from './shareWorker.ts';

/** Two threads load what they need in some 0.6 s of a core: a tenth of what so many events take. */
const SHARES_EVENTS_MIN = 100_000n;
/** Each reads past the rows of the others, so that more of them gain ever less. */
const THREADS_MAX = 8;

const startedShare = (data: ShareOf, onProgress: (events: number) => void) => {
  const worker = new Worker(new URL('./shareWorker.js', import.meta.url), { workerData: data });
  const told = <T>(pick: (message: ShareMessage) => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.on('message', (message: ShareMessage) => {
        const picked = pick(message);
        if (picked !== undefined) resolve(picked);
      });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread of a share ended with ${String(code)}`)));
    });
  worker.on('message', (message: ShareMessage) => {
    if ('events' in message) onProgress(message.events);
  });
  const done = told((message) => ('done' in message ? message.done : undefined));
  // It is asked for after the reading; until then an end of the thread is told by `read`.
  done.catch(() => undefined);
  const share: StartedShare = {
    read: told((message) => ('latest' in message ? message.latest : undefined)),
    finish: (latest) => {
      worker.postMessage(latest);
      return done;
    },
  };
  return { share, stop: () => worker.terminate() };
};

interface SharesOptions {
  /** Shorter logs are read by fewer threads. */
  readonly eventsMin?: bigint;
  readonly threads?: number;
}

/** Starts the shares of an audit of the embedded log at `path`, a thread for each. */
export const shareThreads =
  (feed: Pick<EventFeed, 'end'>, path: string, options: SharesOptions = {}): StartShares =>
  async (wanted, onProgress) => {
    const { eventsMin = SHARES_EVENTS_MIN, threads = Math.min(THREADS_MAX, availableParallelism()) } = options;
    const upTo = await feed.end();
    if (upTo === undefined || upTo < eventsMin || threads < 2 || !hasDigests(path)) return undefined;
    const read = Array.from({ length: threads }, () => 0);
    const all = read.map((_, share) =>
      startedShare({ path, share, of: threads, upTo, wanted: [...wanted, upTo.toString()] }, (events) => {
        read[share] = events;
        onProgress(read.reduce((sum, each) => sum + each, 0));
      }),
    );
    const stop = () => Promise.all(all.map((one) => one.stop()));
    return { upTo, shares: all.map(({ share }) => share), stop };
  };
