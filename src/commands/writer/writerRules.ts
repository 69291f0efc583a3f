import type { AnyKind, Decider } from '../../../domain/kernel/decider.ts';
import type { Codec } from '../../../domain/kernel/codec.ts';
import type { AppendResult, EventStore } from '../../../domain/ports/log.ts';
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

/** What may be told of a writer beside its kind of stream; what is left out has its default. */
export interface WriterOptions<Kind extends AnyKind> extends Partial<
  Pick<WriterRules<Kind>, 'snapshots' | 'mayAppend' | 'hooks' | 'attemptsMax' | 'batchMax'>
> {
  /** How long one append may be silent before it is sent again. */
  readonly appendTimeoutMs?: number | undefined;
  /** Jitter; 0 ≤ x < 1. */
  readonly random?: (() => number) | undefined;
  readonly stop?: Persistence['stop'];
}

/** The rules of a kind of stream in a store. */
export const writerRules = <Kind extends AnyKind>(
  of: { readonly store: EventStore; readonly decider: Decider<Kind>; readonly codec: Codec<Kind['event']> },
  options: WriterOptions<Kind> = {},
): WriterRules<Kind> => {
  const { store, decider, codec } = of;
  const { random = Math.random, appendTimeoutMs = 3000, stop, hooks = {} } = options;
  return {
    store,
    decider,
    fold: {
      ...{ initialState: decider.initialState, evolve: decider.evolve, codec },
      saysAll: decider.saysAll,
    },
    snapshots: options.snapshots,
    persistence: { baseMs: 50, capMs: 5000, random, appendTimeoutMs, stop, onUnknown: hooks.onUnknown },
    mayAppend: options.mayAppend,
    conflictPacing: { baseMs: 2, capMs: 250, random },
    hooks,
    attemptsMax: options.attemptsMax ?? 12,
    batchMax: options.batchMax ?? 256,
  };
};
