import { READ_MODELS, DROPPED_READ_MODELS } from '../../../projections/readModels.ts';
import { openWorkByStatus } from '../../../projections/operations.ts';
import type { ServiceStateBody } from '../../api/serviceSchemas.ts';
import { projectionsStatus } from '../../operator/log.ts';
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

/** How this process and what it stands on do, asked anew each time. */
export const serviceStateOf = (from: Container): (() => Promise<ServiceStateBody>) => {
  const { sql, log } = resolve(from, t.PARTS);
  const { roles, maxUploadBytes } = resolve(from, t.CONFIG);
  const known = { projectors: READ_MODELS, dropped: DROPPED_READ_MODELS };
  return async () => {
    const slots = resolve(from, t.SLOTS);
    const { isDraining } = resolve(from, t.READINESS);
    const [{ status, version, uptime_seconds, parts }, models, end, work, replicas] = await Promise.all([
      resolve(from, t.HEALTH)(),
      projectionsStatus({ sql, feed: log }, known),
      log.end(),
      openWorkByStatus(sql)(),
      resolve(from, t.REPLICAS).alive(),
    ]);
    return {
      ...{ status, version, uptime_seconds, parts, roles: [...roles], draining: isDraining() },
      log: { log_id: resolve(from, t.LOG_WATCH).logId(), end_position: end?.toString() ?? null },
      read_models: models.map(({ next, ...model }) => ({
        ...model,
        next: next === null ? null : { ...next },
      })),
      slots: { in_use: slots.inUse(), max: slots.max, tenants: [...slots.holders()] },
      rate_limits: [...resolve(from, t.BUCKETS_IN_USE).list()],
      work: [...work],
      replicas: replicas.map(({ roles: theirs, ...replica }) => ({ ...replica, roles: [...theirs] })),
      max_upload_bytes: maxUploadBytes,
    };
  };
};
