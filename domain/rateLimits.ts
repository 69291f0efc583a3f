import { z } from 'zod';
import { accept, type Command, type Decider, event, type StreamKind } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';

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

type RateLimitsEvent = z.output<typeof rateLimitsEvent>;

/** Limits of a tenant in place of the defaults; null inherits the default. */
export type RateLimitOverride = Omit<
  Extract<RateLimitsEvent, { readonly type: 'RateLimitsOverridden' }>['data'],
  'tenant_id'
>;

/** A tenant's own token bucket. */
export type OwnBucket = NonNullable<RateLimitOverride['heavy']>;

/** Replaces the whole override. */
type OverrideRateLimits = Command<
  'OverrideRateLimits',
  { readonly tenant_id: string } & Pick<RateLimitOverride, 'heavy' | 'general'>
>;

/** The tenant inherits all defaults again; without an override it does nothing. */
type ResetRateLimits = Command<'ResetRateLimits', { readonly tenant_id: string }>;

interface RateLimitsState {
  readonly override: RateLimitOverride | null;
}

const isSame = (a: OwnBucket | null, b: OwnBucket | null): boolean =>
  a?.rate_per_second === b?.rate_per_second && a?.burst === b?.burst;

export type RateLimitsKind = StreamKind<
  RateLimitsState,
  OverrideRateLimits | ResetRateLimits,
  RateLimitsEvent,
  never
>;

/** One override a tenant; what is in force already is not recorded again. */
export const rateLimits: Decider<RateLimitsKind> = {
  initialState: { override: null },
  decide: ({ override }, command) => {
    const { now, actor } = command.meta;
    const { tenant_id } = command.data;
    if (command.type === 'ResetRateLimits')
      return override === null
        ? accept()
        : accept({ type: 'RateLimitsReset', data: { tenant_id, reset_at: now, reset_by: actor.key_id } });
    const { heavy, general } = command.data;
    if (override !== null && isSame(override.heavy, heavy) && isSame(override.general, general))
      return accept();
    return accept({
      type: 'RateLimitsOverridden',
      data: { tenant_id, heavy, general, updated_at: now, updated_by: actor.key_id },
    });
  },
  evolve: (_, event) => {
    if (event.type === 'RateLimitsReset') return { override: null };
    const { heavy, general, updated_at, updated_by } = event.data;
    return { override: { heavy, general, updated_at, updated_by } };
  },
};

export const rateLimitsStream = (tenant: string): string => `rateLimits-${tenant}`;
