import type { z } from 'zod';
import { COMPONENT, schemaOf, type Components, type Json } from './openapiSchemas.ts';
import { operationBody } from '../wire/operations.ts';
import type { NamedRoute, Route } from '../defineRoute.ts';
import { problemsOf } from '../defineRoute.ts';
import { statusOf, WIRE_CODES, wireCodeOf } from '../../problemTable.ts';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

const parametersIn = (
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  components: Components,
): readonly Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', components) as ObjectSchema;
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: member,
  }));
};

const idempotencyHeader = ({ idempotency }: Route): readonly Json[] =>
  idempotency === undefined
    ? []
    : [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'A repeat with the same key and request gets the same answer; only 2xx is kept.',
          schema: { type: 'string', minLength: 1, maxLength: idempotency.keyLengthMax, pattern: '^[!-~]+$' },
        },
      ];

const preferHeader = ({ respondsAsync }: Route): readonly Json[] =>
  respondsAsync === true
    ? [
        {
          name: 'Prefer',
          in: 'header',
          required: false,
          description:
            '`respond-async` (RFC 7240): the answer is 202 with an operation, to be asked for its result.',
          schema: { type: 'string', examples: ['respond-async'] },
        },
      ]
    : [];

/** The answer to a request that prefers not to wait. */
const accepted = ({ respondsAsync, tenant }: Route, components: Components): Json => {
  if (respondsAsync !== true) return {};
  const schema = schemaOf(operationBody, 'output', components);
  const envelope = { type: 'object', properties: { result: schema } };
  return {
    202: {
      description: 'Accepted: the work is done later.',
      content: { 'application/json': { schema: tenant === 'scope' ? envelope : schema } },
      headers: {
        Location: { description: 'Of the operation.', schema: { type: 'string' } },
        'Preference-Applied': { schema: { type: 'string', const: 'respond-async' } },
      },
    },
  };
};

const withFile = (form: Json, components: Components): Json => {
  const id = (form['$ref'] as string | undefined)?.slice(COMPONENT.length) ?? '';
  const fields = (components[id] ?? form) as ObjectSchema;
  return {
    ...fields,
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The document.' },
      ...fields.properties,
    },
    required: ['file', ...(fields.required ?? [])],
  };
};

const requestBody = ({ body, upload, bytes }: Route, components: Components): Json => {
  if (bytes !== undefined) return { requestBody: { required: true, content: { '*/*': { schema: {} } } } };
  if (body === undefined) return {};
  const schema = schemaOf(body, 'input', components);
  const content =
    upload === true
      ? { 'multipart/form-data': { schema: withFile(schema, components) } }
      : { 'application/json': { schema } };
  return { requestBody: { required: true, content } };
};

const success = ({ reply, alsoStatus = [], idempotency }: Route, components: Components): Json => {
  if (reply.status === 204) return { 204: { description: 'Done; no content.' } };
  const content =
    'schema' in reply
      ? { 'application/json': { schema: schemaOf(reply.schema, 'output', components) } }
      : {
          [reply.contentType]: {
            schema: { type: /[/+]json$/.test(reply.contentType) ? 'object' : 'string' },
          },
        };
  const headers =
    idempotency === undefined
      ? {}
      : {
          headers: {
            'Idempotent-Replayed': {
              description: '`true` on an answer that was given before.',
              schema: { type: 'string', const: 'true' },
            },
          },
        };
  const answer = { description: 'Success.', content, ...headers };
  return Object.fromEntries([reply.status, ...alsoStatus].map((status) => [String(status), answer]));
};

const problemContent = (codes: readonly string[]): Json => {
  const others = codes.filter((code) => code !== 'validation_error');
  const schemas = [
    ...(codes.includes('validation_error') ? [{ $ref: `${COMPONENT}HTTPValidationError` }] : []),
    ...(others.length === 0
      ? []
      : [
          {
            allOf: [
              { $ref: `${COMPONENT}Problem` },
              { type: 'object', properties: { code: { enum: others } } },
            ],
          },
        ]),
  ];
  return { 'application/problem+json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } };
};

const retryHeader = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

const problems = (route: Route): Json => {
  const byStatus = new Map<number, string[]>();
  for (const code of problemsOf(route))
    byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), wireCodeOf(code)]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        ...((status === 429 || status === 503) && { headers: retryHeader }),
        content: problemContent(codes),
      },
    ]),
  );
};

const operation = (route: NamedRoute, components: Components): Json => ({
  operationId: route.operationId,
  summary: route.summary,
  ...(route.description !== undefined && { description: route.description }),
  tags: [route.tag],
  security: route.access === 'public' ? [] : [{ apiKey: [] }],
  parameters: [
    ...parametersIn(route.params, 'path', components),
    ...parametersIn(route.query, 'query', components),
    ...idempotencyHeader(route),
    ...preferHeader(route),
  ],
  ...requestBody(route, components),
  responses: { ...problems(route), ...accepted(route, components), ...success(route, components) },
});

const PROBLEM_SCHEMAS = {
  Problem: {
    type: 'object',
    description: 'RFC 9457. Each code has a page at its `type`. Further members depend on the code.',
    properties: {
      type: { type: 'string', description: 'A path of this service.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      code: { type: 'string', enum: WIRE_CODES },
      detail: { type: 'string', description: 'A sentence for people.' },
      request_id: { type: 'string' },
    },
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
  },
  HTTPValidationError: {
    type: 'object',
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer', const: 422 },
      code: { type: 'string', const: 'validation_error' },
      detail: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            loc: { type: 'array', items: { type: ['string', 'integer'] } },
            msg: { type: 'string' },
            type: { type: 'string' },
          },
          required: ['loc', 'msg', 'type'],
        },
      },
      request_id: { type: 'string' },
    },
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
  },
};

/** The whole interface as OpenAPI 3.1, made from the routes. */
export const openApiDocument = (routes: readonly NamedRoute[]): Json => {
  const components: Components = { ...PROBLEM_SCHEMAS };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route, components);
  const sorted = Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quire',
      version: '1.0.0',
      description: 'Documents in, data out; pages cost credits, and every movement of credits is an event.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
      schemas: sorted,
    },
  };
};
