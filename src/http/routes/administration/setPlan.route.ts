import { post } from '../../defineRoute.ts';
import { accountRejections } from '../../doneOrProblem.ts';
import { tenantParams } from '../../wire/basics.ts';
import { setPlanRequest, setPlanResponse } from '../../wire/money.ts';

export const setPlan = post('/v1/admin/tenants/{tenant_id}/set-plan', {
  summary: "Set a tenant's plan",
  description: 'The plan decides the free pages of a month and what may be trained.',
  access: 'admin',
  tenant: 'path',
  params: tenantParams,
  body: setPlanRequest,
  reply: { status: 200, schema: setPlanResponse },
  problems: ['busy'],
  handle: async ({ params: { tenant_id }, body, meta, doneOr }, { accounts, reads }) => {
    const data = { tenant_id, plan: body.plan, reason: body.reason ?? null };
    const { events, state, position } = doneOr(
      await accounts.execute({ type: 'SetPlan', data, meta }),
      accountRejections<never>(),
    );
    reads.note(tenant_id, position);
    const set = events.find(({ type }) => type === 'PlanSet');
    if (set?.type !== 'PlanSet')
      return { tenant_id, plan: state.plan, previous_plan: state.plan, changed: false, set_at: meta.now };
    const { plan, previous_plan, set_at } = set.data;
    return { tenant_id, plan, previous_plan, changed: plan !== previous_plan, set_at };
  },
});
