import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { jobStatus, sightOf } from '../../pipelines/trainingJobs.ts';
import { plainText } from '../../wire/basics.ts';
import { trainingJobStatus } from '../../wire/pipelines.ts';

export const getTrainingJob = get('/v1/training/jobs/{job_id}', {
  summary: 'The progress and the result of a training job',
  description:
    'Ask until `status` is `succeeded`, `failed` or `cancelled`; the scores by field show what was learned.',
  access: 'any',
  params: z.object({ job_id: plainText(1, 128) }),
  reply: { status: 200, schema: trainingJobStatus },
  problems: ['job_not_found'],
  handle: (request, deps) =>
    jobStatus(deps, request, { tenant_id: sightOf(request), job_id: request.params.job_id }),
});
