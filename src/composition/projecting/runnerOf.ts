import type { ProjectionNotice } from '../../../projections/engine/arrivals.ts';
import type { ProjectionRunner } from '../../../projections/engine/runner.ts';
import { appliedBy } from '../parts/telemetryParts.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
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

const told = (from: Container): ((notice: ProjectionNotice) => void) => {
  const { onNotice } = resolve(from, t.PROJECTION_COUNTERS);
  const logger = resolve(from, t.LOGGER);
  return (notice) => {
    onNotice(notice);
    if (notice.kind === 'diverged' || notice.kind === 'rebuilt') void resolve(from, t.LOG_WATCH).check();
    const level = LEVELS[notice.kind];
    logger[level]({ msg: 'projections', ...notice });
  };
};

/** The projections: in the thread of the embedded read models where there is one, else in this one. */
export const runnerOf = (from: Container): ProjectionRunner => {
  const { sql, log: feed, projections } = resolve(from, t.PARTS);
  const listener = { onApplied: appliedBy(from), notify: told(from) };
  return projections === undefined
    ? serviceRunner({ sql, feed }, projectingAs(resolve(from, t.CONFIG)), listener)
    : runnerInThread(projections, listener);
};
