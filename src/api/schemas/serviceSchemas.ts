import { z } from 'zod';
import { instantOut, logIdOut } from './basics.ts';

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
        '`shutdown`, parts that cannot be reached, `projections`, or `diverged_read_models`; empty when ready.',
    }),
  })
  .meta({ id: 'ReadyResponse' });
export type ReadyReport = z.output<typeof readyResponse>;

const text = z.string();

const parkedTenant = z
  .strictObject({
    tenant_id: text,
    position: text.meta({ description: 'Of the event that could not be applied.' }),
    event_id: text.meta({ description: 'The event that could not be applied.' }),
    reason: text,
    waiting_since: instantOut.nullable().meta({ description: 'When that event was recorded.' }),
    parked_at: instantOut.meta({ description: 'When the read model began to leave the tenant’s events.' }),
    retrying: z.boolean().meta({ description: 'The tenant’s rows are being made anew.' }),
  })
  .meta({ id: 'ParkedTenant' });

const readModel = z
  .strictObject({
    name: text,
    version: z.int(),
    state: text,
    position: text.nullable(),
    lag_events: z.int().nullable(),
    waiting_since: instantOut
      .nullable()
      .meta({ description: 'When the oldest event was recorded that is not applied; null: none waits.' }),
    lag_seconds: z.number().meta({ description: 'Age of the oldest event that is not applied; 0: none.' }),
    still_seconds: z
      .number()
      .meta({ description: 'For how long the position has not moved while events wait; 0: none waits.' }),
    is_paused: z.boolean().meta({ description: 'An operator keeps it where it is.' }),
    parked: z
      .array(parkedTenant)
      .meta({ description: 'Tenants whose events it leaves, from one that it could not apply on.' }),
    reason: text.nullable(),
    next: z.strictObject({ version: z.int(), state: text, position: text.nullable() }).nullable(),
  })
  .meta({ id: 'ReadModelState' });

const replica = z
  .strictObject({
    replica_id: text,
    version: text,
    roles: z.array(text),
    started_at: instantOut,
    seen_at: instantOut,
  })
  .meta({ id: 'Replica' });

const bucketInUse = z
  .strictObject({
    tenant_id: text,
    bucket: z.enum(['heavy', 'general']),
    remaining: z.int(),
    burst: z.int(),
    rate_per_second: z.int(),
  })
  .meta({ id: 'RateLimitInUse' });

export const serviceState = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    version: text,
    uptime_seconds: z.int(),
    parts: z.record(z.string(), z.record(z.string(), z.unknown())),
    roles: z.array(text),
    draining: z.boolean(),
    log: z.strictObject({ log_id: logIdOut, end_position: text.nullable() }),
    read_models: z.array(readModel),
    slots: z.strictObject({
      in_use: z.int(),
      max: z.int(),
      tenants: z.array(z.strictObject({ tenant_id: text, in_use: z.int() })),
    }),
    rate_limits: z.array(bucketInUse),
    work: z.array(z.strictObject({ kind: text, status: text, count: z.int() })),
    max_upload_bytes: z.int(),
    replicas: z.array(replica),
  })
  .meta({ id: 'ServiceState' });
export type ServiceStateBody = z.input<typeof serviceState>;
