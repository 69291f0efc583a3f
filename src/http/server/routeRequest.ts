import type { Request, Response } from 'express';
import type { Clock } from '../../../domain/ports/log.ts';
import type { Caller } from '../access/caller.ts';
import type { Route, RouteRequest } from '../defineRoute.ts';
import { doneOr } from '../doneOrProblem.ts';
import { scopeIn, tenantNamedIn } from '../middleware/access.ts';
import { idempotencyKeyIn } from '../middleware/idempotency.ts';
import { requestFingerprint } from '../middleware/requestFingerprint.ts';
import type { Upload } from './multipart.ts';
import { browserOf } from '../sessions/browser.ts';
import { type Part, validate } from './validate.ts';

/** One request on its way; what is known of it grows. */
export interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  caller: Caller | undefined;
}

/** The body as it came. */
export interface Input {
  readonly body: unknown;
  readonly upload: Upload | undefined;
  /** The JSON body with 0.5 for each whole number that was written as none, if it has any. */
  readonly halves?: unknown;
}

export interface Received {
  readonly input: Input;
  readonly caller: Caller;
}

/** A parameter with slashes comes in pieces. */
const pathParams = ({ params, rest }: Route, req: Request): unknown => {
  if (params === undefined || rest === undefined) return req.params;
  return Object.fromEntries(
    Object.entries(req.params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );
};

/** What the path and the query say. Express parses a query whenever it is looked at. */
export const addressParts = (route: Route, req: Request): readonly [Part, Part] => [
  { at: 'path', schema: route.params, value: pathParams(route, req) },
  { at: 'query', schema: route.query, value: route.query && req.query },
];

/** Aborts when the connection ends before the answer does. */
const hangUpSignal = (res: Response): AbortSignal => {
  const hangUp = new AbortController();
  const look = () => {
    if (!res.writableFinished) hangUp.abort();
  };
  if (res.closed) look();
  else res.once('close', look);
  return hangUp.signal;
};

/** RFC 7240: preferences are listed with commas, and may have parameters. */
const prefersAsync = (header: string | undefined): boolean =>
  (header ?? '').split(',').some((one) => one.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async');

/** The parts of a handler's request that come from the request itself. */
export type Checked = Omit<
  RouteRequest<unknown, unknown, unknown>,
  'caller' | 'browser' | 'meta' | 'signal' | 'answer' | 'doneOr' | 'prefers'
>;

/** The key under which the request is known when it comes again; null: none. */
const keyOf = ({ idempotency }: Route, req: Request): string | null =>
  (idempotency && idempotencyKeyIn(req.get('idempotency-key'), idempotency)) ?? null;

/** Checks everything that came at once, or throws the one `validation_error`. */
export const checked = async (
  route: Route,
  { req }: Exchange,
  { input, caller }: Received,
): Promise<Checked> => {
  const { halves } = input;
  const [params, query, body] = validate([
    ...addressParts(route, req),
    { at: 'body', schema: route.body, value: input.body, halves },
  ]);
  const { tenant } = route;
  const idempotency_key = keyOf(route, req);
  const named = { path: params, query, body, scope: tenant === 'scope' ? scopeIn(body) : undefined };
  const file = input.upload?.file;
  const parts = { path: params, query, sha256: file?.sha256 };
  const respondAsync = route.respondsAsync === true && prefersAsync(req.get('prefer'));
  const tenant_id = (tenant && tenantNamedIn(named[tenant])) ?? caller.tenant_id;
  const whole = () => (route.upload === true ? { ...parts, form: body } : { ...parts, body });
  const fingerprint = idempotency_key === null ? '' : await requestFingerprint(whole());
  return { params, query, body, file, idempotency_key, halves, respondAsync, tenant_id, fingerprint };
};

/** What else a handler gets. */
interface HandlerContext {
  readonly caller: Caller;
  readonly clock: Clock;
  /** Told of a status other than the route's own. */
  readonly status: (status: number) => void;
}

/**
 * What a handler gets. Few ask for the signal, and it costs: it is made when asked for. Every request makes this
 * object: members that are spread into one with more, accessors among them, would cost it 8 µs.
 */
export const requestOf = (
  facts: Checked,
  { req, res, requestId }: Exchange,
  { caller, clock, status }: HandlerContext,
): RouteRequest<unknown, unknown, unknown> => {
  const { params, query, body, file, tenant_id, idempotency_key, fingerprint, halves, respondAsync } = facts;
  let signal: AbortSignal | undefined;
  const command_id = clock.uuid();
  return {
    params,
    query,
    body,
    file,
    tenant_id,
    idempotency_key,
    fingerprint,
    halves,
    caller,
    respondAsync,
    // As of the decision, not of the request's coming: its process may have stood still in between.
    get meta() {
      const actor = { key_id: caller.key_id, role: caller.role };
      return { now: clock.now(), actor, correlation_id: requestId, command_id };
    },
    // What a route lists is known where it is declared, and nowhere else.
    doneOr: doneOr as RouteRequest<unknown, unknown, unknown>['doneOr'],
    prefers: (types) => {
      const best = req.accepts([...types]);
      return best === false ? undefined : best;
    },
    get browser() {
      return browserOf(req);
    },
    get signal() {
      return (signal ??= hangUpSignal(res));
    },
    answer: {
      status,
      header: (name, value) => {
        res.set(name, typeof value === 'string' ? value : [...value]);
      },
    },
  };
};
