import type { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../domain/kernel/json.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { type Divergence, ReadModelsDiverged } from '../../projections/engine/divergence.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { PartLost } from '../../projections/engine/rebuild.ts';
import { CheckpointMoved } from '../../projections/engine/registry.ts';
import type { FillPart, PartOfRebuild, PartProgress } from '../../projections/engine/spreading.ts';
import type { StoreConfig } from '../parts/stores.ts';

/** Input of the thread: where log and read models are, and what it does. */
export interface RebuildThreadData {
  readonly config: StoreConfig & { readonly databaseUrl: string };
  readonly part: PartOfRebuild;
}

/** Why a part failed: what may succeed later, or was of another log, is told apart. */
type PartFailure =
  | { readonly kind: 'sql' | 'log' | 'moved' | 'other'; readonly message: string }
  | { readonly kind: 'diverged'; readonly divergence: Divergence };

/** Messages of the thread: its progress, and once how it ended. */
export type RebuildThreadMessage =
  | { readonly progress: PartProgress }
  | { readonly done: true }
  | { readonly failed: PartFailure };

const KINDS = [
  ['sql', SqlUnavailable],
  ['log', LogUnavailable],
  ['moved', CheckpointMoved],
] as const;

/** The failure of a part as its thread tells it. */
export const failureOf = (error: unknown): PartFailure => {
  if (error instanceof ReadModelsDiverged) return { kind: 'diverged', divergence: error.divergence };
  const kind = KINDS.find(([, type]) => error instanceof type)?.[0] ?? 'other';
  return { kind, message: messageOf(error) };
};

const errorOf = (failure: PartFailure): Error => {
  if (failure.kind === 'diverged') return new ReadModelsDiverged(failure.divergence);
  const type = KINDS.find(([kind]) => kind === failure.kind)?.[1] ?? Error;
  return new type(failure.message);
};

/** A thread that does a part, as the one that started it has it. */
export type PartThread = EventEmitter & Pick<Worker, 'postMessage'>;

/** Each part of a rebuild in a thread that `begin` starts; `stop` as a message ends it. */
export const inThreads =
  (begin: (part: PartOfRebuild) => PartThread): FillPart =>
  async (part, { onProgress, signal }) => {
    signal.throwIfAborted();
    const thread = begin(part);
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
        thread.once('error', (error: Error) => (failure ??= lost(error)));
        thread.once('exit', () => {
          if (isDone) resolve();
          else reject(failure ?? lost());
        });
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };

/** Each part of a rebuild in a thread of its own, with its own reader of the log and its own connections. */
export const partsInThreads = ({
  dataDir,
  databaseUrl,
  eventStoreUrl,
  s3,
}: RebuildThreadData['config']): FillPart =>
  inThreads((part) => {
    const workerData: RebuildThreadData = { config: { dataDir, databaseUrl, eventStoreUrl, s3 }, part };
    return new Worker(new URL('./rebuildThread.js', import.meta.url), { workerData });
  });
