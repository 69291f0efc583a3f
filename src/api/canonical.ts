import { operationBody } from './schemas/operationSchemas.ts';
import { z } from 'zod';
import { KEPT_A_DAY, type AnyRequest, routesOver } from '../server/routes.ts';
import { validate } from '../server/request.ts';
import {
  type CanonicalEnvelope,
  canonicalEnvelope,
  CHANNEL_MEMBERS,
  conversionFormOf,
  envelopeByOperation,
  extractPayload,
  listPayload,
  noPayload,
  toMarkdownPayload,
} from './schemas/workSchemas.ts';
import { invalid, problem } from '../server/problems.ts';
import { activatePayload, trainingJobFields } from './schemas/pipelineSchemas.ts';
import {
  activate,
  artifactList,
  artifactOf,
  PIPELINE_PROBLEMS,
  resolve,
  type DeploymentsDeps,
} from './deployments.ts';
import { cancelJob, createJob, jobStatus, type TrainingDeps } from './training.ts';
import type { ChannelName, ChannelPaths, ModelChannel } from '../commands/models.ts';
import {
  channelOf,
  CONVERSION_PROBLEMS,
  EXTRACTION_PROBLEMS,
  fieldsIn,
  FETCH_PROBLEMS,
  looseChannel,
  onJsonFile,
  runConversion,
  runExtraction,
  workOf,
  type WorkDeps,
} from './work.ts';
import type { Opening } from '../commands/work.ts';
import type { WorkSubject } from '../commands/fetchUpload.ts';

/** What these routes need. */
export type CanonicalDeps = TrainingDeps & DeploymentsDeps & WorkDeps;

const { post } = routesOver<CanonicalDeps>();

/** An envelope on its way. */
interface CanonicalCall {
  readonly deps: CanonicalDeps;
  readonly request: AnyRequest & { readonly body: CanonicalEnvelope };
}

/** What an operation does with an envelope. It answers as the plain endpoint does. */
type CanonicalOperation = (call: CanonicalCall) => Promise<object>;

/** The payload by its operation's schema; issues are told where they stand in the envelope. */
const payloadOf = <Schema extends z.ZodType>(
  { request }: CanonicalCall,
  schema: Schema,
): z.output<Schema> => {
  const value = request.body.payload;
  const { payload: halves } = (request.halves ?? {}) as { readonly payload?: unknown };
  const [payload] = validate([{ at: 'body', schema, value, under: ['payload'], halves }]);
  return payload as z.output<Schema>;
};

const named = ({ request }: CanonicalCall, member: 'job_id' | 'artifact_id'): string => {
  const id = request.body.resource[member];
  if (id === undefined)
    throw invalid({ loc: ['body', 'resource', member], msg: `Name it by its ${member}.`, type: 'missing' });
  return id;
};

const jobIn = (call: CanonicalCall) => {
  payloadOf(call, noPayload);
  return { tenant_id: call.request.body.scope.tenant_id, job_id: named(call, 'job_id') };
};

/** Operations of the envelope on training jobs, deployments and artifacts. */
const PIPELINE_OPERATIONS = {
  'training.create': (call) => {
    const { environment: _, ...scope } = call.request.body.scope;
    return createJob(call.deps, call.request, { scope, fields: payloadOf(call, trainingJobFields) });
  },
  'training.get': async (call) => jobStatus(call.deps, call.request, jobIn(call)),
  'training.cancel': async (call) => cancelJob(call.deps, call.request, jobIn(call)),
  'deployment.activate': (call) => {
    const { scope } = call.request.body;
    const fields = { ...payloadOf(call, activatePayload), artifact_id: named(call, 'artifact_id') };
    return activate(call.deps, call.request, { scope, fields });
  },
  'deployment.resolve': async (call) => {
    payloadOf(call, noPayload);
    return resolve(call.deps, call.request.body.scope);
  },
  'artifact.get': async (call) => {
    payloadOf(call, noPayload);
    return artifactOf(call.deps, call.request.body.scope.tenant_id, named(call, 'artifact_id'));
  },
  'artifact.list': (call) => {
    const { tenant_id } = call.request.body.scope;
    return artifactList(call.deps, call.request, { tenant_id, ...payloadOf(call, listPayload) });
  },
} satisfies Readonly<Record<string, CanonicalOperation>>;

/** What each of them takes as its payload, for the reference. */
const PIPELINE_PAYLOADS: Readonly<Record<keyof typeof PIPELINE_OPERATIONS, z.ZodType>> = {
  'training.create': trainingJobFields,
  'training.get': noPayload,
  'training.cancel': noPayload,
  'deployment.activate': activatePayload,
  'deployment.resolve': noPayload,
  'artifact.get': noPayload,
  'artifact.list': listPayload,
};

