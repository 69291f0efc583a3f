import { z } from 'zod';
import { post } from '../../defineRoute.ts';
import { cancelJob, sightOf } from '../../pipelines/trainingJobs.ts';
import { plainText } from '../../wire/basics.ts';
import { cancelledTrainingJob } from '../../wire/pipelines.ts';

export const cancelTrainingJob = post('/v1/training/jobs/{job_id}/cancel', {
  summary: 'Cancel a training job that has not ended',
  description: 'Its hold is given back. A job that had ended stays as it is, with `cancelled: false`.',
  access: 'any',
  params: z.object({ job_id: plainText(1, 128) }),
  reply: { status: 200, schema: cancelledTrainingJob },
  problems: ['job_not_found', 'busy'],
  handle: (request, deps) =>
    cancelJob(deps, request, { tenant_id: sightOf(request), job_id: request.params.job_id }),
});
