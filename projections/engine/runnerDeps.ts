import type { KnownLog } from '../../domain/ports/knownLog.ts';
import type { DecodeEvent } from './feed/event.ts';
import type { AppliedBatch, ProjectionNotice, RunnerTuning } from './feed/notices.ts';
import type { Sql, Timers } from './ports.ts';
import type { KnownModels } from './rebuild/versionPlan.ts';

/** What keeps the read models of one release up with a log. */
export interface RunnerDeps extends KnownModels {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly decode: DecodeEvent;
  /** False for an event type of a newer release. All are known by default. */
  readonly isKnownType?: (type: string) => boolean;
  readonly timers: Timers;
  readonly notify?: (notice: ProjectionNotice) => void;
  /** Called after each committed batch; for traces. */
  readonly onApplied?: (applied: AppliedBatch) => void;
  readonly tuning?: Partial<RunnerTuning>;
  /** Read models of another log are rebuilt at once, or left to a person. */
  readonly diverged?: 'rebuild' | 'leave';
}

/** With every pause and limit decided. */
export interface TunedDeps extends RunnerDeps {
  readonly tuning: RunnerTuning;
}
