import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { TRAINING_PROBLEMS } from '../../pipelines/problems.ts';
import { createJob } from '../../pipelines/trainingJobs.ts';
import { createTrainingJobRequest, createTrainingJobResponse } from '../../wire/pipelines.ts';

/** A job is not created twice within a week. */
const KEPT_A_WEEK = { keyLengthMax: 255, keepMs: 7 * 24 * 3_600_000 };

export const createTrainingJob = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/training/jobs',
    operationId: 'createTrainingJob',
    summary: 'Train a pipeline on examples',
    description:
      'The price that `GET /v1/billing/training-quote` says is held now, charged when the job ' +
      'succeeds and given back when it does not. Needs a paid plan. With the same ' +
      '`Idempotency-Key` there is one job, for seven days.',
    tag: 'Training',
    access: 'any',
    tenant: 'body',
    bucket: 'general',
    idempotency: KEPT_A_WEEK,
    body: createTrainingJobRequest,
    reply: { status: 202, schema: createTrainingJobResponse },
    problems: TRAINING_PROBLEMS,
    handle: (request) => {
      const { tenant_id, project_id, task_id, ...fields } = request.body;
      return createJob(deps, request, { scope: { tenant_id, project_id, task_id }, fields });
    },
  });
