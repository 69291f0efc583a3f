import { z } from 'zod';

const part = z.record(z.string(), z.unknown());

export const healthResponse = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    uptime_seconds: z.int(),
    parts: z.record(z.string(), part),
  })
  .meta({ id: 'HealthResponse' });
export type HealthReport = z.output<typeof healthResponse>;

export const liveResponse = z.strictObject({ status: z.literal('live') }).meta({ id: 'LiveResponse' });

export const readyResponse = z
  .strictObject({
    status: z.enum(['ready', 'not_ready']),
    waiting_for: z.array(z.string()).meta({
      description:
        '`shutdown`, parts that are away, `projections`, or `diverged_read_models`; empty when ready.',
    }),
  })
  .meta({ id: 'ReadyResponse' });
export type ReadyReport = z.output<typeof readyResponse>;
