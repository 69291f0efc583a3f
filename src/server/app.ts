import { randomUUID } from 'node:crypto';
import express, {
  type Request,
  type RequestHandler,
  type ErrorRequestHandler,
  type Express,
  type Response,
} from 'express';
import cors from 'cors';
import type { Logger } from 'pino';
import { CreditsOutOfRange } from '../../domain/kernel/amounts.ts';
import { LogUnavailable, type Span, type Tracer } from '../../domain/ports/log.ts';
import { DIVERGED, ReadModelsDiverged } from '../../projections/engine/divergence.ts';
import { WrongCursor } from '../../projections/engine/cursor.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { NotPublished } from '../commands/reference.ts';
import { AccountUnavailable } from '../writer/accountWriter.ts';
import { TamperedArtifact } from '../commands/deployments.ts';
import { ObjectStoreFailed } from '../commands/uploads.ts';
import { LogWentBack } from '../writer/append.ts';
import { LogContradicts } from '../writer/streamFold.ts';
import { CallerLeft, Problem, invalid, problem, retryLater, problemBody } from './problems.ts';
import { statusOf, wireCodeOf } from '../problemTable.ts';
import type { NamedRoute, Route, ServedRoute } from './routes.ts';
import type { Exchange } from './request.ts';
import type { Caller } from './keys.ts';
import type { HttpMetrics, RunningRequests } from './metrics.ts';
import { answersOut, endUnread, safeHeaders } from './answers.ts';
import { serveRoute, type ServeDeps } from './serveRoute.ts';

/** Errors other than problems that may be thrown, by class, and their answers. */
const FAILURES: readonly (readonly [new (...args: never[]) => Error, (error: Error) => Problem])[] = [
  [NotPublished, ({ message }) => retryLater('not_ready', message)],
  [SqlUnavailable, () => retryLater('not_ready', 'The read models cannot be reached right now.')],
  [AccountUnavailable, () => retryLater('not_ready', 'The event log cannot be reached right now.')],
  [LogUnavailable, () => retryLater('not_ready', 'The event log cannot be reached right now.')],
  [ReadModelsDiverged, () => retryLater('not_ready', DIVERGED)],
  [LogWentBack, () => retryLater('not_ready', DIVERGED)],
  [LogContradicts, () => retryLater('not_ready', DIVERGED)],
  [
    TamperedArtifact,
    () =>
      problem('storage_error', 'The artifact in the object storage is damaged or gone; nothing was billed.'),
  ],
  [ObjectStoreFailed, () => problem('storage_error', 'The object storage failed; nothing was billed.')],
  [
    CreditsOutOfRange,
    () => invalid({ loc: ['body'], msg: 'A total would pass 2^53 − 1 credits.', type: 'too_big' }),
  ],
  [WrongCursor, ({ message }) => invalid({ loc: ['query', 'cursor'], msg: message, type: 'value_error' })],
  // Nobody is there to read it; the log line of the request names it.
  [CallerLeft, () => problem('malformed_json', 'The body ended before its end.')],
  // Express: a path with a broken percent-encoding.
  [URIError, () => invalid({ loc: ['path'], msg: 'Broken percent-encoding.', type: 'invalid_format' })],
];

/** The problem that an error is answered with; undefined for a defect of ours. */
export const asProblem = (error: unknown): Problem | undefined => {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  return FAILURES.find(([failure]) => error instanceof failure)?.[1](error);
};

/**
 * A caller's mistake, or its going away while its body was read, is not our failure. The watch over the log reports
 * diverged read models, once.
 */
export const isExpected = (error: unknown, req: Request): boolean => {
  if (error instanceof Problem || error === req.errored) return true;
  if (error instanceof ReadModelsDiverged || error instanceof NotPublished) return true;
  const known = asProblem(error);
  return known !== undefined && statusOf(known.code) < 500;
};

/** Headers of an answer that a page elsewhere may read, beside its body. */
const READABLE = [
  'Content-Disposition',
  'Idempotent-Replayed',
  'Location',
  'Preference-Applied',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
];

const SENT = ['Content-Type', 'Idempotency-Key', 'Prefer', 'X-API-KEY', 'X-Request-Id'];

/** How long a browser remembers that it may ask, seconds. */
const REMEMBERED_S = 600;

/**
 * Lets web pages of the named origins call the service from a browser. Keys travel in a header, so no cookie is
 * let through. Without an origin there is nothing to let in, and browsers keep every page out.
 */
const crossOrigin = (origins: readonly string[]): readonly RequestHandler[] =>
  origins.length === 0
    ? []
    : [
        cors({
          origin: [...origins],
          methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
          allowedHeaders: SENT,
          exposedHeaders: READABLE,
          maxAge: REMEMBERED_S,
        }),
      ];

