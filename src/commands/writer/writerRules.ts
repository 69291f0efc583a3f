import type { AnyKind, Decider } from '../../../domain/kernel/decider.ts';
import type { AppendResult, EventStore } from '../../../domain/ports/eventStore.ts';
import type { Pacing } from './backOff.ts';
import type { Persistence } from './settleAppend.ts';
import type { FoldRules } from './streamFold.ts';
import type { SnapshotFlaw, SnapshotRules } from './trustedSnapshot.ts';

/** One batch, for metrics. A conflict or an unknown outcome that was settled later is reported as such. */
export interface BatchReport {
  readonly commands: number;
  readonly events: number;
  /** `nothing`: only rejections and repeats. */
  readonly outcome: AppendResult['kind'] | 'nothing';
  /** From the moment the batch was drained. */
  readonly ms: number;
}

/** A snapshot that did not serve. Nothing is lost by it but time. */
export type SnapshotNotice =
  | { readonly kind: 'ignored'; readonly stream: string; readonly reason: SnapshotFlaw }
  | {
      readonly kind: 'unsaved';
      readonly stream: string;
      readonly reason: 'too_large' | 'refused';
      readonly error?: unknown;
    };

/** What a writer tells of itself. */
export interface WriterHooks {
  readonly onBatch?: (report: BatchReport) => void;
  /** An append without an answer; it is sent again until it has one. */
  readonly onUnknown?: (stream: string, reason: string) => void;
  /** A stream that failed its commands. */
  readonly onError?: (error: unknown, stream: string) => void;
  readonly onSnapshot?: (notice: SnapshotNotice) => void;
}

/** All that one kind of writer needs. */
export interface WriterRules<Kind extends AnyKind> {
  readonly store: EventStore;
  readonly decider: Decider<Kind>;
  readonly fold: FoldRules<Kind['state'], Kind['event']>;
  readonly snapshots: SnapshotRules<Kind['state'], Kind['event']> | undefined;
  readonly persistence: Persistence;
  /**
   * Asked when a batch was decided and before it is appended, at the very revision that it was decided on:
   * false leaves it `contended`.
   */
  readonly mayAppend?: (() => Promise<boolean>) | undefined;
  readonly conflictPacing: Pacing;
  readonly hooks: WriterHooks;
  /** Decisions on one batch before its callers are told `contended`. */
  readonly attemptsMax: number;
  /** Commands in one batch. */
  readonly batchMax: number;
}
