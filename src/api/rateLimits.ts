import type { RateLimitCommands } from '../commands/apiKeys.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { z } from 'zod';
import type { RateLimitOverride } from '../../domain/rateLimits.ts';
import { bucketsUnder, limitsScope, type TenantLimits } from '../server/limits.ts';
import { instantOut, tenantParams, checkKnown, whoOut } from './schemas/basics.ts';
import { routesOver } from '../server/routes.ts';
import { flushResponse } from './apiKeys.ts';

/** What these routes need. */
export interface RateLimitsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly rateLimits: RateLimitCommands;
  /** What holds for each tenant, as this process knows it. */
  readonly limits: TenantLimits;
}

const { get, post, put, remove } = routesOver<RateLimitsDeps>();

/** The members of `TenantRateLimitsResponse`. */
const rateLimitsAnswer = (tenant_id: string, override: RateLimitOverride | null) => {
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

const whole = z.int().min(1).max(10_000);
const ownBucket = z.strictObject({ rate_per_second: whole, burst: whole }).meta({ id: 'OwnRateLimit' });

const rateLimitsRequest = z.strictObject({ heavy: ownBucket.nullish(), general: ownBucket.nullish() }).meta({
  id: 'TenantRateLimitsRequest',
  description: 'The complete override: members that are null or left out inherit the default.',
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
  updated_by: whoOut,
};

const rateLimitsResponse = z.strictObject(members).meta({ id: 'TenantRateLimitsResponse' });

const rateLimitsDeleted = z
  .strictObject({ ...members, deleted: z.boolean() })
  .meta({ id: 'TenantRateLimitsDeletedResponse' });

export const deleteRateLimits = remove(
  '/v1/admin/tenants/{tenant_id}/rate-limits',
  {
    summary: "Remove a tenant's rate-limit override",
    description: 'If there is none, the answer is the same with `deleted: false`.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: rateLimitsDeleted },
    problems: ['busy'],
  },
  async ({ params: { tenant_id }, meta, doneOr }, { rateLimits, limits, reads }) => {
    const { events, state, position } = doneOr(
      await rateLimits.execute({ type: 'ResetRateLimits', data: { tenant_id }, meta }),
      {},
    );
    reads.note(tenant_id, position);
    reads.note(limitsScope(tenant_id), position);
    limits.put(tenant_id, state.override);
    return { ...rateLimitsAnswer(tenant_id, state.override), deleted: events.length > 0 };
  },
);

export const flushRateLimitCache = post(
  '/v1/admin/tenants/rate-limits/cache/flush',
  {
    summary: "Clear this process's cache of rate-limit overrides",
    description: 'Other processes refresh within 60 seconds.',
    access: 'admin',
    reply: { status: 200, schema: flushResponse },
  },
  (_request, { limits }) => Promise.resolve({ flushed: limits.flush() }),
);

export const getRateLimits = get(
  '/v1/admin/tenants/{tenant_id}/rate-limits',
  {
    summary: "A tenant's rate limits, and its override",
    description:
      'The limit that applies to the tenant in each class, and whether it is a default or the tenant’s own.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: rateLimitsResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { rateLimits, queries }) => {
    const { tenant_id } = request.params;
    const { override } = await rateLimits.stateOf(tenant_id);
    await checkKnown({ queries }, tenant_id, { isEmpty: override === null });
    return rateLimitsAnswer(tenant_id, override);
  },
);

export const setRateLimits = put(
  '/v1/admin/tenants/{tenant_id}/rate-limits',
  {
    summary: "Replace a tenant's rate-limit override",
    description: 'It applies in this process at once, in others within 60 seconds.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    body: rateLimitsRequest,
    reply: { status: 200, schema: rateLimitsResponse },
    problems: ['busy'],
  },
  async ({ params: { tenant_id }, body, meta, doneOr }, { rateLimits, limits, reads }) => {
    const data = { tenant_id, heavy: body.heavy ?? null, general: body.general ?? null };
    const { state, position } = doneOr(
      await rateLimits.execute({ type: 'OverrideRateLimits', data, meta }),
      {},
    );
    reads.note(tenant_id, position);
    reads.note(limitsScope(tenant_id), position);
    limits.put(tenant_id, state.override);
    return rateLimitsAnswer(tenant_id, state.override);
  },
);
