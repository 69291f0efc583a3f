import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

const whole = z.number().int().min(1).max(10_000);

/** A token bucket: refilled at `rate_per_second`, and full at `burst`. */
const bucket = z.strictObject({ rate_per_second: whole, burst: whole });

/** A tenant's own limits; null inherits the default. It replaces the override before it. */
const rateLimitsOverridden = event('RateLimitsOverridden', {
  tenant_id: tenantId,
  heavy: bucket.nullable(),
  general: bucket.nullable(),
  updated_at: instant,
  updated_by: z.string(),
});

/** The tenant inherits all defaults again. */
const rateLimitsReset = event('RateLimitsReset', {
  tenant_id: tenantId,
  reset_at: instant,
  reset_by: z.string(),
});

export const rateLimitsEvent = z.discriminatedUnion('type', [rateLimitsOverridden, rateLimitsReset]);
export type RateLimitsEvent = z.output<typeof rateLimitsEvent>;

export const rateLimitsStream = (tenant: string): string => `rateLimits-${tenant}`;
