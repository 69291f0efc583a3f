import type { Arrival } from './arrivals.ts';

/** A batch that was committed. Metadata may be parsed only when asked for. */
export interface AppliedBatch {
  readonly arrivals: readonly Arrival[];
  readonly durationMs: number;
}

/** What the runner tells about itself; the composition logs and measures it. */
export type ProjectionNotice =
  | {
      readonly kind: 'batch';
      readonly events: number;
      readonly position: bigint;
      readonly durationMs: number;
    }
  | { readonly kind: 'started'; readonly projectors: readonly string[] }
  | { readonly kind: 'promoted'; readonly name: string; readonly version: number }
  | { readonly kind: 'stopped'; readonly name: string; readonly reason: string }
  /** A newer release serves these: this process leaves the projecting to it. */
  | { readonly kind: 'aside'; readonly reason: string }
  /** The process that held the lock did nothing for so long, and its session was ended. */
  | { readonly kind: 'evicted'; readonly stillMs: number }
  /** Events of types that only a newer release knows were passed over. */
  | { readonly kind: 'unknown_types'; readonly events: number; readonly types: readonly string[] }
  /** The read models are of another log than the one that is there. `rebuilding`: they are made anew now. */
  | {
      readonly kind: 'diverged';
      readonly reason: string;
      readonly names: readonly string[];
      readonly rebuilding: boolean;
    }
  /** Read models that had diverged were made anew from the log that is there. */
  | { readonly kind: 'rebuilt'; readonly names: readonly string[] }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface RunnerTuning {
  /** Most events in one transaction. */
  readonly batchMax: number;
  /** Rest after a batch, in terms of the time that it took; 0: none. Nobody who waits is made to wait for it. */
  readonly restPerWork: number;
  /** The longest rest. */
  readonly restMaxMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** How often to ask for a lock that another process holds. */
  readonly lockMs: number;
  /** How often to look whether other versions of read models are there or wanted. */
  readonly lookMs: number;
  /** How often a silent subscription is compared with the log's head. */
  readonly watchdogMs: number;
  /** How often checkpoints are compared with the log beside the times that it is subscribed to. */
  readonly compareMs: number;
  /**
   * How long checkpoints may stand still, though the log goes on, until the process that holds the lock
   * counts as frozen. At least thrice `watchdogMs`, within which a sound one finds its own feed silent.
   */
  readonly frozenMs: number;
}

export const RUNNER_TUNING: RunnerTuning = {
  batchMax: 1000,
  restPerWork: 2,
  restMaxMs: 250,
  retryMs: 100,
  retryMaxMs: 5_000,
  lockMs: 1_000,
  lookMs: 1_000,
  watchdogMs: 5_000,
  compareMs: 10_000,
  frozenMs: 15_000,
};
