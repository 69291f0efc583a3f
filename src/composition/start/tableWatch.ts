import { replaceMissing } from '../../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { sweeperOf, type Sweeper } from '../../commands/sweeper.ts';
import type { Context } from '../context.ts';

const EVERY_MS = 60_000;

/** Looks at start and each minute for tables of read models that were dropped, and has them filled anew. */
export const tableWatch = (from: Context): Sweeper<number> => {
  const logger = from.logger;
  const { sql } = from.parts;
  const look = async (): Promise<number> => {
    const missing = await replaceMissing(sql, READ_MODELS);
    for (const { projector, tables, views } of missing)
      logger.error({ msg: 'tables of a read model were dropped', name: projector.name, tables, views });
    if (missing.length > 0) from.readiness.begunAnew();
    return missing.length;
  };
  const onError = (err: unknown) => logger.warn({ msg: 'tables could not be looked for', err });
  return sweeperOf(look, { everyMs: EVERY_MS, onError });
};
