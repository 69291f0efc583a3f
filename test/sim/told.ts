import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { CopiedLog as Copied } from '../../src/backup/copyLog.ts';
import type { Shared } from './ports.ts';
import type { Answer } from './process.ts';
import type { Scheduler } from './scheduler.ts';
import type { Actor, Finding, World } from './worlds.ts';

/** A copy of the log, and the events of its source that were copied. */
export interface CopiedLog {
  readonly source: readonly RecordedEvent[];
  readonly target: Shared;
  /** Where its events lay first, in the log that was never copied. */
  readonly first: readonly bigint[];
  /** undefined: it was refused, though nothing speaks against it. */
  readonly result: Copied | undefined;
}

/** What the world outside was told, and when (virtual ms). */
export interface Told {
  readonly answers: {
    readonly actor: Actor;
    readonly answer: Extract<Answer, { kind: 'ok' }>;
    readonly at: number;
  }[];
  readonly delivered: { readonly url: string; readonly id: string; readonly at: number }[];
  /** Who was told that a review is decided, and by what. */
  readonly decided: {
    readonly review_id: string;
    readonly generation: number;
    readonly says: string;
    readonly at: number;
  }[];
  /** Whose failure was kept, and answered to a repeat: what failed is tried again. */
  readonly keptNo: Actor[];
  /** Who was told no for good. */
  readonly refused: Actor[];
  restoredAt: number;
  /** By the actor: the document that it sent, and when that was acknowledged; Infinity: it was not. */
  readonly uploads: Map<Actor, { readonly document_id: string; sentAt: number }>;
  /** Some process had to let in by itself, since the store of limits was away. */
  limitsAway: boolean;
  /** Who was told that a key is revoked, and when. */
  readonly revoked: { readonly key_id: string; readonly at: number }[];
  /** What callers were told is taken away. */
  readonly removed: { readonly kind: 'set' | 'config'; readonly id: string }[];
  /** Keys that were given to each saved config. */
  readonly configKeys: Map<string, Set<string>>;
  /** The copies of the log that were made. */
  readonly copies: CopiedLog[];
  /** When each of those that rush was let in, and how long the others were told to wait. */
  readonly rushed: { readonly tenant: string; readonly at: number; readonly waitMs: number | null }[];
}

/** What rules are watched with. */
export interface WatchDeps {
  /** It begins with what an earlier release has left, of which nobody knows who asked for it. */
  readonly isFormer: boolean;
  readonly world: World;
  readonly sched: Scheduler;
  readonly shared: Shared;
  /** Its calls wait for nobody. */
  readonly raw: ObjectStore;
  readonly told: Told;
  readonly find: (finding: Finding) => void;
}
