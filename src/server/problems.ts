import type { IncomingMessage } from 'node:http';
import { PROBLEMS, wireCodeOf, type ProblemCode, type RequestIssue } from '../problemTable.ts';

interface ProblemDetails {
  /** A sentence for people. */
  readonly detail: string;
  /** Members beside the standard ones. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a broken request is answered with. Thrown at the HTTP edge only. */
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

/** 503 that a moment later may be none. */
export const retryLater = (code: 'busy' | 'not_ready' | 'shutting_down', detail: string): Problem =>
  new Problem(code, { detail, headers: { 'Retry-After': '1' } });

/** The first issue, and how many more there are. */
const sentenceOf = ([first, ...more]: readonly RequestIssue[]): string => {
  const { loc, msg } = first ?? { loc: ['body'], msg: 'It does not fit its schema.' };
  const rest = more.length === 0 ? '' : ` ${String(more.length)} more in "errors".`;
  return `${loc.join('.')}: ${msg.replace(/\.?$/, '.')}${rest}`;
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
