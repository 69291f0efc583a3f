import { z } from 'zod';
import type { RetentionCommands } from '../commands/apiKeys.ts';
import {
  keptDays,
  type KeptTooLong,
  type Retention,
  RETENTION_DAYS_MAX,
  type TenantRetentionState,
} from '../../domain/retention.ts';
import type { Queries } from '../queries/queries.ts';
import { invalid, type Sentences } from '../server/problems.ts';
import { routesOver } from '../server/routes.ts';
import { checkKnown, instantOut, tenantParams, whoOut } from './schemas/basics.ts';

/** What these routes need. */
export interface RetentionDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant'>;
  readonly retention: RetentionCommands;
}

const { get, put } = routesOver<RetentionDeps>();

const ownDays = z.int().min(1).max(RETENTION_DAYS_MAX);

/** Of each class of things its days. */
const byClass = <Days extends z.ZodType>(days: Days) => ({
  uploads: days.meta({ description: 'For used uploads, counted from when they were sent.' }),
  results: days.meta({
    description: 'For results of operations and batches, counted from when they were billed.',
  }),
  examples: days.meta({ description: 'For examples of training jobs, counted from the end of their job.' }),
  deliveries: days.meta({
    description: 'For deliveries of webhooks, counted from the event that they report.',
  }),
});

const retentionRequest = z.strictObject({ days: z.strictObject(byClass(ownDays.nullish())) }).meta({
  id: 'TenantRetentionRequest',
  description: "All periods of the tenant: members that are null or left out inherit the installation's.",
});

const keptFor = z.strictObject(byClass(z.int().nullable()));

const retentionResponse = z
  .strictObject({
    tenant_id: z.string(),
    days: keptFor.meta({ description: 'How long the tenant’s data is kept. null: for ever.' }),
    own_days: keptFor.nullable().meta({
      description: 'The periods set for the tenant; null: none were set. A member that is null inherits.',
    }),
    installation_days: keptFor.meta({
      description: 'How long data is kept if a tenant has no periods of its own. null: for ever.',
    }),
    updated_at: instantOut.nullable(),
    updated_by: whoOut,
  })
  .meta({ id: 'TenantRetentionResponse' });

/** As callers see days: null for those that never end. */
const shown = ({ uploads, results, examples, deliveries }: Retention) => ({
  uploads: uploads || null,
  results: results || null,
  examples: examples || null,
  deliveries: deliveries || null,
});

const retentionAnswer = (
  { installation }: RetentionCommands,
  tenant_id: string,
  state: TenantRetentionState,
) => {
  const own = state.tenants.get(tenant_id);
  return {
    tenant_id,
    days: shown(keptDays(installation, state).of(tenant_id)),
    own_days: own?.days ?? null,
    installation_days: shown(installation),
    updated_at: own?.updated_at ?? null,
    updated_by: own?.updated_by ?? null,
  };
};

export const getRetention = get(
  '/v1/admin/tenants/{tenant_id}/retention',
  {
    summary: "How long a tenant's data is kept",
    description: 'In days for each class: the period that applies, the tenant’s own, and the installation’s.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: retentionResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id } }, { retention, queries }) => {
    const state = await retention.state();
    await checkKnown({ queries }, tenant_id, { isEmpty: !state.tenants.has(tenant_id) });
    return retentionAnswer(retention, tenant_id, state);
  },
);

const REJECTIONS = {
  kept_too_long: ({ what, days }: KeptTooLong) =>
    invalid({
      loc: ['body', 'days', what],
      msg: `Must be at most ${String(days)}, the days of the installation.`,
      type: 'too_big',
    }),
} satisfies Sentences<KeptTooLong>;

export const setRetention = put(
  '/v1/admin/tenants/{tenant_id}/retention',
  {
    summary: "Replace a tenant's retention periods",
    description:
      'They can only be shorter than those of the installation. Data that is older than the new period is removed by ' +
      'the next sweep, within an hour.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    body: retentionRequest,
    reply: { status: 200, schema: retentionResponse },
    problems: ['busy'],
  },
  async ({ params: { tenant_id }, body: { days }, meta, doneOr }, { retention }) => {
    const { uploads = null, results = null, examples = null, deliveries = null } = days;
    const outcome = await retention.set(tenant_id, { uploads, results, examples, deliveries }, meta);
    return retentionAnswer(retention, tenant_id, doneOr(outcome, REJECTIONS).state);
  },
);
