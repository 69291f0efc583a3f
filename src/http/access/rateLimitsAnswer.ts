import type { RateLimitOverride } from '../../../domain/rateLimits.ts';
import { bucketsUnder } from './tenantLimits.ts';

/** The members of `TenantRateLimitsResponse`. */
export const rateLimitsAnswer = (tenant_id: string, override: RateLimitOverride | null) => {
  const buckets = bucketsUnder(override);
  const effective = (name: 'heavy' | 'general') => ({
    ...buckets[name],
    source: override?.[name] == null ? ('default' as const) : ('override' as const),
  });
  return {
    tenant_id,
    effective: { heavy: effective('heavy'), general: effective('general') },
    override: override === null ? null : { heavy: override.heavy, general: override.general },
    updated_at: override?.updated_at ?? null,
    updated_by: override?.updated_by ?? null,
  };
};
