import { z } from 'zod';
import {
  creditsOut,
  instantOut,
  pageOf,
  pagingQuery,
  plainText,
  tagsIn,
  tagsOut,
  tenantIdText,
  usdOut,
  whoOut,
} from './basics.ts';
import { extractModeIn } from './workSchemas.ts';

/** Part of a stream's name: no half of a surrogate pair, which cannot be written in one. */
export const scopeName = (max = 128) =>
  plainText(1, max).refine((text) => !/\p{Cs}/u.test(text), { error: 'Must be well-formed text.' });

/** A document, and what should be read in it. */
export const example = z
  .strictObject({
    document_id: plainText(1, 100).optional(),
    file_uri: plainText(1, 200).optional().meta({ description: 'Send it instead of `document_id`.' }),
    expected: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The correct values of the document, in the form of the schema.' }),
  })
  .meta({ id: 'TrainingExample' });

/** What a job is, but for whose it is: also the payload of `training.create`. */
const trainingJobMembers = {
  name: plainText(1, 200).nullish(),
  schema: z.unknown().meta({ description: 'The JSON Schema that the pipeline fills in.' }),
  examples: z
    .array(example)
    .max(1_000)
    .nullish()
    .meta({ description: 'At least 2 examples; or send a `dataset_id` or a `set_id`.' }),
  dataset_id: plainText(1, 100)
    .nullish()
    .meta({ description: 'An upload of kind `dataset`: NDJSON of `{document_id, expected}`.' }),
  set_id: plainText(1, 128).nullish().meta({
    description: 'ID of a set of examples (`POST /v1/evaluations/sets`); its latest version is used.',
  }),
  optimizer_tier: z.enum(['light', 'medium', 'heavy']).default('light'),
  max_metric_calls: z.int().min(1).max(100_000).nullish(),
  validation_split: z.number().min(0).max(0.5).default(0.2),
  mode: extractModeIn.default('standard'),
  model: plainText(1, 200).nullish().meta({ description: 'A model of the platform, `<provider>/<model>`.' }),
  billing_type: z.enum(['full_service', 'byok']).default('full_service'),
  llm_provider_model: plainText(1, 200).nullish(),
  llm_api_key: plainText(1, 1000).nullish(),
  llm_api_base: plainText(1, 2000).nullish(),
  seed: z.int().default(0),
  tags: tagsIn.nullish(),
};
export const trainingJobFields = z.strictObject(trainingJobMembers);
export type TrainingJobFields = z.output<typeof trainingJobFields>;

export const createTrainingJobRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    project_id: scopeName().default('default'),
    task_id: scopeName().default('default'),
    ...trainingJobMembers,
  })
  .meta({ id: 'CreateTrainingJobRequest' });

export const createTrainingJobResponse = z
  .strictObject({
    job_id: z.string(),
    status: z.literal('queued'),
    credits_held: creditsOut,
    created_at: instantOut,
  })
  .meta({ id: 'CreateTrainingJobResponse' });

const scoreOut = z.number().min(0).max(1);

const fieldScores = z.array(z.strictObject({ path: z.string(), baseline: scoreOut, best: scoreOut }));

const chargeOut = creditsOut.meta({ description: 'Whole credits; 0 until it has succeeded.' });

const statusMembers = {
  job_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  progress: z.strictObject({ metric_calls: z.int(), max_metric_calls: z.int() }),
  baseline_score: scoreOut.nullable(),
  best_score: scoreOut.nullable().meta({ description: 'Score on the examples that were held out.' }),
  per_field: fieldScores,
  artifact_id: z.string().nullable(),
  artifact_uri: z.string().nullable(),
  credits_charged: chargeOut,
  error: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
  tags: tagsOut,
  created_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
};

export const trainingJobStatus = z.strictObject(statusMembers).meta({ id: 'TrainingJobStatusResponse' });
export type TrainingJobStatusBody = z.input<typeof trainingJobStatus>;

export const cancelledTrainingJob = z
  .strictObject({
    ...statusMembers,
    cancelled: z.boolean().meta({ description: 'False if the job had already ended.' }),
  })
  .meta({ id: 'CancelTrainingJobResponse' });

/** What has to be measured before something is published. */
export const gateIn = z
  .strictObject({
    set_id: plainText(1, 128),
    min_f1: z.number().min(0).max(1).optional().meta({ description: 'F1 over all fields.' }),
    not_worse_than: plainText(1, 128)
      .optional()
      .meta({ description: 'A run of the same version of the set; its F1 must be reached.' }),
  })
  .meta({
    id: 'Gate',
    description:
      'The last run that measured the same with the latest version of the set must pass; else 409 `gate_not_passed`.',
  });

const rolloutIn = z
  .strictObject({
    strategy: z.enum(['all_at_once', 'canary']).default('all_at_once'),
    percent: z.int().min(1).max(100).default(100),
  })
  .meta({ id: 'DeploymentRollout' });

export const activateDeploymentRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    project_id: scopeName(),
    task_id: scopeName().default('default'),
    environment: scopeName(64).default('prod'),
    artifact_id: plainText(1, 128),
    artifact_uri: plainText(1, 500),
    rollout: rolloutIn.nullish(),
    gate: gateIn.nullish(),
  })
  .meta({ id: 'ActivateDeploymentRequest' });

