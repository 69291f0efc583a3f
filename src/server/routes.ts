import type { z } from 'zod';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Caller } from './keys.ts';
import type { DoneOr } from './problems.ts';
import type { BucketClass } from '../../domain/ports/services.ts';
import type { Browser } from './browser.ts';
import type { UploadedFile } from './files.ts';
import type { ProblemCode } from '../problemTable.ts';
import { withCsvQuery } from './csvColumns.ts';

/** `any`: every key but a seller's. */
type Access = 'public' | 'any' | 'any_or_seller' | 'admin' | 'admin_or_service' | 'admin_or_seller';
/** `scope`: the body's member of that name. */
type TenantSource = 'path' | 'query' | 'body' | 'scope';

/** What every handler gets: the caller, the tenant, and how to answer. */
interface RequestFacts {
  /** The upload of a route with `upload`; it is removed after the answer. */
  readonly file: UploadedFile | undefined;
  readonly caller: Caller;
  /** The caller's description of itself, if it is a browser. */
  readonly browser: Browser;
  /** The tenant that the request names, or the key's own. */
  readonly tenant_id: string;
  readonly idempotency_key: string | null;
  /** The route does so, and the caller asks for an operation instead of the answer. */
  readonly respondAsync: boolean;
  /** How long the caller is ready to wait for an operation (RFC 7240, `wait`), ms; Infinity: they do not say. */
  readonly waitMs: number;
  /** The JSON body with 0.5 for each whole number that was written as none; undefined: it has none. */
  readonly halves: unknown;
  /** Digest of the normalised request; own provider keys enter it as digests. */
  readonly fingerprint: string;
  readonly meta: CommandMeta;
  /** Which of these media types the caller would rather have; undefined: none of them. */
  readonly prefers: (types: readonly string[]) => string | undefined;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly answer: {
    status: (status: number) => void;
    header: (name: string, value: string | readonly string[]) => void;
  };
}

