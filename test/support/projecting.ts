import { decodeAny, isKnownType } from '../../domain/catalogue.ts';
import type { KnownLog } from '../../domain/ports/log.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import type { ProjectionNotice, RunnerTuning } from '../../projections/engine/arrivals.ts';
import { type ProjectionRunner, projectionRunner } from '../../projections/engine/runner.ts';
import type { Projector } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';

/** Fast enough that no test waits, slow enough to be real. */
export const TEST_TUNING: Partial<RunnerTuning> = {
  pauseMaxMs: 2,
  retryMs: 5,
  retryMaxMs: 20,
  lockMs: 10,
  lookMs: 40,
  watchdogMs: 20,
  compareMs: 20,
};

export interface RunnerSetup {
  readonly projectors?: readonly Projector[];
  readonly tuning?: Partial<RunnerTuning>;
  readonly notify?: (notice: ProjectionNotice) => void;
  readonly diverged?: 'rebuild' | 'leave';
}

export const runnerOn = (sql: Sql, feed: KnownLog, setup: RunnerSetup = {}): ProjectionRunner =>
  projectionRunner({
    sql,
    feed,
    projectors: setup.projectors ?? READ_MODELS,
    decode: decodeAny,
    isKnownType,
    timers: systemTimers,
    tuning: { ...TEST_TUNING, ...setup.tuning },
    ...(setup.diverged === undefined ? {} : { diverged: setup.diverged }),
    ...(setup.notify === undefined ? {} : { notify: setup.notify }),
  });

/** Throws away everything that projections own. */
export const wipe = async (sql: Sql): Promise<void> => {
  const schemas = await sql.query(
    `select nspname as name from pg_namespace where nspname like 'rm\\_%' or nspname in ('projections', 'read')`,
  );
  for (const { name } of schemas) await sql.query(`drop schema ${String(name)} cascade`);
};

/** Digests of all read models. */
export const dumpAll = async (sql: Sql, projectors: readonly Projector[] = READ_MODELS) =>
  Promise.all(projectors.map((projector) => dumpReadModel(sql, projector)));
