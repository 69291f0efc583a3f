import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { findJob, sightOf } from '../../pipelines/trainingJobs.ts';
import { plainText } from '../../wire/basics.ts';

export const getTrainingExamples = get('/v1/training/jobs/{job_id}/examples', {
  summary: 'The examples of a training job, as DSPy loads them',
  description:
    'NDJSON, a line `{document_id, document, expected}` for each example: ' +
    '`dspy.Example(**row).with_inputs("document")`. `document` is the text of the document ' +
    'as markdown. Needs the charge of `POST /v1/billing/dspy-examples-charge` for this job, ' +
    'or for its artifact.',
  access: 'any',
  bucket: 'heavy',
  params: z.object({ job_id: plainText(1, 128) }),
  reply: { status: 200, contentType: 'application/x-ndjson' },
  problems: ['job_not_found', 'charge_required', 'storage_error'],
  handle: async (request, deps) => {
    const { accepted: job } = await findJob(deps, sightOf(request), request.params.job_id);
    const { tenant_id, job_id } = job;
    const isBilled = request.caller.role === 'tenant';
    const { signal } = request;
    const rows = await deps.pipelines.exportExamples({ tenant_id, job_id, isBilled, signal });
    if ('kind' in rows) throw workFailure(rows);
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    return { contentType: 'application/x-ndjson', body };
  },
});
