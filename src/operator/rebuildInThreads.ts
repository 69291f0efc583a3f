import { Worker } from 'node:worker_threads';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { ReadModelsDiverged } from '../../projections/engine/divergence.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { PartLost } from '../../projections/engine/rebuild.ts';
import type { FillPart } from '../../projections/engine/spreading.ts';
import type { PartFailure, RebuildThreadData, RebuildThreadMessage } from './rebuildThread.ts';

const errorOf = (failure: PartFailure): Error => {
  if (failure.kind === 'diverged') return new ReadModelsDiverged(failure.divergence);
  if (failure.kind === 'sql') return new SqlUnavailable(failure.message);
  return failure.kind === 'log' ? new LogUnavailable(failure.message) : new Error(failure.message);
};

/** Each part of a rebuild in a thread of its own, with its own reader of the log and its own connections. */
export const partsInThreads =
  ({ dataDir, databaseUrl, eventStoreUrl, s3 }: RebuildThreadData['config']): FillPart =>
  async (part, { onProgress, signal }) => {
    signal.throwIfAborted();
    const workerData: RebuildThreadData = { config: { dataDir, databaseUrl, eventStoreUrl, s3 }, part };
    const thread = new Worker(new URL('./rebuildThread.js', import.meta.url), { workerData });
    const stop = (): void => thread.postMessage('stop');
    signal.addEventListener('abort', stop, { once: true });
    const lost = (cause?: unknown) =>
      new PartLost(`thread ${String(part.worker)} of the rebuild ended without a word`, { cause });
    let failure: Error | undefined;
    let isDone = false;
    try {
      // Its end is waited for: nothing of it may still be under way when the next step begins.
      await new Promise<void>((resolve, reject) => {
        thread.on('message', (message: RebuildThreadMessage) => {
          if ('progress' in message) onProgress(message.progress);
          else if ('failed' in message) failure = errorOf(message.failed);
          else isDone = true;
        });
        thread.once('error', (error) => (failure ??= lost(error)));
        thread.once('exit', () => {
          if (isDone) resolve();
          else reject(failure ?? lost());
        });
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
