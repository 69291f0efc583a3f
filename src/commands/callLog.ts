import type { ModelCall } from '../../domain/ports/modelWork.ts';
import type { CalledFor } from './work.ts';

/** Logs what a call of a model used. */
export type LogCall = (work: CalledFor, call: ModelCall) => Promise<void>;

/** The calls of one piece of work. */
export interface CallLog {
  readonly onCall: (call: ModelCall) => void;
  /** Resolves when all that were made so far are logged. */
  readonly logged: () => Promise<void>;
}

/** Logs each call as soon as it has ended: what a provider was paid for is known even if all else fails. */
export const callLog = (log: LogCall, work: Omit<CalledFor, 'earlier'>): CallLog => {
  const logs: Promise<void>[] = [];
  return {
    onCall: (call) => {
      logs.push(log({ ...work, earlier: logs.length }, call));
    },
    logged: async () => {
      await Promise.all(logs);
    },
  };
};
