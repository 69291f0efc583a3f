import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { trainingJobList, trainingJobsQuery } from '../../wire/pipelines.ts';

export const listTrainingJobs = get('/v1/training/jobs', {
  summary: 'The training jobs of a tenant, newest first',
  description: 'Progress and scores are in `GET /v1/training/jobs/{job_id}`.',
  access: 'any',
  tenant: 'query',
  query: trainingJobsQuery,
  reply: { status: 200, schema: trainingJobList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async ({ query }, { queries }) => {
    const { tenant_id, limit, offset } = query;
    const { items, total } = await queries.jobsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    const shown = items.map(({ credits: credits_held, credits_charged, ...item }) => ({
      ...item,
      credits_held,
      // Booked a moment after the success, at the price that was set aside.
      credits_charged: credits_charged ?? (item.status === 'succeeded' ? credits_held : 0),
    }));
    return { items: shown, total, limit, offset };
  },
});
