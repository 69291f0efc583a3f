import type { Request, Response } from 'express';
import type { Clock, TextVault } from '../../domain/ports/log.ts';
import { tokensIn, withQuotedTokens } from '../../domain/eventLog/writtenText.ts';
import type { ReplayStore } from '../../domain/ports/services.ts';
import type { BytesInFlight } from '../commands/slots.ts';
import { tooMuchInFlight } from '../commands/workProblem.ts';
import { BOOTSTRAP_ADMIN, type Authenticator, type Caller } from './keys.ts';
import type { ReadYourWrites } from '../queries/queries.ts';
import type { Sessions } from './sessions.ts';
import { workFailure } from './problems.ts';
import { csvAnswer, prefersCsv } from './csv.ts';
import { type AnyRequest, isRaw, type RawBody, type Route, type ServedRoute } from './routes.ts';
import { JSON_TYPE, readJson } from './jsonBody.ts';
import {
  checkRole,
  checkTenant,
  scopeIn,
  addressParts,
  checked,
  prefersAsync,
  requestOf,
  validate,
  type Checked,
  type Exchange,
  type Input,
  type Received,
} from './request.ts';
import { runOnce, type Sent } from './idempotency.ts';
import { takeToken, widePages, type RateLimits } from './limits.ts';
import { receiveUpload, receiveBytes, type Upload, type UploadLimits } from './files.ts';
import { retryLater } from './problems.ts';
import {
  settleAllReads,
  settleReads,
  isSmall,
  PIECES_BYTES,
  sendRaw,
  sendWhole,
  type AnswersOut,
} from './answers.ts';
import { browserOf } from './browser.ts';

