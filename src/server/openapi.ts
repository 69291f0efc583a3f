import members from './members.json' with { type: 'json' };
import {
  schemaOf,
  COMPONENT,
  problemResponses,
  problemSchemas,
  type Json,
  type Components,
} from './openapiSchemas.ts';
import examples from './examples.json' with { type: 'json' };
import { csvColumns } from './csvColumns.ts';
import type { NamedRoute, Route } from './routes.ts';
import { VERSION } from '../version.ts';

/** Parts of the interface, in the order in which the reference shows them. */
export const TAGS = [
  {
    name: 'Documents',
    description: 'Data and markdown from documents, and saved configs and tables for them.',
  },
  { name: 'Uploads', description: 'Files that are sent once and used by their URI.' },
  {
    name: 'Operations',
    description: 'Work on documents that is done later, alone or in batches, and its outcome.',
  },
  { name: 'Reviews', description: 'Results that a person has to look at, and what they decide.' },
  { name: 'Webhooks', description: 'Receivers of messages about what happens, and the messages to each.' },
  { name: 'Billing', description: 'Credits, prices and quotes of a tenant.' },
  { name: 'Pipelines', description: 'Training on examples, and which artifact is in use.' },
  { name: 'Evaluations', description: 'Sets of examples, and how well configs and artifacts read them.' },
  { name: 'Sessions', description: 'Signing in and out with a browser.' },
  { name: 'Administration', description: 'Keys, plans, limits, rates and prices; for admin keys.' },
  { name: 'Reports', description: 'Margin, reconciliation, usage and model costs; for admin keys.' },
  {
    name: 'Audit',
    description:
      'The event log as it is stored, balances as of any moment, audits and seals; for admin keys.',
  },
  { name: 'Service', description: 'Health, metrics and this description.' },
] as const;

/** The name of a part. */
export type Tag = (typeof TAGS)[number]['name'];

/** A sentence by the name of a member; `Schema.member` goes before `member`, for a name means one thing mostly. */
const SENTENCES: Readonly<Record<string, string>> = members;

/** Keywords of a schema that hold schemas of the same place. */
const INSIDE = ['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'] as const;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The sentence that a member gets which says nothing of itself. */
const sentenceOf = (owner: string, name: string): string | undefined =>
  SENTENCES[`${owner}.${name}`] ?? SENTENCES[name];

const describedMember = (owner: string, name: string, member: unknown): unknown => {
  const inner = described(member, `${owner}.${name}`);
  const sentence = sentenceOf(owner, name);
  if (!isObject(inner) || 'description' in inner || sentence === undefined) return inner;
  return { description: sentence, ...inner };
};

/**
 * A schema whose members all say what they are. `owner` is the schema's name, or the operation's, with the
 * members on the way. What a schema says of itself stays.
 */
const described = (schema: unknown, owner: string): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => described(one, owner));
  if (!isObject(schema)) return schema;
  const { properties } = schema;
  const inside = INSIDE.filter((keyword) => keyword in schema).map((keyword) => [
    keyword,
    described(schema[keyword], owner),
  ]);
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, describedMember(owner, name, member)]),
      ),
    }),
    ...(Object.fromEntries(inside) as Json),
  };
};

/** A request to the real service, and its answer (`npm run generate`). */
export interface Example {
  readonly parameters?: Json;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
}

/** Examples by operation. */
export type Examples = Readonly<Record<string, Example>>;

const EXAMPLES: Examples = examples;

const CSV_TYPE = 'text/csv';
const BINARY = /^application\/(?:pdf|vnd\.openxmlformats-)/;
/** Types of which an example would be data of another form: lines, a page that is printed, a workbook. */
const NO_EXAMPLE = /^(?:text\/csv|application\/(?:pdf|vnd\.openxmlformats-.*))$/;

const inContent = (content: unknown, example: unknown): Json =>
  Object.fromEntries(
    Object.entries(content as Readonly<Record<string, Json>>).map(([type, media]) => [
      type,
      NO_EXAMPLE.test(type) ? media : { ...media, example },
    ]),
  );

const shownParameters = (parameters: unknown, values: Json = {}): unknown =>
  (parameters as readonly Json[]).map((parameter) => {
    const value = values[String(parameter['name'])];
    return value === undefined ? parameter : { ...parameter, example: value };
  });

const shownAnswers = (responses: Json, { status, answer }: Example): Json => {
  const response = responses[String(status)] as Json | undefined;
  if (response?.['content'] === undefined || answer === undefined) return responses;
  return { ...responses, [String(status)]: { ...response, content: inContent(response['content'], answer) } };
};