/** Payload of `deployment.activate`; the scope and the resource say the rest. */
export const activatePayload = z.strictObject({
  artifact_uri: plainText(1, 500).optional(),
  rollout: rolloutIn.nullish(),
});

const deploymentMembers = {
  deployment_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  environment: z.string(),
  artifact_id: z.string(),
  artifact_uri: z.string(),
  rollout: z.strictObject({ strategy: z.enum(['all_at_once', 'canary']), percent: z.int() }),
  status: z.literal('active'),
  activated_at: instantOut,
  activated_by: whoOut,
};

export const deploymentResponse = z
  .strictObject({ ...deploymentMembers, replaces: z.string().nullable() })
  .meta({ id: 'DeploymentResponse' });

export const resolvedDeployment = z
  .strictObject({
    ...deploymentMembers,
    previous_artifact_id: z.string().nullable().meta({
      description: 'The artifact to activate to go back; for a canary, the one that it runs beside.',
    }),
  })
  .meta({ id: 'ResolvedDeployment' });

export const currentDeploymentQuery = z.object({
  tenant_id: tenantIdText,
  project_id: scopeName(),
  task_id: scopeName().default('default'),
  environment: scopeName(64).default('prod'),
});

const scopeQuery = { project_id: scopeName().optional(), task_id: scopeName().optional() };
const ofTenant = { tenant_id: tenantIdText, ...scopeQuery, ...pagingQuery };

export const artifactsQuery = z.object(ofTenant);
export const deploymentsQuery = z.object({ ...ofTenant, environment: scopeName(64).optional() });
export const trainingJobsQuery = z.object({ ...ofTenant, status: statusMembers.status.optional() });

export const trainingJobList = pageOf(
  z
    .strictObject({
      job_id: z.string(),
      tenant_id: z.string(),
      project_id: z.string(),
      task_id: z.string(),
      name: z.string().nullable(),
      status: z.string(),
      artifact_id: z.string().nullable(),
      problem_code: z.string().nullable(),
      credits_held: creditsOut,
      credits_charged: chargeOut,
      created_at: instantOut,
      started_at: instantOut.nullable(),
      finished_at: instantOut.nullable(),
    })
    .meta({ id: 'TrainingJobItem' }),
  'TrainingJobList',
);

export const deploymentList = pageOf(
  z
    .strictObject({
      deployment_id: z.string(),
      tenant_id: z.string(),
      project_id: z.string(),
      task_id: z.string(),
      environment: z.string(),
      artifact_id: z.string(),
      artifact_uri: z.string(),
      rollout: deploymentMembers.rollout,
      status: z.enum(['active', 'retired']),
      replaces: z.string().nullable(),
      activated_at: instantOut,
      activated_by: whoOut,
      retired_at: instantOut.nullable(),
    })
    .meta({ id: 'DeploymentItem' }),
  'DeploymentList',
);

const artifactMembers = z
  .strictObject({
    artifact_id: z.string(),
    artifact_uri: z.string(),
    job_id: z.string(),
    tenant_id: z.string(),
    project_id: z.string(),
    task_id: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    schema_sha256: z.string(),
    baseline_score: scoreOut,
    best_score: scoreOut,
    per_field: fieldScores,
    learned_from: z.array(z.string()).nullable().meta({
      description:
        'Number of documents of its examples; null for jobs of early releases, which did not record it.',
    }),
    learned_from_erased: z.int().meta({
      description:
        'How many of them were erased since. If any were, train again without them and retire this artifact.',
    }),
    created_at: instantOut,
  })
  .meta({ id: 'Artifact' });

export const artifactListBody = pageOf(artifactMembers, 'ArtifactList');

export const examplesChargeRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    idempotency_key: plainText(1, 255),
    job_id: plainText(1, 128).nullish(),
    artifact_id: plainText(1, 128).nullish(),
    examples_count: z.int().min(0).nullish(),
    tags: tagsIn.nullish(),
  })
  .meta({ id: 'DspyExamplesChargeRequest' });

export const examplesChargeResponse = z
  .strictObject({
    charge_id: z.string(),
    tenant_id: z.string(),
    idempotency_key: z.string(),
    charged: z.boolean(),
    credits_charged: creditsOut,
    balance_credits: creditsOut,
    created_at: instantOut,
  })
  .meta({ id: 'DspyExamplesChargeResponse' });

export const trainingQuoteResponse = z
  .strictObject({
    tenant_id: z.string(),
    billing_type: z.string(),
    optimizer_tier: z.string(),
    total_examples: z.int(),
    max_metric_calls: z.int(),
    credits: creditsOut,
    breakdown: z.strictObject({ base: creditsOut, examples: creditsOut, metric_calls: creditsOut }),
    list_value_usd: usdOut,
    available_credits: creditsOut,
    sufficient: z.boolean(),
    plan_allows: z.boolean().meta({ description: 'False on plan `free`: a job would be refused.' }),
  })
  .meta({ id: 'TrainingQuoteResponse' });
