import type { Request, Response } from 'express';
import type { Clock } from '../../domain/ports/clock.ts';
import type { ReplayStore } from '../../domain/ports/replayStore.ts';
import type { Authenticator } from './authenticate.ts';
import { BOOTSTRAP_ADMIN } from './authenticate.ts';
import type { Caller, RawBody, Route, RouteRequest } from './defineRoute.ts';
import { readJson } from './jsonBody.ts';
import { checkRole, checkTenant, scopeIn, tenantNamedIn } from './middleware/access.ts';
import { idempotencyKeyIn, requestFingerprint, runOnce } from './middleware/idempotency.ts';
import type { Sent } from './middleware/idempotency.ts';
import type { RateLimits } from './middleware/limits.ts';
import { takeToken } from './middleware/limits.ts';
import type { Upload, UploadLimits } from './multipart.ts';
import { receiveUpload } from './multipart.ts';
import { receiveBytes } from './rawUpload.ts';
import { retryLater } from './problems.ts';
import { validate } from './validate.ts';

export interface ServeDeps {
  readonly keys: Authenticator;
  readonly limits: RateLimits;
  readonly replays: ReplayStore;
  readonly uploads: UploadLimits;
  readonly clock: Clock;
  /** True from SIGTERM on. */
  readonly isDraining: () => boolean;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** One request on its way; what is known of it grows. */
export interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  caller: Caller | undefined;
}

/** Public routes act as nobody in particular. */
const NOBODY: Caller = { ...BOOTSTRAP_ADMIN, key_id: 'none', role: 'tenant', tenant_id: 'none' };

const admitted = async (route: Route, exchange: Exchange, deps: ServeDeps): Promise<Caller> => {
  if (route.access === 'public') return NOBODY;
  const { req, res } = exchange;
  const caller = await deps.keys.authenticate(req.get('x-api-key'));
  exchange.caller = caller;
  if (route.bucket !== undefined && route.bucketOf === undefined)
    res.set(await takeToken(deps.limits, caller, route.bucket));
  checkRole(route, caller);
  checkTenant(route, caller, route.tenant === 'path' ? req.params : undefined);
  checkTenant(route, caller, route.tenant === 'query' ? req.query : undefined);
  return caller;
};

interface Input {
  readonly body: unknown;
  readonly upload: Upload | undefined;
}

/** A parameter with slashes comes in pieces. */
const pathParams = ({ params }: Request): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );

/** Nothing of the body is read before it is let in. */
const receivedBytes = async (
  bytes: NonNullable<Route['bytes']>,
  req: Request,
  { route, uploads }: { readonly route: Route; readonly uploads: UploadLimits },
): Promise<Upload> => {
  const [params, query] = validate([
    { at: 'path', schema: route.params, value: pathParams(req) },
    { at: 'query', schema: route.query, value: req.query },
  ]);
  const bytesMax = await bytes.admit({ params, query, content_type: req.get('content-type') ?? '' });
  return receiveBytes(req, { dir: uploads.dir, bytesMax });
};

const received = async (route: Route, { req }: Exchange, { uploads }: ServeDeps): Promise<Input> => {
  if (route.upload === true) {
    const upload = await receiveUpload(req, uploads);
    return { body: upload.fields, upload };
  }
  if (route.bytes !== undefined)
    return { body: undefined, upload: await receivedBytes(route.bytes, req, { route, uploads }) };
  return { body: route.body === undefined ? undefined : await readJson(req), upload: undefined };
};

/** Aborts when the connection ends before the answer does. */
const hangUpSignal = (res: Response): AbortSignal => {
  const hangUp = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) hangUp.abort();
  });
  return hangUp.signal;
};

type Checked = Pick<
  RouteRequest<unknown, unknown, unknown>,
  'params' | 'query' | 'body' | 'tenant_id' | 'idempotency_key' | 'fingerprint' | 'file'
>;

