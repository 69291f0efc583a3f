import { systemTimers } from '../../../adapters/local/local.ts';
import { decodeAny, isKnownType } from '../../../domain/catalogue.ts';
import type { ProjectionNotice } from '../../../projections/engine/arrivals.ts';
import { projectionRunner, type ProjectionRunner } from '../../../projections/engine/runner.ts';
import type { RunnerDeps } from '../../../projections/engine/rebuild.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../../projections/readModels.ts';
import { appliedFacts, type AppliedFacts } from '../../telemetry/tracing.ts';
import { COUNTED_TYPES } from '../../telemetry/businessMetrics.ts';

/** Who is told what the service's projections do. */
export interface ProjectionListener {
  readonly onApplied: (facts: AppliedFacts) => void;
  readonly notify: (notice: ProjectionNotice) => void;
}

/** How the service projects. */
export interface Projecting {
  readonly diverged: 'rebuild' | 'leave';
  readonly isTraced: boolean;
}

/** Keeps all read models of the service up with the log, in the thread that calls it. */
export const serviceRunner = (
  { sql, feed }: Pick<RunnerDeps, 'sql' | 'feed'>,
  { diverged, isTraced }: Projecting,
  { onApplied, notify }: ProjectionListener,
): ProjectionRunner =>
  projectionRunner({
    sql,
    feed,
    projectors: READ_MODELS,
    dropped: DROPPED_READ_MODELS,
    decode: decodeAny,
    isKnownType,
    timers: systemTimers,
    diverged,
    onApplied: (batch) =>
      onApplied(appliedFacts(batch, { types: COUNTED_TYPES, isTraced, nowMs: Date.now() })),
    notify,
  });
