import { z } from 'zod';
import { instantOut } from './basics.ts';

const whole = z.int().min(1).max(10_000);
const ownBucket = z.strictObject({ rate_per_second: whole, burst: whole }).meta({ id: 'OwnRateLimit' });

export const rateLimitsRequest = z
  .strictObject({ heavy: ownBucket.nullish(), general: ownBucket.nullish() })
  .meta({
    id: 'TenantRateLimitsRequest',
    description: 'The whole override: members that are null or left out inherit the default.',
  });

const effective = z
  .strictObject({ rate_per_second: z.int(), burst: z.int(), source: z.enum(['default', 'override']) })
  .meta({ id: 'EffectiveRateLimit' });

const members = {
  tenant_id: z.string(),
  effective: z.strictObject({ heavy: effective, general: effective }),
  override: z
    .strictObject({ heavy: ownBucket.nullable(), general: ownBucket.nullable() })
    .nullable()
    .meta({ description: 'null: the tenant has none.' }),
  updated_at: instantOut.nullable(),
  updated_by: z.string().nullable(),
};

export const rateLimitsResponse = z.strictObject(members).meta({ id: 'TenantRateLimitsResponse' });

export const rateLimitsDeleted = z
  .strictObject({ ...members, deleted: z.boolean() })
  .meta({ id: 'TenantRateLimitsDeletedResponse' });
