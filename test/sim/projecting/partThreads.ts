import { EventEmitter } from 'node:events';
import {
  failureOf,
  type PartThread,
  type RebuildThreadMessage,
} from '../../../src/operator/rebuildInThreads.ts';
import type { FillPart, PartOfRebuild, PartProgress } from '../../../projections/engine/spreading.ts';
import type { Owner, Scheduler } from '../scheduler.ts';

/**
 * Threads that do parts of rebuilds. Each has a place in the run of its own: it dies or stands still by itself, and
 * dies with its process. Messages between the two arrive as steps of the one that gets them.
 */
export const partThreads = (sched: Scheduler) => {
  const threads = new Map<Owner, { readonly process: Owner; readonly exit: () => void }>();
  let begun = 0;
  return {
    begin: (process: Owner, part: PartOfRebuild, fillAs: (thread: Owner) => FillPart): PartThread => {
      const owner = sched.newOwner(`${process.name} thread ${String((begun += 1))}`);
      const ending = new AbortController();
      const emitter = new EventEmitter();
      const emit = (event: string, message?: RebuildThreadMessage): void =>
        void sched.later(process, 1, () => emitter.emit(event, message));
      const tell = (message: RebuildThreadMessage): void => emit('message', message);
      const exit = (): void => {
        threads.delete(owner);
        emit('exit');
      };
      threads.set(owner, { process, exit });
      const work = async (): Promise<void> => {
        try {
          const onProgress = (progress: PartProgress): void => tell({ progress });
          await fillAs(owner)(part, { onProgress, signal: ending.signal });
          tell({ done: true });
        } catch (error) {
          tell({ failed: failureOf(error) });
        }
        exit();
      };
      sched.later(owner, 1, () => void work());
      const postMessage = (): void => void sched.later(owner, 1, () => ending.abort());
      return Object.assign(emitter, { postMessage });
    },
    /** A thread or a process has died; gives the threads that die with it. */
    died: (owner: Owner): readonly Owner[] => {
      threads.get(owner)?.exit();
      const own = [...threads].filter(([, { process }]) => process === owner).map(([thread]) => thread);
      for (const thread of own) {
        thread.alive = false;
        threads.delete(thread);
      }
      return own;
    },
  };
};
