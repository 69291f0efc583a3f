import type { Pacing } from './backOff.ts';
import type { Persistence } from './settleAppend.ts';
import type { WriterLimits } from './streamWriter.ts';

/** Between two decisions on one stream that others write to as well. */
export const DEFAULT_CONFLICT_PACING: Pacing = { baseMs: 2, capMs: 250, random: Math.random };

/** Between two sendings of a batch whose fate is unknown. */
export const DEFAULT_PERSISTENCE: Persistence = {
  baseMs: 50,
  capMs: 5000,
  random: Math.random,
  appendTimeoutMs: 3000,
};

export const DEFAULT_LIMITS: WriterLimits = {
  queueMax: 2048,
  warmMax: 10_000,
  callerDeadlineMs: 10_000,
  stateMaxAgeMs: 1000,
  closeTimeoutMs: 10_000,
};

/** Commands in one append. */
export const BATCH_MAX = 256;

/** Decisions on one command before its caller is told `contended`. */
export const ATTEMPTS_MAX = 12;
