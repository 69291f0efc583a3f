import type { Arrival } from './arrivals.ts';

/** A batch that was committed. */
export interface AppliedBatch {
  readonly arrivals: readonly Arrival[];
  readonly durationMs: number;
}

/** Reports of the runner; the composition logs and measures them. */
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
  /** A newer release serves the read models: this process stands aside. */
  | { readonly kind: 'aside'; readonly reason: string }
  /** The lease holder made no progress for `stillMs`; its session was ended. */
  | { readonly kind: 'evicted'; readonly stillMs: number }
  /** Events of types that only a newer release knows were passed over. */
  | { readonly kind: 'unknown_types'; readonly events: number; readonly types: readonly string[] }
  /** The read models are of another log than the one that is there. `rebuilding`: a rebuild begins now. */
  | {
      readonly kind: 'diverged';
      readonly reason: string;
      readonly names: readonly string[];
      readonly rebuilding: boolean;
    }
  /** Diverged read models were rebuilt from the log that is there. */
  | { readonly kind: 'rebuilt'; readonly names: readonly string[] }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface RunnerTuning {
  /** Most events in one transaction. */
  readonly batchMax: number;
  /** Pause after a batch, as a multiple of the time it took; 0: none. A caller that waits ends it. */
  readonly pauseFactor: number;
  /** The longest pause. */
  readonly pauseMaxMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** How often to ask for the lease while another process holds it. */
  readonly lockMs: number;
  /** How often to check the registry for other versions. */
  readonly lookMs: number;
  /** How often a silent subscription is compared with the log's head. */
  readonly watchdogMs: number;
  /** How often checkpoints are compared with the log while subscribed. */
  readonly compareMs: number;
  /**
   * After how long without progress, while the log goes on, the lease holder counts as frozen. At least three
   * times `watchdogMs`: a healthy holder notices a silent feed within that.
   */
  readonly frozenMs: number;
}

export const RUNNER_TUNING: RunnerTuning = {
  batchMax: 1000,
  pauseFactor: 2,
  pauseMaxMs: 250,
  retryMs: 100,
  retryMaxMs: 5_000,
  lockMs: 1_000,
  lookMs: 1_000,
  watchdogMs: 5_000,
  compareMs: 10_000,
  frozenMs: 15_000,
};
