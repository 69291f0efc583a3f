import type { ParseFailure } from '@quire/engine/ports/documentParser';
import type { ModelFailure } from '@quire/engine/ports/modelProvider';
import type { Bucket } from '../../domain/ports/services.ts';
import type { ProblemCode, RequestIssue } from '../problemTable.ts';

interface Explained<Code> {
  readonly kind: 'problem';
  readonly code: Code;
  readonly detail: string;
  /** Before this there is no sense in asking again. Left out: a second, where asking again may help. */
  readonly retry_after_seconds?: number;
  /** The same work would end so again: who tries by itself does not. */
  readonly is_lasting?: true;
}

/** A code of the interface whose answer needs no more than a sentence. */
type PlainCode = Exclude<ProblemCode, 'validation_error' | 'rate_limited'> | 'request_aborted';

/** Why work was not delivered: a code of the interface, and what its answer says beside it. */
export type WorkProblem =
  | (Explained<PlainCode> & { readonly members?: Readonly<Record<string, unknown>> })
  | (Explained<'validation_error'> & { readonly issues: readonly RequestIssue[] })
  | (Explained<'rate_limited'> & { readonly bucket: string; readonly retry_after_seconds: number });

export const workProblem = (
  code: PlainCode,
  detail: string,
  members?: Readonly<Record<string, unknown>>,
): WorkProblem => ({ kind: 'problem', code, detail, ...(members && { members }) });

/** One member of the request that cannot be as it is. */
export const misfit = (loc: readonly (string | number)[], detail: string): WorkProblem => ({
  kind: 'problem',
  code: 'validation_error',
  detail,
  issues: [{ loc, msg: detail, type: 'value_error' }],
});

const LEFT = 'The caller went away before the work was done.';

export const fileTooLarge = (bytesMax: number): WorkProblem =>
  workProblem('file_too_large', `The file has more than ${String(bytesMax)} bytes.`, { max_bytes: bytesMax });

/** `retryAfterMs`: until the bucket has a token. */
export const rateLimited = (bucket: string, limit: Bucket, retryAfterMs: number): WorkProblem => {
  const rate = `${String(limit.rate_per_second)} requests a second, ${String(limit.burst)} at once`;
  return {
    kind: 'problem',
    code: 'rate_limited',
    detail: `The rate limit of the ${bucket} bucket was exceeded: ${rate}.`,
    bucket,
    retry_after_seconds: Math.max(1, Math.ceil(retryAfterMs / 1000)),
  };
};

export const tooMuchInFlight = (bytesMax: number): WorkProblem => ({
  kind: 'problem',
  code: 'rate_limited',
  detail: `Files of this tenant are on their way already, and at most ${String(bytesMax)} bytes may be at once.`,
  bucket: 'upload',
  retry_after_seconds: 1,
});

/** How long work that has had all its time is remembered, ms: asking again gains nothing meanwhile. */
export const OVERRUN_KEPT_MS = 30 * 60_000;

/** A server with too much to do is asked again after this, seconds. */
const STARVED_S = 10;

/** A parser's failure in the words of the interface. A time-out of ours is never said of the file. */
export const parseProblem = (failure: ParseFailure): WorkProblem => {
  switch (failure.kind) {
    case 'empty':
      return workProblem('empty_file', failure.detail);
    case 'unsupported':
      return workProblem('unsupported_file_type', failure.detail);
    case 'unreadable':
      return workProblem('unreadable_file', failure.detail);
    case 'timed_out': {
      const kept = { retry_after_seconds: OVERRUN_KEPT_MS / 1000, is_lasting: true } as const;
      return { ...workProblem('busy', failure.detail), ...kept };
    }
    case 'starved':
      return { ...workProblem('busy', failure.detail), retry_after_seconds: STARVED_S };
    case 'wrong_password':
      return workProblem('wrong_password', failure.detail);
    case 'no_such_page':
      return misfit(['body', 'pages'], failure.detail);
    case 'too_many_pages':
      return workProblem('too_many_pages', failure.detail, {
        pages: failure.pages,
        max_pages: failure.pagesMax,
      });
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

/** The answer to a request whose key names work that was not refused and is not over. */
export const inProgress = (): WorkProblem =>
  workProblem('request_in_progress', 'A request with this Idempotency-Key is still running.');

/** The answer to a request whose key names work on a document that was erased since. */
export const erasedWork = (): WorkProblem =>
  workProblem(
    'erased',
    'The document of this request was erased, and the result with it. Nothing is done or billed again. Send the ' +
      'request with another Idempotency-Key to have it done anew.',
  );

/** The answer to a request that asks for something else under a key that has named work. */
export const reused = (): WorkProblem =>
  workProblem('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');

/** The answer to a request whose key's work is held by another one. */
export const heldElsewhere = ({ isSame }: { readonly isSame: boolean }): WorkProblem =>
  isSame ? inProgress() : reused();

/** No process has a place for the work now. */
export const noPlace = (): WorkProblem =>
  workProblem('busy', 'The server is working on as many documents as it can. Try again in a moment.');
