import type { ParseFailure } from '../../domain/ports/documentParser.ts';

/** Why billed work was not delivered: a code of the interface, a sentence, further members of the answer. */
export interface WorkProblem {
  readonly kind: 'problem';
  readonly code:
    | 'invalid_schema'
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
    | 'output_schema_mismatch'
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
      return workProblem('request_aborted', 'The caller went away before the work was done.');
  }
};