const onDocument = <T extends object>(
  { deps, request }: CanonicalCall,
  file_name: string | undefined,
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T> => {
  const { scope, resource } = request.body;
  const { file_uri, document_id, source_url } = resource;
  if (file_uri === undefined && document_id === undefined && source_url === undefined)
    throw invalid({
      loc: ['body', 'resource', 'file_uri'],
      msg: 'Name the document by its file_uri, its document_id or its source_url.',
      type: 'missing',
    });
  const { tenant_id, project_id, task_id } = scope;
  const named = { tenant_id, file_uri, document_id, source_url, file_name, project_id, task_id };
  const at = ['body', 'resource'];
  return onJsonFile(deps, { request, named: { ...named, source: 'canonical', at } }, work);
};

const PAYLOAD = { members: CHANNEL_MEMBERS, under: ['payload'] };

const IN_RESOURCE = ['body', 'resource', 'config_id'];
const IN_PAYLOAD = ['body', 'payload', 'config_id'];

const opened = <Payload extends Pick<Opening, 'pages' | 'password'>>(payload: Payload) => ({
  ...payload,
  at: ['body', 'payload'],
});

type Payload = Readonly<Record<string, unknown>>;

const twice = (member: string, other: string) =>
  invalid({
    loc: ['body', 'payload', member],
    msg: `Send ${member} or ${other}, not both.`,
    type: 'value_error',
  });

/** A caller's own model: an object, as JSON endpoints have it, or the flat members of a form. */
const channelIn = (name: ChannelName, payload: Payload): ModelChannel => {
  const flat = channelOf(name, payload, PAYLOAD);
  const whole = payload[name] as Payload | null | undefined;
  if (whole == null) return flat;
  if (Object.keys(flat).length > 0) throw twice(name, `${name}_*`);
  return looseChannel(whole, { members: CHANNEL_MEMBERS, at: (member) => ['body', 'payload', name, member] });
};

const pathsIn =
  (payload: Payload): ChannelPaths =>
  (channel, member) =>
    payload[channel] == null
      ? ['body', 'payload', `${channel}_${member}`]
      : ['body', 'payload', channel, member];

const extract: CanonicalOperation = (call) => {
  const { deps, request } = call;
  const payload = payloadOf(call, extractPayload);
  const { resource, scope } = request.body;
  const { project_id, task_id, environment } = scope;
  return onDocument(call, payload.file_name, (subject) =>
    runExtraction(deps, request, {
      fields: {
        ...fieldsIn(payload),
        artifact_id: payload.artifact_id ?? resource.artifact_id,
        config_id: payload.config_id ?? resource.config_id,
        llm: channelIn('llm', payload),
        ocr: channelIn('ocr', payload),
        channelPaths: pathsIn(payload),
        configPath: payload.config_id === undefined ? IN_RESOURCE : IN_PAYLOAD,
        deployed: { project_id, task_id, environment },
      },
      work: workOf(request, opened(payload), subject),
    }),
  );
};

const toMarkdown: CanonicalOperation = (call) => {
  const { deps, request } = call;
  const payload = payloadOf(call, toMarkdownPayload);
  const { mode, conversion_mode } = payload;
  if (mode !== undefined && conversion_mode !== undefined && mode !== conversion_mode)
    throw twice('mode', 'conversion_mode');
  return onDocument(call, payload.file_name, (subject) =>
    runConversion(deps, request, {
      ...workOf(request, opened(payload), subject),
      mode: mode ?? conversion_mode ?? 'default',
      form: conversionFormOf(payload),
      ocr: channelIn('ocr', payload),
      channelPaths: pathsIn(payload),
    }),
  );
};

/** Operations whose plain endpoint lets a service key act for any tenant. */
const actsForAll = (operation: string): boolean => operation.startsWith('inference.');

/** Every operation of the envelope, by its name. */
export const CANONICAL_OPERATIONS: Readonly<Record<string, CanonicalOperation>> = {
  'inference.extract': extract,
  'inference.to_markdown': toMarkdown,
  ...PIPELINE_OPERATIONS,
};

/** The envelope with the payload of each operation, for the reference. */
const DOCUMENTED_ENVELOPE = envelopeByOperation({
  'inference.extract': extractPayload,
  'inference.to_markdown': toMarkdownPayload,
  ...PIPELINE_PAYLOADS,
});

const canonicalResponse = z
  .strictObject({
    schema_version: z.literal('1.0'),
    operation: z.string(),
    request_id: z.string(),
    result: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'CanonicalResponse' });

const SCHEMA_VERSION = '1.0' as const;

const HEAVY = 'inference.extract';

const operationIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'operation' in body ? body.operation : undefined;

export const canonical = post(
  '/v1/canonical',
  {
    summary: 'One envelope for all operations',
    description: `Operations: ${Object.keys(CANONICAL_OPERATIONS)
      .map((name) => `\`${name}\``)
      .join(', ')}. \`result\` is what the plain endpoint answers.`,
    access: 'any',
    tenant: 'scope',
    serviceActsForAll: true,
    bucketOf: (body) => (operationIn(body) === HEAVY ? 'heavy' : 'general'),
    idempotency: KEPT_A_DAY,
    respondsAsync: operationBody,
    body: canonicalEnvelope,
    documentedBody: DOCUMENTED_ENVELOPE,
    reply: { status: 200, schema: canonicalResponse },
    problems: [
      'unknown_operation',
      'unsupported_schema_version',
      ...EXTRACTION_PROBLEMS,
      ...CONVERSION_PROBLEMS,
      ...FETCH_PROBLEMS,
      ...PIPELINE_PROBLEMS,
    ],
  },
  async (request, deps) => {
    const { schema_version, operation } = request.body;
    if (schema_version !== SCHEMA_VERSION)
      throw problem('unsupported_schema_version', `Send schema_version "${SCHEMA_VERSION}".`);
    const run = Object.hasOwn(CANONICAL_OPERATIONS, operation) ? CANONICAL_OPERATIONS[operation] : undefined;
    if (run === undefined)
      throw problem(
        'unknown_operation',
        `There is no such operation. Choose from: ${Object.keys(CANONICAL_OPERATIONS).join(', ')}.`,
      );
    const { caller, tenant_id } = request;
    if (caller.role === 'service' && caller.tenant_id !== tenant_id && !actsForAll(operation))
      throw problem('tenant_mismatch', 'The API key belongs to another tenant.');
    const result = await run({ deps, request });
    return {
      schema_version: SCHEMA_VERSION,
      operation,
      request_id: request.meta.correlation_id,
      result: result as Record<string, unknown>,
    };
  },
);