/** An operation with the request and the answer that a spec holds against the service. */
const withExample = (operation: Json, example: Example | undefined): Json => {
  if (example === undefined) return operation;
  const body = operation['requestBody'] as Json | undefined;
  return {
    ...operation,
    parameters: shownParameters(operation['parameters'], example.parameters),
    ...(body !== undefined &&
      example.body !== undefined && {
        requestBody: { ...body, content: inContent(body['content'], example.body) },
      }),
    responses: shownAnswers(operation['responses'] as Json, example),
  };
};

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

const parametersIn = (
  { operationId, ...route }: NamedRoute,
  where: 'path' | 'query',
  components: Components,
): readonly Json[] => {
  const schema = where === 'path' ? route.params : route.query;
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', components) as ObjectSchema;
  return Object.entries(properties).map(([name, { description, ...member }]) => {
    const sentence = description ?? sentenceOf(operationId, name);
    return {
      name,
      in: where,
      required: required.includes(name),
      ...(sentence !== undefined && { description: sentence }),
      ...(where === 'query' && member['type'] === 'object' && { style: 'deepObject', explode: true }),
      schema: member,
    };
  });
};

const idempotencyHeader = ({ idempotency }: Route): readonly Json[] =>
  idempotency === undefined
    ? []
    : [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'A repeat with the same key and request gets the same answer; only 2xx answers are kept.',
          schema: { type: 'string', minLength: 1, maxLength: idempotency.keyLengthMax, pattern: '^[!-~]+$' },
        },
      ];

const preferHeader = ({ respondsAsync }: Route): readonly Json[] =>
  respondsAsync !== undefined
    ? [
        {
          name: 'Prefer',
          in: 'header',
          required: false,
          description:
            '`respond-async` (RFC 7240): the answer is 202 with an operation; poll it for the result. With ' +
            '`wait=10` it is the result if that is there within 10 seconds. `wait` alone: how long a call waits ' +
            'for a free worker before its answer is the operation.',
          schema: { type: 'string', examples: ['respond-async', 'respond-async, wait=10'] },
        },
      ]
    : [];

/** The answer to a request that prefers not to wait. */
const accepted = ({ respondsAsync, tenant }: Route, components: Components): Json => {
  if (respondsAsync === undefined) return {};
  const schema = schemaOf(respondsAsync, 'output', components);
  const envelope = { type: 'object', properties: { result: schema } };
  return {
    202: {
      description: 'Accepted: the work is done later.',
      content: { 'application/json': { schema: tenant === 'scope' ? envelope : schema } },
      headers: {
        Location: { description: 'Address of the operation.', schema: { type: 'string' } },
        'Preference-Applied': { schema: { type: 'string', const: 'respond-async' } },
      },
    },
  };
};

/** Fields with what the example sends in them: the reference page begins with these. */
const withExamples = (
  properties: Readonly<Record<string, Json>> | undefined,
  values: Json,
): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, field]) => [
      name,
      values[name] === undefined ? field : { ...field, examples: [values[name]] },
    ]),
  );

/** The fields of a form with its file; a named form has it under its name. */
const withFile = (form: Json, components: Components, example: Example | undefined): Json => {
  const id = (form['$ref'] as string | undefined)?.slice(COMPONENT.length);
  const fields = (id === undefined ? form : components[id]) as ObjectSchema;
  const isDocument = fields.properties?.['source_url'] !== undefined;
  const described = isDocument ? 'The document; or send `source_url`.' : 'The file.';
  const whole = {
    ...fields,
    properties: {
      file: { type: 'string', format: 'binary', description: described },
      ...withExamples(fields.properties, (example?.body ?? {}) as Json),
    },
    ...(isDocument
      ? { anyOf: [{ required: ['file'] }, { required: ['source_url'] }] }
      : { required: ['file'] }),
  };
  if (id === undefined) return whole;
  components[id] = whole;
  return form;
};

const requestBody = (
  { body, documentedBody = body, upload, bytes }: NamedRoute,
  components: Components,
  example: Example | undefined,
): Json => {
  if (bytes !== undefined) return { requestBody: { required: true, content: { '*/*': { schema: {} } } } };
  if (documentedBody === undefined) return {};
  const schema = schemaOf(documentedBody, 'input', components);
  const content =
    upload === true
      ? { 'multipart/form-data': { schema: withFile(schema, components, example) } }
      : { 'application/json': { schema } };
  return { requestBody: { required: true, content } };
};

