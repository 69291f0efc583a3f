import { parentPort, workerData } from 'node:worker_threads';
import { logShare } from '../../adapters/sqlite/eventLog.ts';
import { PUBLISHED } from '../audit/margin.ts';
import { NotClean, shareAudit, type ShareDone, type ShareWork } from '../audit/shares.ts';

/** Which log a thread reads, and which share of it. */
export interface ShareOf extends ShareWork {
  readonly path: string;
  readonly share: number;
  readonly of: number;
}

/** A thread's messages: how much it has read, the latest time of that, and its result; null: not clean. */
export type ShareMessage =
  | { readonly events: number }
  | { readonly latest: string | null }
  | { readonly done: ShareDone | null };

const PROGRESS_EVERY = 10_000;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const given = workerData as ShareOf;
const tell = (message: ShareMessage): void => port.postMessage(message);
const audit = shareAudit(given);

const orNull = <T>(work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotClean) return null;
    throw error;
  }
};

const readAll = (): string => {
  for (const row of logShare({ ...given, published: PUBLISHED })) {
    audit.look(row);
    if (audit.events() % PROGRESS_EVERY === 0) tell({ events: audit.events() });
  }
  return audit.latest() ?? '';
};

port.once('message', (latest: string) => tell({ done: orNull(() => audit.finish(latest)) }));
tell({ latest: orNull(readAll) });
