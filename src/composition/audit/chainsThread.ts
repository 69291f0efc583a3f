import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { EventFeed } from '../../../domain/ports/log.ts';
import type { ChainsDone, StartChains } from '../../audit/chains.ts';
import type { ChainsOf } from './chainsWorker.ts';

/** A thread takes some 0.3 s to load what it needs: as long as this many events take. */
const CHAINS_EVENTS_MIN = 10_000n;

const startedChains = (data: ChainsOf) => {
  const worker = new Worker(new URL('./chainsWorker.js', import.meta.url), { workerData: data });
  const done = new Promise<ChainsDone>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of the chains ended with ${String(code)}`)));
  });
  return { upTo: data.upTo, done, stop: () => worker.terminate() };
};

interface ChainsOptions {
  /** Shorter logs are read by one thread. */
  readonly eventsMin?: bigint;
}

/** Starts the chains half of an audit of the embedded log at `path`. */
export const chainsThread =
  (feed: Pick<EventFeed, 'end'>, path: string, { eventsMin = CHAINS_EVENTS_MIN }: ChainsOptions = {}): StartChains =>
  async (work) => {
    const upTo = await feed.end();
    if (upTo === undefined || upTo < eventsMin || availableParallelism() < 2) return undefined;
    return startedChains({ path, upTo, work });
  };