export interface ServeDeps {
  readonly sessions: Pick<Sessions, 'isSentBy' | 'callerOf'>;
  /** Reads wait for this process's writes. */
  readonly reads: ReadYourWrites;
  readonly keys: Authenticator;
  readonly limits: RateLimits;
  readonly replays: ReplayStore;
  /** Texts that answers have tokens for; left out: none has any. */
  readonly texts?: TextVault['texts'] | undefined;
  readonly uploads: UploadLimits & { readonly inFlight: BytesInFlight };
  readonly unread: AnswersOut;
  /** How long a caller may read nothing of its answer, ms; left out: 30 s. */
  readonly silentMs?: number | undefined;
  readonly clock: Clock;
  /** True from SIGTERM on. */
  readonly isDraining: () => boolean;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** As `res.set`, which looks for media types in each. */
const setHeaders = (res: Response, headers: Readonly<Record<string, string>>): void => {
  for (const name in headers) res.setHeader(name, headers[name] ?? '');
};

/** Public routes act as nobody in particular. */
const NOBODY: Caller = { ...BOOTSTRAP_ADMIN, key_id: 'none', role: 'tenant', tenant_id: 'none' };

/** By the key; without one, by the session of a browser. */
const callerOf = async (route: Route, req: Request, { keys, sessions }: ServeDeps): Promise<Caller> => {
  const key = req.get('x-api-key');
  if (key !== undefined || req.headers.cookie === undefined) return keys.authenticate(key);
  const browser = browserOf(req);
  if (!sessions.isSentBy(browser)) return keys.authenticate(key);
  return sessions.callerOf(browser, { changes: route.method !== 'get' });
};

/** Statuses that come without a body. */
const BODILESS: readonly number[] = [204, 302, 303];

const admitted = async (route: Route, exchange: Exchange, deps: ServeDeps): Promise<Caller> => {
  if (route.access === 'public') return NOBODY;
  const { req, res } = exchange;
  const caller = await callerOf(route, req, deps);
  exchange.caller = caller;
  deps.unread.check(caller.tenant_id);
  if (route.bucket !== undefined && route.bucketOf === undefined)
    setHeaders(res, await takeToken(deps.limits, caller, route.bucket));
  checkRole(route, caller);
  checkTenant(route, caller, route.tenant === 'path' ? req.params : undefined);
  checkTenant(route, caller, route.tenant === 'query' ? req.query : undefined);
  return caller;
};

/** Calls `release` once the file is gone, or was never there. */
const heldUntilDiscarded = async (receiving: Promise<Upload>, release: () => void): Promise<Upload> => {
  try {
    const upload = await receiving;
    return { ...upload, discard: () => upload.discard().finally(release) };
  } catch (error) {
    release();
    throw error;
  }
};

/** Nothing of the body is read before it is let in. */
const receivedBytes = async (
  bytes: NonNullable<ServedRoute['bytes']>,
  req: Request,
  { route, deps: { uploads } }: { readonly route: Route; readonly deps: ServeDeps },
): Promise<Upload> => {
  const [params, query] = validate(addressParts(route, req));
  const { 'content-type': content_type = '', 'content-length': length } = req.headers;
  const content_length = length === undefined ? undefined : Number(length);
  const { bytesMax, release } = await bytes.admit({ params, query, content_type, content_length }, undefined);
  return heldUntilDiscarded(receiveBytes(req, { dir: uploads.dir, bytesMax }), release);
};

/** A form with a file: its bytes count for the tenant of the key while they are on this disk. */
const receivedForm = (
  { req, caller }: Exchange,
  { inFlight, ...limits }: ServeDeps['uploads'],
): Promise<Upload> => {
  const bytes = Number(req.headers['content-length'] ?? limits.bytesMax);
  const release = inFlight.take(caller?.tenant_id ?? '', bytes);
  if (release === undefined) throw workFailure(tooMuchInFlight(inFlight.max));
  return heldUntilDiscarded(receiveUpload(req, limits), release);
};

const received = async (route: ServedRoute, exchange: Exchange, deps: ServeDeps): Promise<Input> => {
  const { req } = exchange;
  if (route.upload === true) {
    const upload = await receivedForm(exchange, deps.uploads);
    return { body: upload.fields, upload };
  }
  if (route.bytes !== undefined)
    return { body: undefined, upload: await receivedBytes(route.bytes, req, { route, deps }) };
  if (route.body === undefined) return { body: undefined, upload: undefined };
  const { value, halves } = await readJson(req);
  return { body: value, upload: undefined, halves };
};

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

/** Bytes that a caller does not read count for its tenant meanwhile. */
const heldWhileSent = async (
  { unread }: Pick<ServeDeps, 'unread'>,
  { tenant_id, bytes }: { readonly tenant_id: string; readonly bytes: number },
  sending: () => Promise<void>,
): Promise<void> => {
  const release = unread.hold(tenant_id, bytes);
  await sending().finally(release);
};

/** The text of a body that is whole: it can be kept. */
const wholeText = ({ opening = '', body }: RawBody): string | undefined => {
  if (typeof body === 'string') return opening + body;
  return body instanceof Uint8Array ? opening + new TextDecoder().decode(body) : undefined;
};

const sentRaw = async (
  { req, res }: Exchange,
  { status, raw }: { readonly status: number; readonly raw: RawBody },
  { caller, deps }: { readonly caller: Caller; readonly deps: ServeDeps },
): Promise<void> => {
  const { opening, body, contentType } = raw;
  const first = opening === undefined ? undefined : await withTexts(opening, caller, deps);
  res.status(status).type(contentType);
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const counted = { tenant_id: caller.tenant_id, bytes: PIECES_BYTES };
  const sent = first === undefined ? { body } : { opening: first, body };
  await heldWhileSent(deps, counted, () => sendRaw(res, sent, deps));
};

/** Most callers name no CSV: their header is not parsed. */
const isCsv = (route: ServedRoute, { req }: Exchange, request: AnyRequest): boolean =>
  req.headers.accept?.includes('csv') === true && prefersCsv(route, request);

const inTurn = widePages();

/** Whether a page of a list is made from all of its rows. */
const isWide = (query: unknown): boolean => {
  const { sort, q, filter } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return [sort, q, filter].some((one) => one !== undefined);
};

/** The answer of the handler; nobody waits for what is asked no more. */
const made = (
  route: ServedRoute,
  request: AnyRequest,
  { tenant_id }: Pick<Caller, 'tenant_id'>,
): Promise<unknown> =>
  isWide(request.query)
    ? inTurn(tenant_id, () =>
        request.signal.aborted
          ? Promise.reject(retryLater('busy', 'Nobody reads this answer.'))
          : route.handle(request, undefined),
      )
    : route.handle(request, undefined);

/** Calls the handler; what it returns is serialised once, so a replay is the same to the byte. */
const handled = async (
  route: ServedRoute,
  exchange: Exchange,
  { facts, caller, deps }: { readonly facts: Checked; readonly caller: Caller; readonly deps: ServeDeps },
): Promise<Sent> => {
  const { reads, clock } = deps;
  let status: number = route.reply.status;
  const told = (other: number) => {
    status = other;
  };
  const request = requestOf(facts, exchange, { caller, clock, status: told });
  if (route.reads === 'tenant') await settleReads(reads, request, facts.tenant_id);
  if (route.reads === 'all') await settleAllReads(reads, request);
  const body = isCsv(route, exchange, request)
    ? await csvAnswer(route, request, { withTexts: (json) => withTexts(json, caller, deps) })
    : await made(route, request, caller);
  if (isRaw(body)) {
    const whole = facts.idempotency_key === null ? undefined : wholeText(body);
    if (whole !== undefined) return { status, body: whole, replayed: false };
    await sentRaw(exchange, { status, raw: body }, { caller, deps });
    return { status, body: '', replayed: false };
  }
  return { status, body: BODILESS.includes(status) ? '' : textOf(body), replayed: false };
};

const operationIn = (body: unknown): string | undefined => {
  const { operation_id, result } = body as { readonly operation_id?: unknown; readonly result?: unknown };
  if (typeof operation_id === 'string') return operation_id;
  return typeof result === 'object' && result !== null ? operationIn(result) : undefined;
};

/** Where the operation is that stands for the answer; replays say so too. */
const setOperation = ({ req, res }: Pick<Exchange, 'req' | 'res'>, body: string): void => {
  const operationId = operationIn(JSON.parse(body));
  if (operationId === undefined) return;
  res.setHeader('Location', `/v1/operations/${operationId}`);
  if (prefersAsync(req.get('prefer'))) res.setHeader('Preference-Applied', 'respond-async');
};

const tenantOf = (caller: Caller | undefined): string => (caller ?? NOBODY).tenant_id;

/** A body of JSON that is whole. */
const sendJson = async ({ req, res, caller }: Exchange, body: string, deps: ServeDeps): Promise<void> => {
  res.setHeader('Content-Type', JSON_TYPE);
  if (req.method === 'HEAD') res.end();
  else if (isSmall(body)) res.end(body);
  else {
    const counted = { tenant_id: tenantOf(caller), bytes: body.length };
    await heldWhileSent(deps, counted, () => sendWhole(res, body, deps));
  }
};

const send = async (
  exchange: Exchange,
  { status, body, replayed }: Sent,
  { deps, respondsAsync }: Pick<Route, 'respondsAsync'> & { readonly deps: ServeDeps },
): Promise<void> => {
  const { req, res, caller } = exchange;
  if (res.headersSent || res.destroyed) return;
  // Work that was done now is answered: it is paid for.
  if (replayed || req.method === 'GET') deps.unread.check(tenantOf(caller));
  if (status === 202 && respondsAsync !== undefined) setOperation({ req, res }, body);
  if (replayed) res.setHeader('Idempotent-Replayed', 'true');
  res.statusCode = status;
  if (BODILESS.includes(status)) res.end();
  else await sendJson(exchange, body, deps);
};

/** JSON with the texts of its tokens: null for erased texts, and for another tenant's. */
const withTexts = async (
  body: string,
  caller: Caller,
  { texts }: Pick<ServeDeps, 'texts'>,
): Promise<string> => {
  const tokens = texts === undefined ? [] : tokensIn(body);
  if (texts === undefined || tokens.length === 0) return body;
  const found = await texts(tokens, caller.role === 'tenant' ? caller.tenant_id : undefined);
  return withQuotedTokens(body, (token) => found.get(token));
};

const sentWithTexts = async (
  sent: Sent,
  exchange: Exchange,
  { route, caller, deps }: { readonly route: Route; readonly caller: Caller; readonly deps: ServeDeps },
): Promise<void> =>
  send(exchange, { ...sent, body: await withTexts(sent.body, caller, deps) }, { ...route, deps });

const answered = async (
  route: ServedRoute,
  exchange: Exchange,
  { deps, input, caller }: Received & { readonly deps: ServeDeps },
): Promise<void> => {
  if (route.bucketOf !== undefined)
    setHeaders(exchange.res, await takeToken(deps.limits, caller, route.bucketOf(input.body)));
  checkTenant(route, caller, route.tenant === 'body' ? input.body : undefined);
  checkTenant(route, caller, route.tenant === 'scope' ? scopeIn(input.body) : undefined);
  const facts = await checked(route, exchange, { input, caller });
  const run = () => handled(route, exchange, { facts, caller, deps });
  const { idempotency } = route;
  const { tenant_id, idempotency_key } = facts;
  if (idempotency === undefined || idempotency_key === null) {
    await sentWithTexts(await run(), exchange, { route, caller, deps });
    return;
  }
  const scope = { tenant_id, endpoint: route.operationId, idempotency_key };
  const onStoreError = (error: unknown) => deps.onError(error, exchange.requestId);
  const { fingerprint } = facts;
  const replayable = { store: deps.replays, scope, fingerprint, keepMs: idempotency.keepMs, onStoreError };
  await sentWithTexts(await runOnce(replayable, run), exchange, { route, caller, deps });
};

/** One request from key to answer, in the order that the interface gives its errors. */
export const serveRoute = async (route: ServedRoute, exchange: Exchange, deps: ServeDeps): Promise<void> => {
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