/** A request whose input is not known by type. */
export interface AnyRequest extends RequestFacts, DoneOr<never> {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** What a handler gets of a route that is declared so: its input as its schemas give it. */
interface RouteRequest<Facts> extends RequestFacts, DoneOr<ListedIn<Facts>> {
  readonly params: OutputOf<MemberOf<Facts, 'params'>>;
  readonly query: OutputOf<MemberOf<Facts, 'query'>>;
  readonly body: OutputOf<MemberOf<Facts, 'body'>>;
}

type MemberOf<Facts, Name extends string> = Facts extends { readonly [Key in Name]: infer Member }
  ? Member
  : undefined;
type ListedIn<Facts> = Facts extends { readonly problems: readonly (infer Code extends ProblemCode)[] }
  ? Code
  : never;
type AnswerOf<Facts> = Facts extends { readonly reply: { readonly schema: infer Schema extends z.ZodType } }
  ? z.input<Schema>
  : undefined;

/** A body that is sent as it is: of a route with `contentType`, or JSON that is made while it is sent. */
export interface RawBody {
  readonly contentType: string;
  /** Text before the body; tokens in it become their texts, as in answers that are JSON. */
  readonly opening?: string;
  /** Pieces are sent as they come: where one is late, so is the answer's end. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** No answer of the interface has a member of this name. */
export const isRaw = (body: unknown): body is RawBody =>
  typeof body === 'object' && body !== null && 'contentType' in body;

type Reply =
  | {
      readonly status: 200 | 201 | 202;
      readonly schema: z.ZodType;
      /** Other types that a caller may ask for; lists have CSV by themselves. */
      readonly alsoContentTypes?: readonly string[];
    }
  | { readonly status: 204 }
  /** To the `Location` that the handler sets. */
  | { readonly status: 302 | 303 }
  | {
      readonly status: 200;
      readonly contentType: string;
      /** Other types that a caller may ask for. */
      readonly alsoContentTypes?: readonly string[];
    };

export interface Idempotency {
  readonly keyLengthMax: number;
  readonly keepMs: number;
}

const HOUR_MS = 3_600_000;

/** How most routes that take an `Idempotency-Key` treat it. */
export const KEPT_A_DAY: Idempotency = { keyLengthMax: 255, keepMs: 24 * HOUR_MS };

/** What is known about a body of plain bytes before it is read. */
export interface ByteRequest<Params = unknown, Query = unknown> {
  readonly params: Params;
  readonly query: Query;
  /** '' when it was not sent. */
  readonly content_type: string;
  /** undefined when it was not sent. */
  readonly content_length: number | undefined;
}

/** How a body of plain bytes is let in. */
interface ByteBody<Deps> {
  /** Gives the most bytes that are taken, and what is called at the end; throws what is answered instead. */
  // A method, for its parameter is checked against the route's schemas before it is called.
  admit(
    request: ByteRequest,
    deps: Deps,
  ): Promise<{ readonly bytesMax: number; readonly release: () => void }>;
}

/** A route as data: OpenAPI, validation, access, limits and problem answers are read from it. */
interface RouteFacts<Deps> {
  /** Problems of its own; those of access, input and limits are added by what the route declares. */
  readonly problems?: readonly ProblemCode[];
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** JSON, or with `upload` the fields of a multipart form. */
  readonly body?: z.ZodType;
  readonly upload?: boolean;
  /** Takes a body of plain bytes, of any type, to disk as `file`; access is decided before it is read. */
  readonly bytes?: ByteBody<Deps>;
  readonly reply: Reply;
  /** Other statuses that carry the same schema. */
  readonly alsoStatus?: readonly number[];
  /** The path's last parameter, where it takes slashes too. */
  readonly rest?: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Where `tenant_id` stands; a key of another tenant is refused before anything is looked up. */
  readonly tenant?: TenantSource;
  /** True: a service key may name any tenant. */
  readonly serviceActsForAll?: boolean;
  /** Somebody who is signed in to a tenant may do it for that tenant; its bare key may not. */
  readonly tenantSessions?: boolean;
  /** Left out: `general`; public routes are not limited. */
  readonly bucket?: BucketClass | undefined;
  /** Where the bucket depends on what is asked for: taken from once the body is read. */
  readonly bucketOf?: (body: unknown) => BucketClass;
  readonly idempotency?: Idempotency;
  /** With `Prefer: respond-async` it answers 202 with an operation, of this schema. */
  readonly respondsAsync?: z.ZodType;
  /** The body as the reference shows it, if that says more than the first check. */
  readonly documentedBody?: z.ZodType;
  /** A GET that uses something up: HEAD, by which programs look at a link before a person does, is refused. */
  readonly countsOnce?: boolean;
  /** Answered even while shutting down. */
  readonly always?: boolean;
  /** Reads wait for this process's writes, for the request's tenant or for all. */
  readonly reads?: 'tenant' | 'all';
}

/** A route: data, and one function over its resource's dependencies. Reading the data needs none. */
export interface Route<in Deps = never> extends RouteFacts<Deps> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for a path parameter. */
  readonly path: string;
  readonly handle: (request: AnyRequest, deps: Deps) => Promise<unknown>;
}

/** Members that no route has. */
type Unknown<Facts, Deps> = { readonly [Name in Exclude<keyof Facts, keyof RouteFacts<Deps>>]: never };

/** The query with what every list takes. */
const queryOf = (
  method: Route['method'],
  { reply, query }: Pick<Route, 'reply' | 'query'>,
): Pick<Route, 'query'> => {
  const whole = withCsvQuery({ method, reply }, query);
  return whole === undefined ? {} : { query: whole };
};

const routeOf =
  <Deps>(method: Route['method']) =>
  <Facts extends RouteFacts<Deps>>(
    path: string,
    facts: Facts & Unknown<Facts, Deps>,
    handle: (request: RouteRequest<Facts>, deps: Deps) => Promise<AnswerOf<Facts> | RawBody | undefined>,
  ): Route<Deps> => ({
    ...facts,
    ...queryOf(method, facts),
    method,
    path,
    bucket: facts.bucket ?? (facts.access === 'public' ? undefined : 'general'),
    // The input was checked against the same schemas.
    handle: (request, deps) => handle(request as RouteRequest<Facts>, deps),
  });

/** How a resource declares its routes: each by path, by what it is, and by what it does with `Deps`. */
export const routesOver = <Deps>() => ({
  get: routeOf<Deps>('get'),
  post: routeOf<Deps>('post'),
  put: routeOf<Deps>('put'),
  patch: routeOf<Deps>('patch'),
  remove: routeOf<Deps>('delete'),
});

/** A route with its name and its part of the interface, which the table of routes gives it. */
export interface NamedRoute<in Deps = never> extends Route<Deps> {
  readonly operationId: string;
  readonly tag: string;
}

/** A route that has what it needs. */
export type ServedRoute = NamedRoute<undefined>;

/** Routes over what they need: what the server calls. */
export const servedOver = <Deps>(routes: readonly NamedRoute<Deps>[], deps: Deps): readonly ServedRoute[] =>
  routes.map(({ bytes, handle, ...route }) => ({
    ...route,
    ...(bytes !== undefined && { bytes: { admit: (request) => bytes.admit(request, deps) } }),
    handle: (request) => handle(request, deps),
  }));

const inputProblems = (route: Route): readonly ProblemCode[] => {
  if (route.upload === true)
    return ['unsupported_media_type', 'missing_file', 'empty_file', 'file_too_large', 'body_too_large'];
  if (route.bytes !== undefined) return ['unsupported_media_type', 'empty_file', 'file_too_large'];
  return route.body === undefined ? [] : ['malformed_json', 'unsupported_media_type', 'body_too_large'];
};

const accessProblems = ({ access, tenant, method, tenantSessions }: Route): readonly ProblemCode[] => [
  ...(access === 'public' ? [] : (['invalid_api_key', 'session_expired', 'not_ready'] as const)),
  ...(access === 'public' || method === 'get' ? [] : (['cross_site_request'] as const)),
  ...(access === 'public' || access === 'any_or_seller' ? [] : (['admin_required'] as const)),
  ...((access === 'any' || access === 'any_or_seller' || tenantSessions === true) && tenant !== undefined
    ? (['tenant_mismatch'] as const)
    : []),
];

/** Every problem that the route can answer with: its own, and those of what it declares. */
export const problemsOf = (route: Route): readonly ProblemCode[] => {
  // Where a key is needed, a parameter that the route does not know is refused.
  const takesInput =
    route.access !== 'public' ||
    [route.params, route.query, route.body].some((schema) => schema !== undefined);
  return [
    ...new Set<ProblemCode>([
      ...accessProblems(route),
      ...inputProblems(route),
      ...(takesInput || route.idempotency !== undefined ? (['validation_error'] as const) : []),
      ...(route.bucket === undefined ? [] : (['rate_limited'] as const)),
      ...(route.idempotency === undefined
        ? []
        : (['request_in_progress', 'idempotency_key_reused', 'not_ready'] as const)),
      ...(route.always === true ? [] : (['shutting_down'] as const)),
      ...(route.problems ?? []),
      'internal_error',
    ]),
  ];
};
