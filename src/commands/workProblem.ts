import type { ParseFailure } from '../../domain/ports/documentParser.ts';
import type { ModelFailure } from '../../domain/ports/modelProvider.ts';

/** Why billed work was not delivered: a code of the interface, a sentence, further members of the answer. */
export interface WorkProblem {
  readonly kind: 'problem';
  readonly code:
    | 'invalid_schema'
    | 'schema_beyond_limits'
    | 'missing_schema'
    | 'missing_file'
    | 'empty_file'
    | 'file_too_large'
    | 'unsupported_media_type'
    | 'document_not_found'
    | 'tenant_mismatch'
    | 'version_conflict'
    | 'unsupported_file_type'
    | 'unreadable_file'
    | 'too_many_pages'
    | 'unknown_model_provider'
    | 'artifact_not_found'
    | 'config_not_found'
    | 'validation_error'
    | 'insufficient_credits'
    | 'plan_required'
    | 'idempotency_key_reused'
    | 'job_not_found'
    | 'deployment_not_found'
    | 'charge_required'
    | 'output_schema_mismatch'
    | 'unsafe_api_base'
    | 'field_encryption_not_configured'
    | 'model_provider_error'
    | 'provider_timeout'
    | 'extraction_failed'
    | 'conversion_failed'
    | 'storage_error'
    | 'busy'
    | 'not_ready'
    | 'request_aborted';
  readonly detail: string;
  readonly members?: Readonly<Record<string, unknown>>;
}

export const workProblem = (
  code: WorkProblem['code'],
  detail: string,
  members?: Readonly<Record<string, unknown>>,
): WorkProblem => ({ kind: 'problem', code, detail, ...(members && { members }) });

const LEFT = 'The caller went away before the work was done.';

export const fileTooLarge = (bytesMax: number): WorkProblem =>
  workProblem('file_too_large', `The file has more than ${String(bytesMax)} bytes.`, { max_bytes: bytesMax });

/** A parser's failure in the words of the interface. `timedOut` is the code of a deadline that passed. */
export const parseProblem = (
  failure: ParseFailure,
  timedOut: 'extraction_failed' | 'conversion_failed',
): WorkProblem => {
  switch (failure.kind) {
    case 'empty':
      return workProblem('empty_file', failure.detail);
    case 'unsupported':
      return workProblem('unsupported_file_type', failure.detail);
    case 'unreadable':
      return workProblem('unreadable_file', failure.detail);
    case 'too_many_pages':
      return workProblem('too_many_pages', failure.detail, {
        pages: failure.pages,
        max_pages: failure.pagesMax,
      });
    case 'timed_out':
      return workProblem(timedOut, failure.detail);
    case 'aborted':
      return workProblem('request_aborted', LEFT);
  }
};

/** A model's failure in the words of the interface: which provider, its status, never what it wrote. */
export const modelProblem = (failure: ModelFailure): WorkProblem => {
  switch (failure.kind) {
    case 'provider_error':
      return workProblem('model_provider_error', failure.detail, {
        provider: failure.provider,
        provider_status: failure.provider_status,
      });
    case 'timed_out':
      return workProblem('provider_timeout', failure.detail, { provider: failure.provider });
    case 'unsafe_api_base':
      return workProblem('unsafe_api_base', failure.detail);
    case 'aborted':
      return workProblem('request_aborted', LEFT);
  }
};
