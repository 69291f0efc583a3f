import type { NotNow } from '../writer/decideBatch.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import type { IncomingMessage } from 'node:http';
import { PROBLEMS, wireCodeOf, type ProblemCode, type RequestIssue } from '../problemTable.ts';

interface ProblemDetails {
  /** A sentence for people. */
  readonly detail: string;
  /** Members beside the standard ones. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a broken request. Thrown at the HTTP edge only. */
export class Problem<out Code extends ProblemCode = ProblemCode> extends Error {
  override readonly name = 'Problem';
  readonly code: Code;
  readonly details: ProblemDetails;

  constructor(code: Code, details: ProblemDetails) {
    super(code);
    this.code = code;
    this.details = details;
  }
}

/** A problem with a sentence and, where the code has any, members of its own. */
export const problem = <Code extends ProblemCode>(
  code: Code,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Problem<Code> => new Problem(code, { detail, members });

/** 503 that a moment later, or after so many seconds, may be none. */
export const retryLater = (
  code: 'busy' | 'not_ready' | 'shutting_down',
  detail: string,
  afterSeconds = 1,
): Problem => new Problem(code, { detail, headers: { 'Retry-After': String(afterSeconds) } });

/** 409 while another request holds the key: that one ends, or if its process died, its lease does. */
export const stillRunning = (detail: string, afterSeconds = 1): Problem =>
  new Problem('request_in_progress', {
    detail,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(afterSeconds))) },
  });

/** The first issue, and how many more there are. */
const sentenceOf = ([first, ...more]: readonly RequestIssue[]): string => {
  const { loc, msg } = first ?? { loc: ['body'], msg: 'It does not fit its schema.' };
  const rest = more.length === 0 ? '' : ` ${String(more.length)} more in "errors".`;
  return `${loc.join('.')}: ${/[.?!]$/.test(msg) ? msg : `${msg}.`}${rest}`;
};

/** All that is wrong with a request: listed in `errors`. */
export const invalid = (...issues: readonly RequestIssue[]): Problem<'validation_error'> =>
  new Problem('validation_error', { detail: sentenceOf(issues), members: { errors: issues } });

/** RFC 9457. `type` is a path of this service, which serves the page. */
export const problemBody = (
  { code, details: { detail, members } }: Problem,
  requestId: string,
): Readonly<Record<string, unknown>> => ({
  type: `/docs/problems/${wireCodeOf(code)}`,
  title: PROBLEMS[code].title,
  status: PROBLEMS[code].status,
  code: wireCodeOf(code),
  detail,
  request_id: requestId,
  ...members,
});

/** The caller went away before its body had come: nobody reads an answer, and nothing of ours is broken. */
export class CallerLeft extends Error {
  override readonly name = 'CallerLeft';

  constructor() {
    super('the caller went away while its body was read');
  }
}

/** A stream that has ended so says nothing more: who begins to listen now would wait for ever. */
export const hasLeft = (request: IncomingMessage): boolean => request.destroyed && !request.complete;

interface Rejected {
  readonly code: string;
}

/** Problems that every route with a body has. */
type OfInput = 'validation_error';

/**
 * How a rejection is answered: a code and its sentence. Members of the rejection are members there. A table for
 * some problems has no other in it.
 */
export type Sentences<Rejection extends Rejected, Listed extends ProblemCode = ProblemCode> = {
  readonly [Code in Rejection['code']]:
    | (Code extends Listed ? string : never)
    | ((rejection: Extract<Rejection, { code: Code }>) => Problem<Listed | OfInput>);
};

/** In the place of a sentence for what a route's command is never refused with. */
export const neverRejected = ({ code }: Rejected): Problem<never> => {
  throw new Error(`the HTTP routes never ask for what is rejected with ${code}`);
};

/** What became of a command: done, with what came of it; refused by a rule; or not now. */
type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'rejected'; readonly rejection: Rejected }
  | NotNow;
type DoneOf<Of extends Answer> = Extract<Of, { readonly kind: 'done' }>;
type RejectionOf<Of extends Answer> = Extract<Of, { readonly kind: 'rejected' }>['rejection'];

const problemOf = <Rejection extends Rejected>(
  rejection: Rejection,
  sentences: Sentences<Rejection>,
): Problem => {
  const sentence = sentences[rejection.code as Rejection['code']] as
    | string
    | ((rejection: Rejection) => Problem);
  if (typeof sentence === 'function') return sentence(rejection);
  const { code, ...members } = rejection;
  return problem(code as ProblemCode, sentence, members);
};

const NOT_NOW: Readonly<Record<'contended' | 'busy' | 'unknown', string>> = {
  contended: 'Too many wrote at once. Send the request again.',
  busy: 'Too much is waiting, or the event log cannot be reached. Send the request again in a moment.',
  unknown: 'The event log did not answer in time. Send the request again with the same identity.',
};

/**
 * The command's result, or the problem that answers why there is none. A route that lists `Listed` compiles with
 * tables of these problems alone, and has to list `busy` where a command can be tried again.
 */
export interface DoneOr<Listed extends ProblemCode> {
  readonly doneOr: <Of extends ('busy' extends Listed ? Answer : Exclude<Answer, NotNow>)>(
    answer: Of,
    sentences: Sentences<RejectionOf<Of>, Listed>,
  ) => DoneOf<Of>;
}

/** As routes get it with their request. */
export const doneOr = <Of extends Answer>(answer: Of, sentences: Sentences<RejectionOf<Of>>): DoneOf<Of> => {
  switch (answer.kind) {
    case 'done':
      // Narrowing a type parameter does not narrow what is extracted from it.
      return answer as DoneOf<Of>;
    case 'rejected':
      throw problemOf(answer.rejection, sentences);
    case 'contended':
    case 'busy':
    case 'unknown':
      throw retryLater('busy', NOT_NOW[answer.kind]);
  }
};

/** Why work on a document was not delivered, as an answer. */
export const workFailure = (failure: WorkProblem): Problem => {
  const { code, detail } = failure;
  switch (code) {
    case 'validation_error':
      return invalid(...failure.issues);
    case 'busy':
    case 'not_ready':
    case 'shutting_down':
      return retryLater(code, detail, failure.retry_after_seconds);
    case 'rate_limited': {
      const headers = { 'Retry-After': String(failure.retry_after_seconds) };
      return new Problem(code, { detail, members: { bucket: failure.bucket }, headers });
    }
    case 'request_in_progress':
      return stillRunning(detail, failure.retry_after_seconds);
    // Nobody is there to read it, unless a proxy keeps the connection.
    case 'request_aborted':
      return retryLater('busy', detail);
    default:
      return problem(code, detail, failure.members);
  }
};
