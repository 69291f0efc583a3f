import type { ProblemCode } from '../../problemTable.ts';

/** What every work on a document may end with. */
const WORK_PROBLEMS = [
  'unsupported_file_type',
  'unreadable_file',
  'wrong_password',
  'too_many_pages',
  'unknown_model_provider',
  'unsafe_api_base',
  'unsafe_source_url',
  'source_unavailable',
  'missing_file',
  'empty_file',
  'file_too_large',
  'upload_quota_exceeded',
  'field_encryption_not_configured',
  'insufficient_credits',
  'model_provider_error',
  'provider_timeout',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

/** What a document that is fetched from storage may end with. */
export const FETCH_PROBLEMS = [
  'document_not_found',
  'missing_file',
  'empty_file',
  'file_too_large',
  'version_conflict',
] as const satisfies readonly ProblemCode[];

/** What the fields of an extraction may be refused for, before a file is looked at. */
const FIELD_PROBLEMS = [
  'missing_schema',
  'invalid_schema',
  'schema_beyond_limits',
  'artifact_not_found',
  'config_not_found',
  'field_encryption_not_configured',
] as const satisfies readonly ProblemCode[];

/** What a batch may be refused for: its files are opened later. */
export const BATCH_PROBLEMS = [
  ...FIELD_PROBLEMS,
  'unknown_model_provider',
  'unsafe_api_base',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

export const EXTRACTION_PROBLEMS = [
  ...WORK_PROBLEMS,
  ...FIELD_PROBLEMS,
  'output_schema_mismatch',
  'extraction_failed',
] as const satisfies readonly ProblemCode[];

export const CONVERSION_PROBLEMS = [
  ...WORK_PROBLEMS,
  'conversion_failed',
] as const satisfies readonly ProblemCode[];