const checked = (route: Route, { req }: Exchange, { input, caller }: Received): Checked => {
  const [params, query, body] = validate([
    { at: 'path', schema: route.params, value: pathParams(req) },
    { at: 'query', schema: route.query, value: req.query },
    { at: 'body', schema: route.body, value: input.body },
  ]);
  const { idempotency, tenant } = route;
  const key = idempotency && idempotencyKeyIn(req.get('idempotency-key'), idempotency);
  const parts = { path: params, query, body };
  const named = { ...parts, scope: scopeIn(body) };
  return {
    params,
    query,
    body,
    file: input.upload?.file,
    tenant_id: (tenant && tenantNamedIn(named[tenant])) ?? caller.tenant_id,
    idempotency_key: key ?? null,
    fingerprint: requestFingerprint({ ...parts, sha256: input.upload?.file.sha256 }),
  };
};

interface Received {
  readonly input: Input;
  readonly caller: Caller;
}

const isRaw = (route: Route, body: unknown): body is RawBody =>
  'contentType' in route.reply && body !== undefined;

const withNumbers = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

/** A replacer is called for every member and makes large pages slow: only an answer with a bigint pays. */
const textOf = (body: unknown): string => {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(body, withNumbers);
  }
};

/** Calls the handler; what it returns is serialised once, so a replay is the same to the byte. */
const handled = async (
  route: Route,
  { req, res, requestId }: Exchange,
  facts: Checked & { readonly caller: Caller; readonly clock: Clock },
): Promise<Sent> => {
  let status: number = route.reply.status;
  const { caller, clock, ...checkedRequest } = facts;
  const body = await route.handle({
    ...checkedRequest,
    caller,
    meta: {
      now: clock.now(),
      actor: { key_id: caller.key_id, role: caller.role },
      correlation_id: requestId,
      command_id: clock.uuid(),
    },
    signal: hangUpSignal(res),
    answer: {
      status: (other) => {
        status = other;
      },
      header: (name, value) => {
        res.set(name, value);
      },
    },
  });
  if (isRaw(route, body)) {
    res
      .status(status)
      .type(body.contentType)
      .end(req.method === 'HEAD' ? undefined : body.body);
    return { status, body: '', replayed: false };
  }
  return { status, body: status === 204 ? '' : textOf(body), replayed: false };
};

const send = ({ req, res }: Exchange, { status, body, replayed }: Sent): void => {
  if (res.writableEnded) return;
  if (replayed) res.set('Idempotent-Replayed', 'true');
  res.status(status);
  if (status === 204) res.end();
  else res.type('application/json').end(req.method === 'HEAD' ? undefined : body);
};

const answered = async (
  route: Route,
  exchange: Exchange,
  { deps, input, caller }: Received & { readonly deps: ServeDeps },
): Promise<void> => {
  if (route.bucketOf !== undefined)
    exchange.res.set(await takeToken(deps.limits, caller, route.bucketOf(input.body)));
  checkTenant(route, caller, route.tenant === 'body' ? input.body : undefined);
  checkTenant(route, caller, route.tenant === 'scope' ? scopeIn(input.body) : undefined);
  const facts = checked(route, exchange, { input, caller });
  const run = () => handled(route, exchange, { ...facts, caller, clock: deps.clock });
  const { idempotency } = route;
  const { tenant_id, idempotency_key, fingerprint } = facts;
  if (idempotency === undefined || idempotency_key === null) {
    send(exchange, await run());
    return;
  }
  const scope = { tenant_id, endpoint: route.operationId, idempotency_key };
  const onStoreError = (error: unknown) => deps.onError(error, exchange.requestId);
  const replayable = { store: deps.replays, scope, fingerprint, keepMs: idempotency.keepMs, onStoreError };
  send(exchange, await runOnce(replayable, run));
};

/** One request from key to answer, in the order that the interface gives its errors. */
export const serveRoute = async (route: Route, exchange: Exchange, deps: ServeDeps): Promise<void> => {
  if (deps.isDraining() && route.always !== true) {
    exchange.res.set('Connection', 'close');
    throw retryLater('shutting_down', 'This process is shutting down.');
  }
  const caller = await admitted(route, exchange, deps);
  const input = await received(route, exchange, deps);
  try {
    await answered(route, exchange, { deps, input, caller });
  } finally {
    await input.upload?.discard();
  }
};
