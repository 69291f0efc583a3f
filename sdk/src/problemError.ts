import type { Problem } from './generated/problems.gen.ts';
import type { HttpValidationError } from './generated/types.gen.ts';

/** The word by which a problem is told from others. */
export type ProblemCode = Problem['code'];

/** The problem with one of these codes, with its own members. */
export type ProblemOf<Code extends ProblemCode> = Extract<Problem, { code: Code }>;

/** One thing that is wrong with a request, and where: `body`, `query`, `path` or `header`, then names down to it. */
export type RequestIssue = HttpValidationError['errors'][number];

/** The service refused the call or failed, and says why (RFC 9457). */
export class ProblemError<Code extends ProblemCode = ProblemCode> extends Error {
  override readonly name = 'ProblemError';
  readonly problem: ProblemOf<Code>;

  constructor(problem: ProblemOf<Code>) {
    const { code, title, detail }: Problem = problem;
    super(`${code}: ${typeof detail === 'string' && detail !== '' ? detail : title}`);
    this.problem = problem;
  }

  /** What is wrong with a request, one by one: of a `validation_error`, else none. */
  get issues(): readonly RequestIssue[] {
    const { errors, detail } = this.problem as { readonly errors?: unknown; readonly detail?: unknown };
    // services before 1.0 list them in `detail`
    const listed = this.code === 'validation_error' ? [errors, detail].find(Array.isArray) : undefined;
    return (listed ?? []) as readonly RequestIssue[];
  }

  get code(): Code {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** The answer is not one that this service gives: it comes from something between, such as a proxy. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError';
  /** Of a redirect in a browser 0. */
  readonly status: number;
  /** At most the first 500 characters; of a redirect where it leads to. */
  readonly text: string;

  constructor(status: number, text: string) {
    super(`the answer ${String(status)} is none of the service's`);
    this.status = status;
    this.text = text;
  }
}

/** Whether an error is a problem with one of these codes; with none named: any problem. */
export const isProblem = <Code extends ProblemCode = ProblemCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ProblemError<Code> => {
  if (!(error instanceof ProblemError)) return false;
  const { problem } = error as ProblemError;
  const words: readonly string[] = codes;
  return words.length === 0 || words.includes(problem.code);
};

const SHOWN_TEXT = 500;

/** The answer has data of the service, and not a page of something between. */
export const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.includes('json') === true;

const isRedirect = ({ type, status, headers }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'));

/** A service has one address: a redirect says what the client should have been given. Browsers do not tell it. */
const saidBy = (response: Response, text: string): string =>
  isRedirect(response) ? `it leads to ${response.headers.get('location') ?? 'another address'}` : text;

/** The error that an answer says: other than 2xx, or none of the service's. */
export const errorOf = async (response: Response): Promise<Error> => {
  const text = await response.text();
  const given = isJson(response) ? parsed(text) : undefined;
  return isProblemDocument(given)
    ? new ProblemError(given)
    : new UnexpectedAnswerError(response.status, saidBy(response, text).slice(0, SHOWN_TEXT));
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const isProblemDocument = (given: unknown): given is Problem =>
  typeof given === 'object' && given !== null && 'code' in given && typeof given.code === 'string';
