import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import type { Request, Response } from 'express';
import { invalid, problem } from './problems.ts';
import type { RequestIssue } from '../problemTable.ts';
import type { Caller } from './keys.ts';
import type { Route, AnyRequest } from './routes.ts';
import { isTooMuch } from './jsonBody.ts';
import { keyRole } from '../../domain/apiKey.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { doneOr } from './problems.ts';
import { idempotencyKeyIn } from './idempotency.ts';
import type { Upload } from './files.ts';
import { browserOf } from './browser.ts';

const ISSUES_MAX = 50;

type ZodIssue = z.core.$ZodIssue;

const keyText = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);

/** zod's findings, as callers get them. */
export const issuesOf = (issue: ZodIssue, at: readonly string[]): readonly RequestIssue[] => {
  const loc = [...at, ...issue.path.map(keyText)];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ loc: [...loc, key], msg: 'Unknown member.', type: 'extra_forbidden' }));
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return [{ loc, msg: 'Required.', type: 'missing' }];
  return [{ loc, msg: issue.message, type: issue.code }];
};

/** One part of a request to check: where it stands, its schema, and what came. */
interface Part {
  readonly at: 'path' | 'query' | 'header' | 'body';
  readonly schema: z.ZodType | undefined;
  readonly value: unknown;
  /** All of a query: what its schema does not know is refused. */
  readonly isWhole?: boolean;
  /** Where the part stands inside of `at`. */
  readonly under?: readonly string[];
  /** The value with 0.5 for each whole number that was written with a fraction or an exponent, if it has any. */
  readonly halves?: unknown;
}

/** All issues with their whole paths, those of alternatives too. */
const flat = (issues: readonly ZodIssue[], at: readonly PropertyKey[] = []): readonly ZodIssue[] =>
  issues.flatMap((issue) => {
    const path = [...at, ...issue.path];
    const inner = issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => flat(errors, path)) : [];
    return [{ ...issue, path }, ...inner];
  });

const isIntWanted = (issue: ZodIssue): boolean => issue.code === 'invalid_type' && issue.expected === 'int';

const ODD_INTEGER = 'Expected a whole number, written without a fraction or an exponent.';

const pathsOfNoInt = (issues: readonly ZodIssue[]): readonly (readonly PropertyKey[])[] =>
  flat(issues)
    .filter(isIntWanted)
    .map(({ path }) => path);

const placeOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(keyText));

/** Integers are read as written: if the schema wants one, `5.0` is refused. `told` is wrong with the value itself. */
const oddIssues = (
  { at, under = [], schema, halves }: Part,
  told: readonly ZodIssue[],
): readonly RequestIssue[] => {
  if (schema === undefined || halves === undefined) return [];
  const result = schema.safeParse(halves, { reportInput: true });
  const known = new Set(pathsOfNoInt(told).map(placeOf));
  return pathsOfNoInt(result.error?.issues ?? [])
    .filter((path) => !known.has(placeOf(path)))
    .map((path) => ({ loc: [at, ...under, ...path.map(keyText)], msg: ODD_INTEGER, type: 'invalid_type' }));
};

/** The names of the parameters that a query's schema knows. */
const namesIn = (schema: z.ZodType): readonly string[] => {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? namesIn(schema.in as z.ZodType) : [];
};

const unknownParameter = (names: readonly string[], name: string): string => {
  if (names.length === 0) return 'Unknown parameter: this route takes none.';
  const near = closest(name, names);
  const isTypo = distance(name, near) <= name.length / 2;
  return isTypo
    ? `Unknown parameter; do you mean \`${near}\`?`
    : `Unknown parameter. Known here: ${names.map((one) => `\`${one}\``).join(', ')}.`;
};

/** Members of queries that begin and end a period. */
const PERIODS = [
  ['from_date', 'to_date'],
  ['start', 'end'],
  ['accepted_after', 'accepted_before'],
  ['created_after', 'created_before'],
  ['from', 'to'],
] as const;

/**
 * What no schema says of a query: a parameter that the route does not know, or that is there without a value, and a
 * period that ends before its start. Left alone, each would give an answer to another question.
 */
const queryIssues = (
  schema: z.ZodType | undefined,
  asked: object,
  read: unknown,
): readonly RequestIssue[] => {
  const names = schema === undefined ? [] : namesIn(schema);
  const odd = Object.entries(asked).flatMap(([name, value]): readonly RequestIssue[] => {
    const loc = ['query', name];
    if (!names.includes(name)) return [{ loc, msg: unknownParameter(names, name), type: 'extra_forbidden' }];
    return value === '' ? [{ loc, msg: 'Empty: give it a value, or leave it out.', type: 'too_small' }] : [];
  });
  const times = (read ?? {}) as Readonly<Record<string, unknown>>;
  const turned = PERIODS.flatMap(([from, to]): readonly RequestIssue[] => {
    const [start, end] = [times[from], times[to]];
    if (typeof start !== 'string' || typeof end !== 'string' || start <= end) return [];
    return [{ loc: ['query', to], msg: `Lies before \`${from}\`.`, type: 'custom' }];
  });
  const isTwice = names.includes('cursor') && 'cursor' in asked && 'offset' in asked;
  const msg = 'Stands for the place where the page begins, as `cursor` does: leave it out.';
  const twice = isTwice ? [{ loc: ['query', 'offset'], msg, type: 'custom' }] : [];
  return [...odd, ...turned, ...twice];
};

