import type { ProjectionNotice } from '../../../projections/engine/arrivals.ts';
import type { ProjectionRunner } from '../../../projections/engine/runner.ts';
import { appliedBy } from '../parts/telemetryParts.ts';
import type { Context } from '../context.ts';
import { projectingAs } from './projectingAs.ts';
import { runnerInThread } from './runnerInThread.ts';
import { serviceRunner } from './serviceRunner.ts';

/** How loudly the projections' notices are logged. */
const LEVELS = {
  batch: 'debug',
  started: 'info',
  promoted: 'info',
  aside: 'warn',
  evicted: 'warn',
  unknown_types: 'warn',
  diverged: 'error',
  rebuilt: 'info',
  dropped: 'warn',
  failed: 'error',
  stopped: 'error',
} as const;

const told = (from: Context): ((notice: ProjectionNotice) => void) => {
  const { onNotice } = from.projectionCounters;
  const logger = from.logger;
  return (notice) => {
    onNotice(notice);
    if (notice.kind === 'diverged' || notice.kind === 'rebuilt') void from.logWatch.check();
    const level = LEVELS[notice.kind];
    logger[level]({ msg: 'projections', ...notice });
  };
};

/** The projections: in the thread of the embedded read models where there is one, else in this one. */
export const runnerOf = (from: Context): ProjectionRunner => {
  const { sql, log: feed, projections } = from.parts;
  const listener = { onApplied: appliedBy(from), notify: told(from) };
  return projections === undefined
    ? serviceRunner({ sql, feed }, projectingAs(from.config), listener)
    : runnerInThread(projections, listener);
};
