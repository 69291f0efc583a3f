import { join } from 'node:path';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { openProjecting, runnerInThread } from '../../src/service/projecting.ts';

/** Embedded read models and what keeps them up with the log `events.db` in `folder`: one thread, as in the service. */
export const projectionsIn = async (
  folder: string,
): Promise<{ readonly sql: Sql; readonly runner: ProjectionRunner }> => {
  const { sql, projections } = await openProjecting(
    { folder: join(folder, 'read-models'), logFile: join(folder, 'events.db') },
    { diverged: 'leave', isTraced: false },
  );
  await prepareReadModels(sql, READ_MODELS);
  const nobody = { onApplied: () => undefined, notify: () => undefined };
  return { sql, runner: runnerInThread(projections, nobody) };
};
