import { isProblem, type ProblemError, UnexpectedAnswerError } from '../../../sdk/src/problemError.ts';
import { shell } from '../texts/shell.ts';

/** The service was not reached, or its answer was lost on the way. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';

  constructor(cause: unknown) {
    super('the service was not reached', { cause });
  }
}

/** Waits that answers asked for, by the ID of their request. */
const waits = new Map<string, number>();
const WAITS_MAX = 50;

/** Keeps the wait that a refusal asks for: it stands in the header, the problem carries the request's ID. */
export const noteAnswer = (response: Response): Response => {
  const asked = Number(response.headers.get('retry-after'));
  const id = response.headers.get('x-request-id');
  if (!response.ok && id !== null && asked > 0) {
    if (waits.size >= WAITS_MAX) waits.clear();
    waits.set(id, Date.now() + asked * 1_000);
  }
  return response;
};

/** What is shown of anything that went wrong. */
export interface Fault {
  readonly title: string;
  readonly detail: string | undefined;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** From this time on (epoch milliseconds) a new try makes sense. */
  readonly retryAt: number | undefined;
  /** Whether the same request may well succeed later. */
  readonly canRetry: boolean;
}

/** What went wrong elsewhere, in a worker: it was read there, and only what is shown came over. */
export class ToldFaultError extends Error {
  override readonly name = 'ToldFaultError';
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.title);
    this.fault = fault;
  }
}

const BY_TIME = new Set([408, 409, 425, 429, 500, 502, 503, 504]);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

interface FieldFault {
  readonly path?: unknown;
  readonly loc?: unknown;
  readonly message?: unknown;
  readonly msg?: unknown;
}

/** What a `422` says of single fields, as `path: message`. */
const fieldsOf = (errors: unknown): string | undefined => {
  if (!Array.isArray(errors)) return undefined;
  const lines = errors.slice(0, 5).map(({ path, loc, message, msg }: FieldFault) => {
    const place = textOf(path) ?? (Array.isArray(loc) ? loc.slice(1).join('.') : undefined);
    const said = textOf(message) ?? textOf(msg) ?? '';
    return place === undefined || place === '' ? said : `${place}: ${said}`;
  });
  return lines.length === 0 ? undefined : lines.join('; ');
};

const ofProblem = ({ problem, status, issues }: ProblemError): Fault => {
  const said = problem as unknown as Readonly<Record<string, unknown>>;
  const requestId = textOf(said['request_id']);
  // its sentence names the first of its issues
  const detail = fieldsOf(issues) ?? textOf(said['detail']);
  return {
    title: problem.title,
    detail,
    code: problem.code,
    requestId,
    retryAt: requestId === undefined ? undefined : waits.get(requestId),
    canRetry: BY_TIME.has(status),
  };
};

/** Reads any thrown value as what people are shown. */
export const faultOf = (error: unknown): Fault => {
  if (isProblem(error)) return ofProblem(error);
  if (error instanceof ToldFaultError) return error.fault;
  const other = {
    detail: undefined,
    code: undefined,
    requestId: undefined,
    retryAt: undefined,
    canRetry: true,
  };
  if (error instanceof LostConnectionError)
    return {
      ...other,
      ...shell.faults.lost,
    };
  if (error instanceof UnexpectedAnswerError) return { ...other, title: shell.faults.between(error.status) };
  return {
    ...other,
    title: shell.faults.page,
    detail: error instanceof Error ? error.message : undefined,
  };
};
