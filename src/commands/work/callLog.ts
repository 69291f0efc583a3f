import type { ModelCall } from '@quire/engine/ports/modelWork';
import type { CalledFor } from './work.ts';

/** Records what a call of a model used. Throws when nothing but this process will remember it. */
export type LogCall = (work: CalledFor, call: ModelCall) => Promise<void>;

/** The calls of one piece of work. */
interface CallLog {
  readonly onCall: (call: ModelCall) => void;
  /** Those that were made so far. */
  readonly made: readonly ModelCall[];
  /** Resolves when all that were made so far are recorded; throws when one is not. */
  readonly logged: () => Promise<void>;
}

/** Logs each call as soon as it has ended: what a provider was paid for is known even if all else fails. */
export const callLog = (log: LogCall, work: Omit<CalledFor, 'earlier'>): CallLog => {
  const logs: Promise<PromiseSettledResult<void>>[] = [];
  const made: ModelCall[] = [];
  return {
    made,
    onCall: (call) => {
      made.push(call);
      // Nobody waits for it before `logged`, and a rejection that nobody waits for ends the process.
      logs.push(Promise.allSettled([log({ ...work, earlier: logs.length }, call)]).then(([one]) => one));
    },
    logged: async () => {
      const failed = (await Promise.all(logs)).find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
};