/** What is wrong with a part, by its schema and beyond it; without a schema only a whole query can be wrong. */
const partIssues = (
  part: Part,
  result: z.ZodSafeParseResult<unknown> | undefined,
): readonly RequestIssue[] => {
  const { at, under = [], schema, value, isWhole } = part;
  const odd = isWhole === true ? queryIssues(schema, value as object, result?.data) : [];
  const told = new Set(odd.map(({ loc }) => loc[1]));
  const found = result?.error?.issues ?? [];
  const wrong = found.slice(0, ISSUES_MAX).flatMap((issue) => issuesOf(issue, [at, ...under]));
  return [...odd, ...wrong.filter(({ loc }) => !told.has(loc[1])), ...oddIssues(part, found)];
};

/** Checks all parts and reports everything that is wrong at once, as one `validation_error`. */
export const validate = (parts: readonly Part[]): readonly unknown[] => {
  const issues: RequestIssue[] = [];
  const values = parts.map((part) => {
    const { schema, value } = part;
    const result = schema?.safeParse(value, { reportInput: true });
    issues.push(...partIssues(part, result));
    return result?.data;
  });
  if (issues.length > 0) throw invalid(...issues.slice(0, ISSUES_MAX));
  return values;
};

const ROLES: Readonly<Record<Route['access'], readonly Caller['role'][]>> = {
  public: keyRole.options,
  any: ['tenant', 'service', 'admin'],
  any_or_seller: keyRole.options,
  admin: ['admin'],
  admin_or_service: ['admin', 'service'],
  admin_or_seller: ['admin', 'seller'],
};

/** Whether the caller's role may call the route at all. */
const isOpenTo = ({ access, tenantSessions }: Route, { role, session }: Caller): boolean =>
  ROLES[access].includes(role) || (tenantSessions === true && role === 'tenant' && session !== undefined);

const SELLERS_MAY =
  'A seller key records sales, refunds, their reversals and disputes, and reads the price list, a payment by its ID ' +
  'and the consent to top-ups, and tells what became of these. For anything else use another key.';

/** 403 for a caller whose role is too small. */
export const checkRole = (route: Route, caller: Caller): void => {
  if (isOpenTo(route, caller)) return;
  throw problem('admin_required', caller.role === 'seller' ? SELLERS_MAY : 'This needs an admin key.');
};

const mayActFor = (tenantId: string, route: Route, caller: Caller): boolean => {
  if (['admin', 'seller'].includes(caller.role) || caller.tenant_id === tenantId) return true;
  return caller.role === 'service' && route.serviceActsForAll === true;
};

/** The `tenant_id` of one part of a request, if it is text there. */
const tenantNamedIn = (part: unknown): string | undefined => {
  if (typeof part !== 'object' || part === null || !('tenant_id' in part)) return undefined;
  return typeof part.tenant_id === 'string' ? part.tenant_id : undefined;
};

/** The `scope` of a body, if it has one. */
export const scopeIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'scope' in body ? body.scope : undefined;

/** 403 for a key of another tenant: before the rest is checked, and before anything is looked up. */
export const checkTenant = (route: Route, caller: Caller, part: unknown): void => {
  const tenantId = tenantNamedIn(part);
  if (tenantId === undefined || mayActFor(tenantId, route, caller)) return;
  if (ROLES[route.access].includes('tenant') || isOpenTo(route, caller))
    throw problem('tenant_mismatch', 'The API key belongs to another tenant.');
};

/** What a request is recognised by. */
interface RequestParts {
  readonly path: unknown;
  readonly query: unknown;
  /** As JSON, or as the fields of a form. */
  readonly body?: unknown;
  readonly form?: unknown;
  readonly sha256: string | undefined;
}

const SECRETS = new Set(['api_key', 'llm_api_key', 'ocr_api_key']);

/** Longest stretch of the main thread before others get their turn, ms. */
const SLICE_MS = 8;
/** Pieces are written, and the clock is checked, this many characters at a time. */
const CHUNK_CHARS = 4_096;

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** The digest of a word that a person made up can be guessed: a document's password is left out altogether. */
const PASSWORD = 'password';

/** A secret is represented only by its digest. */
const shown = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (name === PASSWORD) return undefined;
  return SECRETS.has(name) ? digest(value) : value;
};

function* listPieces(items: readonly unknown[]): Generator<string> {
  for (let at = 0; at < items.length; at += 1) {
    if (at > 0) yield ',';
    yield* canonicalPieces(items[at] ?? null);
  }
}

/** Sorts the names at a stretch: for as many as a body may have that takes some 30 ms. */
function* memberPieces(members: Readonly<Record<string, unknown>>): Generator<string> {
  let before = '';
  for (const name of Object.keys(members).sort()) {
    const value = shown(name, members[name]);
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* canonicalPieces(value);
    before = ',';
  }
}

