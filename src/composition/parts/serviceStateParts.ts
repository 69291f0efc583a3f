import { READ_MODELS, DROPPED_READ_MODELS } from '../../../projections/readModels.ts';
import { openWorkByStatus } from '../../../projections/operations.ts';
import type { ServiceStateBody } from '../../api/serviceSchemas.ts';
import { projectionsStatus } from '../../operator/log.ts';
import type { Context } from '../context.ts';

/** How this process and what it stands on do, asked anew each time. */
export const serviceStateOf = (from: Context): (() => Promise<ServiceStateBody>) => {
  const { sql, log } = from.parts;
  const { roles, maxUploadBytes } = from.config;
  const known = { projectors: READ_MODELS, dropped: DROPPED_READ_MODELS };
  return async () => {
    const slots = from.slots;
    const { isDraining } = from.readiness;
    const [{ status, version, uptime_seconds, parts }, models, end, work, replicas] = await Promise.all([
      from.health(),
      projectionsStatus({ sql, feed: log }, known),
      log.end(),
      openWorkByStatus(sql)(),
      from.replicas.alive(),
    ]);
    return {
      ...{ status, version, uptime_seconds, parts, roles: [...roles], draining: isDraining() },
      log: { log_id: from.logWatch.logId(), end_position: end?.toString() ?? null },
      read_models: models.map(({ next, ...model }) => ({
        ...model,
        next: next === null ? null : { ...next },
      })),
      slots: { in_use: slots.inUse(), max: slots.max, tenants: [...slots.holders()] },
      rate_limits: [...from.bucketsInUse.list()],
      work: [...work],
      replicas: replicas.map(({ roles: theirs, ...replica }) => ({ ...replica, roles: [...theirs] })),
      max_upload_bytes: maxUploadBytes,
    };
  };
};