/** `traceId`: undefined where nobody records the request. */
interface TracedRequest {
  readonly span: Span;
  readonly traceId: string | undefined;
}

/** Begins the span of a request; it ends with the answer. It goes on with a caller's `traceparent`. */
const beginRequest = (
  tracer: Tracer,
  { operationId, method, path }: NamedRoute,
  { req, res, requestId }: Exchange,
): TracedRequest => {
  const span = tracer.begin(operationId, {
    parent: req.get('traceparent'),
    kind: 'server',
    facts: {
      'http.request.method': method.toUpperCase(),
      'http.route': path,
      'quire.request_id': requestId,
    },
  });
  res.once('close', () => {
    const status = res.writableFinished ? res.statusCode : 499;
    span.end({ 'http.response.status_code': status }, status >= 500 ? 'failed' : 'ok');
  });
  return { span, traceId: span.traceparent?.slice(3, 35) };
};

interface AppDeps extends Omit<ServeDeps, 'onError' | 'unread'> {
  readonly routes: readonly ServedRoute[];
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  /** Where clients reach the service, if configured. */
  readonly publicUrl?: string | undefined;
  /** Proxies that are believed whose requests they pass on: that many hops, or these addresses. Left out: none. */
  readonly trustProxy?: number | readonly string[] | undefined;
  /** Web pages of these origins may call from a browser. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Bytes of answers that a tenant may leave unread; left out: 64 MiB. */
  readonly unreadBytesMax?: number | undefined;
  /** Pages for people, beside the interface. Left out: there are none. */
  readonly pages?: RequestHandler | undefined;
  /** Told of each request that begins. */
  readonly running?: RunningRequests | undefined;
  /** Left out: requests are not traced. */
  readonly tracer?: Tracer | undefined;
}

/** Content of the log line and the metrics of a request. */
interface Facts {
  requestId: string;
  route: string;
  caller: Caller | undefined;
  code: string | undefined;
  traceId: string | undefined;
  /** Methods that the path has, if the request's is not one of them. */
  readonly allowed: Set<string>;
}

const FACTS = Symbol('facts');

/** On the request itself: a weak map of requests keeps the garbage collector busy. */
const factsOf = (req: Request & { [FACTS]?: Facts | undefined }): Facts =>
  (req[FACTS] ??= {
    requestId: randomUUID(),
    route: 'none',
    caller: undefined,
    code: undefined,
    traceId: undefined,
    allowed: new Set(),
  });

const SANE_REQUEST_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

type HeaderList = readonly (readonly [name: string, value: string])[];

const identify = (req: Request, res: Response, headers: HeaderList): void => {
  const facts = factsOf(req);
  const given = req.headers['x-request-id'];
  if (typeof given === 'string' && SANE_REQUEST_ID.test(given)) facts.requestId = given;
  for (const [name, value] of headers) res.setHeader(name, value);
  res.setHeader('X-Request-Id', facts.requestId);
};