const ELSEWHERE: Json = {
  description: 'Redirect.',
  headers: { Location: { description: 'Address to go to.', schema: { type: 'string' } } },
};

/** Forms of an answer that are no JSON. */
const textually = (types: readonly string[]): Json =>
  Object.fromEntries(
    types.map((type) => [
      type,
      { schema: { type: 'string', ...(BINARY.test(type) && { format: 'binary' }) } },
    ]),
  );

const success = (route: Route, components: Components): Json => {
  const { reply, alsoStatus = [], idempotency } = route;
  if (reply.status === 204) return { 204: { description: 'Done; no content.' } };
  if (!('schema' in reply || 'contentType' in reply)) return { [reply.status]: ELSEWHERE };
  const content =
    'schema' in reply
      ? {
          'application/json': { schema: schemaOf(reply.schema, 'output', components) },
          ...textually([
            ...(csvColumns(route) === undefined ? [] : [CSV_TYPE]),
            ...(reply.alsoContentTypes ?? []),
          ]),
        }
      : Object.fromEntries(
          [reply.contentType, ...(reply.alsoContentTypes ?? [])].map((type) => [
            type,
            { schema: { type: /[/+]json$/.test(type) ? 'object' : 'string' } },
          ]),
        );
  const headers =
    idempotency === undefined
      ? {}
      : {
          headers: {
            'Idempotent-Replayed': {
              description: '`true` if this answer was already given before.',
              schema: { type: 'string', const: 'true' },
            },
          },
        };
  const answer = { description: 'Success.', content, ...headers };
  return Object.fromEntries([reply.status, ...alsoStatus].map((status) => [String(status), answer]));
};

const operation = (route: NamedRoute, components: Components, example: Example | undefined): Json => ({
  operationId: route.operationId,
  summary: route.summary,
  ...(route.description !== undefined && { description: route.description }),
  tags: [route.tag],
  security: route.access === 'public' ? [] : [{ apiKey: [] }, { session: [] }],
  parameters: [
    ...parametersIn(route, 'path', components),
    ...parametersIn(route, 'query', components),
    ...idempotencyHeader(route),
    ...preferHeader(route),
  ],
  ...requestBody(route, components, example),
  responses: { ...problemResponses(route), ...accepted(route, components), ...success(route, components) },
});

/** An operation with its example; members of schemas that are not components say what they are. */
const describedOperation = (
  route: NamedRoute,
  components: Components,
  example: Example | undefined,
): Json => {
  const whole = operation(route, components, example);
  const described = {
    ...whole,
    ...('requestBody' in whole && { requestBody: withDescribed(whole['requestBody'], route.operationId) }),
    responses: withDescribed(whole['responses'], route.operationId),
  };
  return withExample(described, example);
};

/** The same with each `schema` described, however deep it stands. */
const withDescribed = (value: unknown, owner: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => withDescribed(one, owner));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'schema' ? described(member, owner) : withDescribed(member, owner),
    ]),
  );
};

const describedComponents = (components: Components): Json =>
  Object.fromEntries(
    Object.entries(components)
      .map(([name, schema]) => [name, described(schema, name)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** The parts of an interface. */
interface Interface {
  readonly routes: readonly NamedRoute[];
  /** What receivers are sent, as OpenAPI describes webhooks. */
  readonly webhooks: (components: Components) => Json;
  /** Those of this release if absent. */
  readonly examples?: Examples;
}

/**
 * The whole interface as OpenAPI 3.1, made from the routes.
 *
 * @param serverUrl where clients reach the service
 */
export const openApiDocument = (
  { routes, webhooks, examples: shown = EXAMPLES }: Interface,
  serverUrl: string,
): Json => {
  const components: Components = { ...problemSchemas(routes) };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method] = describedOperation(
      route,
      components,
      shown[route.operationId],
    );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quire',
      version: VERSION,
      description: 'Documents in, data out; pages cost credits, and every movement of credits is an event.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'Who runs this service', url: serverUrl },
    },
    servers: [{ url: serverUrl, description: 'This service.' }],
    tags: TAGS.filter(({ name }) => routes.some(({ tag }) => tag === name)),
    paths,
    webhooks: webhooks(components),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-KEY',
          description: 'A key of a tenant, of a service or of an admin.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'quire_session',
          description:
            'For a browser that is signed in. Requests that change something need the header `X-CSRF-Token` and must ' +
            'come from a page of this service.',
        },
      },
      schemas: describedComponents(components),
    },
  };
};
