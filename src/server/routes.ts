import type { z } from 'zod';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Caller } from './keys.ts';
import type { ApiDeps } from '../api/apiDeps.ts';
import type { DoneOr } from '../api/rejections.ts';
import type { BucketClass } from '../../domain/ports/services.ts';
import type { Browser } from './browser.ts';
import type { UploadedFile } from './files.ts';
import type { ProblemCode } from '../problemTable.ts';

type Access = 'public' | 'any' | 'admin' | 'admin_or_service';
/** `scope`: the body's member of that name. */
type TenantSource = 'path' | 'query' | 'body' | 'scope';

/** What a handler gets: checked input, who calls, and for which tenant. */
export interface RouteRequest<
  Params,
  Query,
  Body,
  Listed extends ProblemCode = never,
> extends DoneOr<Listed> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The upload of a route with `upload`; it is removed after the answer. */
  readonly file: UploadedFile | undefined;
  readonly caller: Caller;
  /** What the caller says of itself where it is a browser. */
  readonly browser: Browser;
  /** The tenant that the request names, or the key's own. */
  readonly tenant_id: string;
  readonly idempotency_key: string | null;
  /** The route does so, and the caller asks for an operation instead of the answer. */
  readonly respondAsync: boolean;
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

/** A body that is sent as it is: of a route with `contentType`, or JSON that is made while it is sent. */
export interface RawBody {
  readonly contentType: string;
  /** Pieces are sent as they come: where one is late, so is the answer's end. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

type Reply<Schema extends z.ZodType> =
  | { readonly status: 200 | 201 | 202; readonly schema: Schema }
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

/** How a body of plain bytes is let in. */
interface ByteBody<Params, Query> {
  /** Gives the most bytes that are taken, and what is called at the end; throws what is answered instead. */
  // A method, for its parameter is checked against the same schemas before it is called.
  admit(
    request: {
      readonly params: Params;
      readonly query: Query;
      /** '' when it was not sent. */
      readonly content_type: string;
      /** undefined when it was not sent. */
      readonly content_length: number | undefined;
    },
    deps: ApiDeps,
  ): Promise<{ readonly bytesMax: number; readonly release: () => void }>;
}

interface RouteFacts {
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
  /** With `Prefer: respond-async` it answers 202 with an operation. */
  readonly respondsAsync?: boolean;
  /** The body as the reference shows it, where that says more than what is checked at first. */
  readonly documentedBody?: z.ZodType;
  /** A GET that uses something up: HEAD, by which programs look at a link before a person does, is refused. */
  readonly countsOnce?: boolean;
  /** Answered even while shutting down. */
  readonly always?: boolean;
  /** What this process wrote, for the request's tenant or for all, is waited for before it is read. */
  readonly reads?: 'tenant' | 'all';
}

/** A route as data plus one function; what it is made of follows from the schemas. */
interface RouteSpec<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Listed extends ProblemCode,
> extends RouteFacts {
  /** Problems of its own; those of access, input and limits are added by what the route declares. */
  readonly problems?: readonly Listed[];
  readonly params?: Params;
  readonly query?: Query;
  /** JSON, or with `upload` the fields of a multipart form. */
  readonly body?: Body;
  readonly upload?: boolean;
  /** Takes a body of plain bytes, of any type, to disk as `file`; access is decided before it is read. */
  readonly bytes?: ByteBody<z.output<Params>, z.output<Query>>;
  readonly reply: Reply<Answer>;
  /** Other statuses that carry the same schema. */
  readonly alsoStatus?: readonly number[];
  readonly handle: (
    request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>, Listed>,
    deps: ApiDeps,
  ) => Promise<z.input<Answer> | RawBody | undefined>;
}

/** A route whose types are forgotten: what the server, the reference and the specs read. */
export interface Route extends RouteFacts {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` for a path parameter. */
  readonly path: string;
  readonly problems?: readonly ProblemCode[];
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly upload?: boolean | undefined;
  readonly bytes?: ByteBody<unknown, unknown> | undefined;
  readonly reply: Reply<z.ZodType>;
  readonly alsoStatus?: readonly number[] | undefined;
  // A method, for its parameter is checked against the same schemas before it is called.
  handle(request: RouteRequest<unknown, unknown, unknown>, deps: ApiDeps): Promise<unknown>;
}

const routeOf =
  (method: Route['method']) =>
  <
    Params extends z.ZodType = z.ZodUndefined,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUndefined,
    Answer extends z.ZodType = z.ZodUndefined,
    Listed extends ProblemCode = never,
  >(
    path: string,
    spec: RouteSpec<Params, Query, Body, Answer, Listed>,
  ): Route => ({
    ...spec,
    method,
    path,
    bucket: spec.bucket ?? (spec.access === 'public' ? undefined : 'general'),
    handle: (request, deps) =>
      spec.handle(request as RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>, Listed>, deps),
  });

// Each declares a route. OpenAPI, validation, access, limits and problem answers are read from it.
export const get = routeOf('get');
export const post = routeOf('post');
export const put = routeOf('put');
export const remove = routeOf('delete');

/** A route with its name and its part of the interface, which the table of routes gives it. */
export interface NamedRoute extends Route {
  readonly operationId: string;
  readonly tag: string;
}

const inputProblems = (route: Route): readonly ProblemCode[] => {
  if (route.upload === true)
    return ['unsupported_media_type', 'missing_file', 'empty_file', 'file_too_large', 'body_too_large'];
  if (route.bytes !== undefined) return ['unsupported_media_type', 'empty_file', 'file_too_large'];
  return route.body === undefined ? [] : ['malformed_json', 'unsupported_media_type', 'body_too_large'];
};

const accessProblems = ({ access, tenant, method, tenantSessions }: Route): readonly ProblemCode[] => [
  ...(access === 'public' ? [] : (['invalid_api_key', 'session_expired', 'not_ready'] as const)),
  ...(access === 'public' || method === 'get' ? [] : (['cross_site_request'] as const)),
  ...(access === 'admin' || access === 'admin_or_service' ? (['admin_required'] as const) : []),
  ...((access === 'any' || tenantSessions === true) && tenant !== undefined
    ? (['tenant_mismatch'] as const)
    : []),
];

/** Every problem that the route can answer with: its own, and those of what it declares. */
export const problemsOf = (route: Route): readonly ProblemCode[] => {
  const takesInput = [route.params, route.query, route.body].some((schema) => schema !== undefined);
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
