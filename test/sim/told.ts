import type { ObjectStore } from '../../domain/ports/services.ts';
import type { Shared } from './ports.ts';
import type { Answer } from './process.ts';
import type { Scheduler } from './scheduler.ts';
import type { Actor, Finding, World } from './worlds.ts';

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