/** The canonical JSON of a value (RFC 8785), piece by piece. */
function* canonicalPieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    yield '[';
    yield* listPieces(value);
    yield ']';
  } else {
    yield '{';
    yield* memberPieces(value as Readonly<Record<string, unknown>>);
    yield '}';
  }
}

/** Takes all pieces in slices: those of a megabyte at a stretch would hold the main thread for a tenth of a second. */
const writeAll = async (value: unknown, write: (text: string) => void): Promise<void> => {
  let until = performance.now() + SLICE_MS;
  let text = '';
  for (const piece of canonicalPieces(value)) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    write(text);
    text = '';
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  write(text);
};

/** JSON that travels as the text of a form's field: its white space and the order of its members say nothing. */
const withCanonicalSchema = async (fields: unknown): Promise<unknown> => {
  const schema = (fields as { readonly schema?: unknown } | undefined)?.schema;
  if (typeof schema !== 'string' || isTooMuch(schema)) return fields;
  let value: unknown;
  try {
    value = JSON.parse(schema);
  } catch {
    return fields;
  }
  let text = '';
  await writeAll(value, (piece) => (text += piece));
  return { ...(fields as object), schema: text };
};

/** Digest of the normalised request. Own provider keys enter it as digests. */
export const requestFingerprint = async ({ form, ...parts }: RequestParts): Promise<string> => {
  const request = form === undefined ? parts : { ...parts, body: await withCanonicalSchema(form) };
  const hash = createHash('sha256');
  await writeAll(request, (piece) => hash.update(piece, 'utf8'));
  return hash.digest('hex');
};

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

const OF_FILTER = /^filter\[([a-z]\w{0,63})\]$/;

/** A query's parameters, those that are written `filter[name]=value` as one object. */
const queryIn = (query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const filter: [string, unknown][] = [];
  const rest = Object.entries(query).filter(([name, value]) => {
    const [, member] = OF_FILTER.exec(name) ?? [];
    if (member !== undefined) filter.push([member, value]);
    return member === undefined;
  });
  return filter.length === 0 ? query : { ...Object.fromEntries(rest), filter: Object.fromEntries(filter) };
};

/**
 * The path's and the query's parameters. Express parses a query at each access. Without a key a stranger may add
 * parameters of its own, as providers of sign-ins and proxies do.
 */
export const addressParts = (route: Route, req: Request): readonly [Part, Part] => [
  { at: 'path', schema: route.params, value: pathParams(route, req) },
  { at: 'query', schema: route.query, value: queryIn(req.query), isWhole: route.access !== 'public' },
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
const preferencesIn = (header: string | undefined): readonly string[] =>
  (header ?? '').split(',').map((one) => (one.split(';', 1)[0] ?? '').trim().toLowerCase());

export const prefersAsync = (header: string | undefined): boolean =>
  preferencesIn(header).includes('respond-async');

const WAIT = /^wait\s*=\s*"?(\d{1,6})"?$/;

/** How long the caller is ready to wait, ms; Infinity: they do not say. */
const waitPreferred = (header: string | undefined): number => {
  const [seconds] = preferencesIn(header).flatMap((one) => WAIT.exec(one)?.[1] ?? []);
  return seconds === undefined ? Infinity : 1000 * Number(seconds);
};

/** The parts of a handler's request that come from the request itself. */
export type Checked = Omit<
  AnyRequest,
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
  const respondAsync = route.respondsAsync !== undefined && prefersAsync(req.get('prefer'));
  const waitMs = route.respondsAsync === undefined ? Infinity : waitPreferred(req.get('prefer'));
  const tenant_id = (tenant && tenantNamedIn(named[tenant])) ?? caller.tenant_id;
  const whole = () => (route.upload === true ? { ...parts, form: body } : { ...parts, body });
  const fingerprint = idempotency_key === null ? '' : await requestFingerprint(whole());
  return { params, query, body, file, idempotency_key, halves, respondAsync, waitMs, tenant_id, fingerprint };
};

/** What else a handler gets. */
interface HandlerContext {
  readonly caller: Caller;
  readonly clock: Clock;
  /** Told of a status other than the route's own. */
  readonly status: (status: number) => void;
}

/**
 * What a handler gets. The signal is costly and few ask for it: it is made on demand. Every request makes this
 * object: spreading members, accessors among them, into a larger one would cost 8 µs.
 */
export const requestOf = (
  facts: Checked,
  { req, res, requestId }: Exchange,
  { caller, clock, status }: HandlerContext,
): AnyRequest => {
  const { params, query, body, file, tenant_id, idempotency_key, fingerprint, halves, respondAsync, waitMs } =
    facts;
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
    waitMs,
    // As of the decision, not of the request's coming: its process may have stood still in between.
    get meta() {
      const actor = { key_id: caller.key_id, role: caller.role };
      return { now: clock.now(), actor, correlation_id: requestId, command_id };
    },
    // A route's problems are known where it is declared, and nowhere else.
    doneOr: doneOr as AnyRequest['doneOr'],
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
