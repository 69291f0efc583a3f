import { COMPONENT, schemaOf, type Components, type Json } from './openapiSchemas.ts';
import { operationBody } from '../../api/operationSchemas.ts';
import type { NamedRoute, Route } from '../defineRoute.ts';
import { VERSION } from '../../version.ts';
import { described, sentenceOf } from './describedMembers.ts';
import { problemResponses, problemSchemas } from './problemSchemas.ts';
import { exampleBodyOf, withExample } from './shownExamples.ts';
import { webhookMessages } from './webhookMessages.ts';
import { TAGS } from './tags.ts';

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
const withFile = (operationId: string, form: Json, components: Components): Json => {
  const id = (form['$ref'] as string | undefined)?.slice(COMPONENT.length);
  const fields = (id === undefined ? form : components[id]) as ObjectSchema;
  const whole = {
    ...fields,
    properties: {
      file: { type: 'string', format: 'binary', description: 'The document; or send `source_url`.' },
      ...withExamples(fields.properties, exampleBodyOf(operationId)),
    },
    anyOf: [{ required: ['file'] }, { required: ['source_url'] }],
  };
  if (id === undefined) return whole;
  components[id] = whole;
  return form;
};

const requestBody = (
  { operationId, body, documentedBody = body, upload, bytes }: NamedRoute,
  components: Components,
): Json => {
  if (bytes !== undefined) return { requestBody: { required: true, content: { '*/*': { schema: {} } } } };
  if (documentedBody === undefined) return {};
  const schema = schemaOf(documentedBody, 'input', components);
  const content =
    upload === true
      ? { 'multipart/form-data': { schema: withFile(operationId, schema, components) } }
      : { 'application/json': { schema } };
  return { requestBody: { required: true, content } };
};

const ELSEWHERE: Json = {
  description: 'Elsewhere.',
  headers: { Location: { description: 'Where to.', schema: { type: 'string' } } },
};

const success = ({ reply, alsoStatus = [], idempotency }: Route, components: Components): Json => {
  if (reply.status === 204) return { 204: { description: 'Done; no content.' } };
  if (!('schema' in reply || 'contentType' in reply)) return { [reply.status]: ELSEWHERE };
  const content =
    'schema' in reply
      ? { 'application/json': { schema: schemaOf(reply.schema, 'output', components) } }
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
              description: '`true` on an answer that was given before.',
              schema: { type: 'string', const: 'true' },
            },
          },
        };
  const answer = { description: 'Success.', content, ...headers };
  return Object.fromEntries([reply.status, ...alsoStatus].map((status) => [String(status), answer]));
};

const operation = (route: NamedRoute, components: Components): Json => ({
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
  ...requestBody(route, components),
  responses: { ...problemResponses(route), ...accepted(route, components), ...success(route, components) },
});

/** A schema of a request or an answer, where it is no component, with members that say what they are. */
const describedOperation = (route: NamedRoute, components: Components): Json => {
  const whole = operation(route, components);
  return {
    ...whole,
    ...('requestBody' in whole && { requestBody: withDescribed(whole['requestBody'], route.operationId) }),
    responses: withDescribed(whole['responses'], route.operationId),
  };
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

/**
 * The whole interface as OpenAPI 3.1, made from the routes.
 *
 * @param serverUrl where clients reach the service
 */
export const openApiDocument = (routes: readonly NamedRoute[], serverUrl: string): Json => {
  const components: Components = { ...problemSchemas(routes) };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method] = withExample(
      route.operationId,
      describedOperation(route, components),
    );
  const webhooks = webhookMessages(components);
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
    webhooks,
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
            'Of a browser that is signed in. What changes something needs the header `X-CSRF-Token` and a page of ' +
            'this service.',
        },
      },
      schemas: describedComponents(components),
    },
  };
};
