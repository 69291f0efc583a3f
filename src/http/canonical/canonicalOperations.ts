import type { ChannelName, ChannelPaths, ModelChannel } from '../../commands/models.ts';
import { payloadOf, type CanonicalCall, type CanonicalOperation } from './canonicalPayload.ts';
import { runConversion } from '../documents/conversion.ts';
import { runExtraction } from '../documents/extraction.ts';
import type { Opening } from '../../commands/work.ts';
import type { WorkSubject } from '../../commands/fetchUpload.ts';
import { PIPELINE_OPERATIONS, PIPELINE_PAYLOADS } from '../pipelines/canonicalPipelines.ts';
import { invalid } from '../problems.ts';
import { conversionFormOf } from '../wire/documents.ts';
import { CHANNEL_MEMBERS } from '../wire/channels.ts';
import { envelopeByOperation, extractPayload, toMarkdownPayload } from '../wire/canonical.ts';
import { onJsonFile } from '../documents/sourceFile.ts';
import { channelOf, looseChannel, workOf } from '../documents/workFields.ts';

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

const opened = ({ pages, password }: Pick<Opening, 'pages' | 'password'>): Opening => ({
  ...{ pages, password, at: ['body', 'payload'] },
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
        schema: payload.schema,
        mode: payload.mode,
        artifact_id: payload.artifact_id ?? resource.artifact_id,
        config_id: payload.config_id ?? resource.config_id,
        allow_partial: payload.allow_partial,
        citations: payload.citations,
        min_confidence: payload.min_confidence,
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
export const actsForAll = (operation: string): boolean => operation.startsWith('inference.');

/** Every operation of the envelope, by its name. */
export const CANONICAL_OPERATIONS: Readonly<Record<string, CanonicalOperation>> = {
  'inference.extract': extract,
  'inference.to_markdown': toMarkdown,
  ...PIPELINE_OPERATIONS,
};

/** The envelope with the payload of each operation, for the reference. */
export const DOCUMENTED_ENVELOPE = envelopeByOperation({
  'inference.extract': extractPayload,
  'inference.to_markdown': toMarkdownPayload,
  ...PIPELINE_PAYLOADS,
});
