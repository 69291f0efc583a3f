import type { Command } from '../kernel/command.ts';
import { accept, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { RateLimitsEvent } from './events.ts';

/** Limits of a tenant in place of the defaults; null inherits the default. */
export type RateLimitOverride = Omit<
  Extract<RateLimitsEvent, { readonly type: 'RateLimitsOverridden' }>['data'],
  'tenant_id'
>;

/** A tenant's own token bucket. */
export type OwnBucket = NonNullable<RateLimitOverride['heavy']>;

/** Replaces the whole override. */
export type OverrideRateLimits = Command<
  'OverrideRateLimits',
  { readonly tenant_id: string } & Pick<RateLimitOverride, 'heavy' | 'general'>
>;

/** The tenant inherits all defaults again; without an override it does nothing. */
export type ResetRateLimits = Command<'ResetRateLimits', { readonly tenant_id: string }>;

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