interface Ended {
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** Of somebody who signed in by a provider what events have, or where nothing is changed only that. */
const whoOf = ({ key_id, session }: Caller): string =>
  session?.via === 'oidc' && key_id === session.subject ? session.via : key_id;

/** One line a request: never a key, a query value, a body or a file name. */
const tell = ({ logger, metrics }: AppDeps, facts: Facts, { method, status, seconds }: Ended): void => {
  const { requestId, route, caller, code, traceId } = facts;
  metrics.observe({ method, route, status, seconds });
  if (!logger.isLevelEnabled('info')) return;
  logger.info({
    msg: 'request',
    request_id: requestId,
    ...(traceId !== undefined && { trace_id: traceId }),
    method,
    route,
    status,
    duration_ms: Math.round(seconds * 1000),
    ...(caller && { tenant_id: caller.tenant_id, key_id: whoOf(caller), role: caller.role }),
    ...(code !== undefined && { code }),
  });
};

const observe = (deps: AppDeps, req: Request, res: Response): void => {
  const began = performance.now();
  const end = deps.running?.begin();
  res.once('close', () => {
    end?.();
    const seconds = (performance.now() - began) / 1000;
    const status = res.writableFinished ? res.statusCode : 499;
    tell(deps, factsOf(req), { method: req.method, status, seconds });
  });
};

/** Express writes `:name` where the interface writes `{name}`, and `*name` for one with slashes. */
const expressPath = ({ path, rest }: Route): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${name === rest ? '*' : ':'}${name}`);

/** Behind all routes: notes each that has the path, so that it was the method that fitted none. */
const noteMethod =
  ({ method, countsOnce }: Route): RequestHandler =>
  (req, _res, next) => {
    const { allowed } = factsOf(req);
    allowed.add(method.toUpperCase());
    if (method === 'get' && countsOnce !== true) allowed.add('HEAD');
    next();
  };

/** 404, or 405 with the methods that the path has. */
const nothingHere: RequestHandler = (req) => {
  const { allowed } = factsOf(req);
  if (allowed.size === 0) throw problem('not_found', 'There is nothing at this path.');
  throw new Problem('method_not_allowed', {
    detail: 'The path does not take this method.',
    headers: { Allow: [...allowed].join(', ') },
  });
};

const sendProblem = (req: Request, res: Response, failure: Problem): void => {
  res.set(failure.details.headers ?? {});
  res.status(statusOf(failure.code)).type('application/problem+json');
  endUnread(req, res, JSON.stringify(problemBody(failure, factsOf(req).requestId)));
};

/** Expected problems are answered; anything else is a defect of ours: 500, logged once. */
const onFailure =
  (logFailure: (error: unknown, requestId: string) => void): ErrorRequestHandler =>
  // eslint-disable-next-line max-params -- Express tells an error handler by its four parameters
  (error: unknown, req, res, next) => {
    const facts = factsOf(req);
    const known = asProblem(error);
    if (!isExpected(error, req)) logFailure(error, facts.requestId);
    const failure = known ?? problem('internal_error', 'The request failed; it has been logged.');
    facts.code = wireCodeOf(failure.code);
    if (res.headersSent) {
      next(error);
      return;
    }
    sendProblem(req, res, failure);
  };

type Serve = (exchange: Exchange) => Promise<void>;

/** Serves requests, each within its span where requests are traced; probes and the reference are not. */
const servedBy = (route: ServedRoute, deps: ServeDeps & Pick<AppDeps, 'tracer'>): Serve => {
  const { tracer } = deps;
  if (tracer === undefined || route.always === true) return (exchange) => serveRoute(route, exchange, deps);
  return (exchange) => {
    const { span, traceId } = beginRequest(tracer, route, exchange);
    factsOf(exchange.req).traceId = traceId;
    return tracer.within(span, () => serveRoute(route, exchange, deps));
  };
};

const handlerOf = (route: ServedRoute, deps: ServeDeps & Pick<AppDeps, 'tracer'>): RequestHandler => {
  const serve = servedBy(route, deps);
  return async (req, res, next) => {
    if (req.method === 'HEAD' && route.countsOnce === true) {
      next();
      return;
    }
    const facts = factsOf(req);
    facts.route = route.operationId;
    const exchange = { req, res, requestId: facts.requestId, caller: undefined };
    try {
      await serve(exchange);
    } finally {
      facts.caller = exchange.caller;
    }
  };
};

const refusedHead = (code: 'malformed_request' | 'expectation_failed', detail: string): Problem =>
  new Problem(code, { detail, headers: { Connection: 'close' } });

/** Nothing is done for a request that another server may take for one to another host, or that expects too much. */
const checkHead = ({ rawHeaders, headers: { expect }, httpVersion }: Request): void => {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw refusedHead('malformed_request', 'The request has more than one Host.');
  if (hosts === 0 && httpVersion === '1.1')
    throw refusedHead('malformed_request', 'The request has no Host.');
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw refusedHead('expectation_failed', 'Nothing but 100-continue can be expected.');
};

/** What every request goes through before its route: its identity, its headers and its line. */
const front = (deps: AppDeps): RequestHandler => {
  const headers = Object.entries(safeHeaders(deps.publicUrl));
  return (req, res, next) => {
    identify(req, res, headers);
    observe(deps, req, res);
    checkHead(req);
    next();
  };
};

/** The whole HTTP surface, built from the table of routes. */
export const httpApp = (deps: AppDeps): Express => {
  const { routes, logger } = deps;
  // `tell` lists the members of a request's line: searching each line for secret members takes longer than writing
  // it.
  const requests = logger.child({}, { redact: [] });
  const onError = (error: unknown, requestId: string) =>
    logger.error({ msg: 'request failed', request_id: requestId, err: error });
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', deps.trustProxy ?? false);
  app.set('case sensitive routing', true);
  app.use(front({ ...deps, logger: requests }), ...crossOrigin(deps.corsOrigins ?? []));
  if (deps.pages !== undefined) app.use(deps.pages);
  const serveDeps = { ...deps, onError, unread: answersOut(deps.unreadBytesMax) };
  for (const route of routes) app[route.method](expressPath(route), handlerOf(route, serveDeps));
  for (const route of routes) app.route(expressPath(route)).all(noteMethod(route));
  app.use(nothingHere);
  app.use(onFailure(onError));
  return app;
};
