import type { ProblemCode } from '../../problemTable.ts';

/** What creating a training job may end with. */
export const TRAINING_PROBLEMS = [
  'invalid_schema',
  'schema_beyond_limits',
  'document_not_found',
  'missing_file',
  'unsupported_file_type',
  'file_too_large',
  'version_conflict',
  'plan_required',
  'insufficient_credits',
  'idempotency_key_reused',
  'unsafe_api_base',
  'field_encryption_not_configured',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

/** What any operation on pipelines may end with. */
export const PIPELINE_PROBLEMS = [
  ...TRAINING_PROBLEMS,
  'job_not_found',
  'artifact_not_found',
  'deployment_not_found',
] as const satisfies readonly ProblemCode[];
