import { operationBody } from './schemas/operationSchemas.ts';
import type { z } from 'zod';
import { type ExtractionSettings, extractionSettings } from '@quire/engine/ports/extractionEngine';
import type { ConvertRequest } from '../commands/convert.ts';
import type { Opening, ReceivedFile, WorkAnswer, WorkRequest } from '../commands/work.ts';
import { KEPT_A_DAY, type AnyRequest, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import {
  CHANNEL_FIELDS,
  CHANNEL_MEMBERS,
  type ChannelMember,
  conversionFormOf,
  extractForm,
  extractResponse,
  markdownResponse,
  ocrToMarkdownRequest,
  toMarkdownForm,
} from './schemas/workSchemas.ts';
import { acceptedOrDone, doneSoon, type OperationsDeps } from './operations.ts';
import type { ExtractFields, extractByFields } from '../commands/extract.ts';
import type { ChannelIssue, ChannelName, ModelChannel } from '../commands/models.ts';
import {
  type FetchRequest,
  withFetched,
  withSource,
  type WorkSubject,
  type Uploads,
  type SourceDeps,
} from '../commands/fetchUpload.ts';
import type { UploadedFile } from '../server/files.ts';
import { invalid, problem, workFailure } from '../server/problems.ts';
import { issuesOf } from '../server/request.ts';
import type { Tags } from '../../domain/kernel/tags.ts';
import type { ProblemCode } from '../problemTable.ts';

/** What these routes need. */
export type WorkDeps = OperationsDeps & {
  readonly extract: ReturnType<typeof extractByFields>;
  readonly convert: (request: ConvertRequest) => Promise<WorkAnswer>;
  readonly uploads: Uploads;
  /** Documents that lie elsewhere. */
  readonly sources: SourceDeps;
};

const { post } = routesOver<WorkDeps>();

type ConversionAnswer = z.input<typeof markdownResponse>;

/** Converts, now or as an operation, and gives the answer's body. Throws the problem that answers why there is none. */
export const runConversion = async (
  deps: WorkDeps,
  request: AnyRequest,
  asked: ConvertRequest,
): Promise<ConversionAnswer> => {
  const begin = (one: WorkRequest) => deps.convert({ ...asked, ...one });
  const later = { work: asked, endpoint: 'to-markdown', begin } as const;
  // Another status has another schema: that of an operation.
  if (request.respondAsync) return (await acceptedOrDone(deps, request, later)) as ConversionAnswer;
  const answer = await deps.convert(asked);
  if (answer.kind === 'problem') throw workFailure(answer);
  if (answer.kind === 'to_queue')
    return (await doneSoon(deps, request, { ...later, isFull: answer.isFull })) as ConversionAnswer;
  if (answer.kind === 'handed_over') throw new Error('nobody was there to take the work');
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as ConversionAnswer;
};

type ExtractionAnswer = z.input<typeof extractResponse>;

/** Extracts, now or as an operation, and gives the answer's body. Throws the problem that answers why there is none. */
export const runExtraction = async (
  deps: WorkDeps,
  request: AnyRequest,
  { fields, work }: { readonly fields: ExtractFields; readonly work: WorkRequest },
): Promise<ExtractionAnswer> => {
  const later = {
    work,
    endpoint: 'extract' as const,
    begin: (one: WorkRequest) => deps.extract(fields, one),
  };
  // Another status has another schema: that of an operation.
  if (request.respondAsync) return (await acceptedOrDone(deps, request, later)) as ExtractionAnswer;
  const answer = await deps.extract(fields, work);
  if (answer.kind === 'problem') throw workFailure(answer);
  // Where a person has to look at it, the answer is an operation.
  if (answer.kind === 'to_queue')
    return (await doneSoon(deps, request, { ...later, isFull: answer.isFull })) as ExtractionAnswer;
  if (answer.kind === 'handed_over') throw new Error('nobody was there to take the work');
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as ExtractionAnswer;
};

/** The file of a form. */
const fileOf = (file: UploadedFile | undefined): UploadedFile => {
  if (file === undefined) throw problem('missing_file', 'The form has no part named file.');
  return file;
};

/** Members that say how a document is opened; `at`: their place, if that is not the body. */
type OpeningFields = Pick<Opening, 'pages' | 'password'> & { readonly at?: Opening['at'] };

/** Those, and the tags. */
type WorkFields = OpeningFields & { readonly tags?: Tags | undefined };

/** What extraction and conversion take from a request alike. */
export const workOf = (
  request: AnyRequest,
  { at, ...given }: WorkFields,
  subject: WorkSubject,
): WorkRequest => ({
  tenant_id: request.tenant_id,
  caller: workerOf(request.caller),
  tags: given.tags,
  correlation_id: request.meta.correlation_id,
  idempotency:
    request.idempotency_key === null
      ? null
      : { idempotency_key: request.idempotency_key, fingerprint: request.fingerprint },
  ...subject,
  opening: { pages: given.pages, password: given.password, at: at ?? ['body'] },
  signal: request.signal,
});

interface ChannelPlace {
  /** The members' schemas, as forms or as JSON spell them. */
  readonly members: Readonly<Record<ChannelMember, z.ZodType>>;
  /** Where a member stands in the request. */
  readonly at: (member: string) => readonly string[];
}

/** A caller's own model. Invalid members are kept apart: they count only if the channel runs. */
export const looseChannel = (
  given: Readonly<Record<string, unknown>>,
  { members, at }: ChannelPlace,
): ModelChannel => {
  const issues: ChannelIssue[] = [];
  const named = Object.entries(members).flatMap(([member, schema]): [string, unknown][] => {
    const value = given[member];
    if (value === undefined || value === '') return [];
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return [[member, result.data]];
    issues.push(...result.error.issues.flatMap((issue) => issuesOf(issue, at(member))));
    return member === 'api_key' ? [[member, value]] : [];
  });
  return { ...Object.fromEntries(named), ...(issues.length > 0 && { issues }) };
};

/** As `looseChannel`, from the `<channel>_…` members of a form or a payload. */
export const channelOf = (
  name: ChannelName,
  fields: Readonly<Record<string, unknown>>,
  { members, under = [] }: Pick<ChannelPlace, 'members'> & { readonly under?: readonly string[] } = {
    members: CHANNEL_FIELDS,
  },
): ModelChannel => {
  const own = Object.keys(members).map((member) => [member, fields[`${name}_${member}`]]);
  const at = (member: string) => ['body', ...under, `${name}_${member}`];
  return looseChannel(Object.fromEntries(own) as Record<string, unknown>, { members, at });
};

/** Where a request says where its document lies. */
interface Source {
  readonly source_url: string;
  readonly at: readonly string[];
}

const both = (at: readonly string[], other: string) =>
  invalid({ loc: [...at], msg: `Send ${other} or source_url, not both.`, type: 'value_error' });

const fromSource = async <T extends object>(
  { sources }: WorkDeps,
  { request, source }: { readonly request: AnyRequest; readonly source: Source },
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T> => {
  const { tenant_id, signal } = request;
  const done = await withSource(sources, { ...source, tenant_id, signal }, work);
  if ('kind' in done) throw workFailure(done);
  return done;
};

/** Does work on the document of a form: its file, or what lies at its `source_url`. */
export const onFormFile = <T extends object>(
  deps: WorkDeps,
  request: AnyRequest & { readonly body: { readonly source_url?: string | undefined } },
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T> => {
  const { source_url } = request.body;
  const at = ['body', 'source_url'];
  if (source_url === undefined) return work(fileOf(request.file));
  if (request.file !== undefined) throw both(at, 'a file');
  return fromSource(deps, { request, source: { source_url, at } }, work);
};

interface JsonDocument extends FetchRequest {
  readonly source_url?: string | undefined;
  /** Where the members stand that name the document. */
  readonly at: readonly string[];
}

/** Does work on the document that JSON names: one that was uploaded, or what lies at its `source_url`. */
export const onJsonFile = async <T extends object>(
  deps: WorkDeps,
  { request, named }: { readonly request: AnyRequest; readonly named: JsonDocument },
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T> => {
  const { source_url, at: within, file_uri, document_id, file_name, project_id, task_id } = named;
  const at = [...within, 'source_url'];
  if (source_url !== undefined) {
    if (file_uri !== undefined || document_id !== undefined) throw both(at, 'file_uri');
    return fromSource(deps, { request, source: { source_url, at } }, (file) =>
      work({ file: { ...file, file_name: file_name ?? file.file_name }, project_id, task_id }),
    );
  }
  const done = await withFetched(deps.uploads, named, work);
  if (!('kind' in done)) return done;
  if (request.idempotency_key === null) throw workFailure(done);
  // Its key may name work on a file that was removed or erased since.
  return work({ file: NO_FILE, project_id, task_id, gone: done });
};

const NO_FILE: ReceivedFile = { path: '', sha256: '', bytes: 0, file_name: null };

/** What every work on a document may end with. */
export const WORK_PROBLEMS = [
  'unsupported_file_type',
  'unreadable_file',
  'wrong_password',
  'too_many_pages',
  'unknown_model_provider',
  'unsafe_api_base',
  'unsafe_source_url',
  'source_unavailable',
  'missing_file',
  'empty_file',
  'file_too_large',
  'upload_quota_exceeded',
  'erased',
  'field_encryption_not_configured',
  'insufficient_credits',
  'budget_reached',
  'model_provider_error',
  'provider_timeout',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

/** The problems of fetching a document from storage. */
export const FETCH_PROBLEMS = [
  'document_not_found',
  'missing_file',
  'empty_file',
  'file_too_large',
  'version_conflict',
] as const satisfies readonly ProblemCode[];

/** The problems of an extraction's fields, before a file is opened. */
export const FIELD_PROBLEMS = [
  'missing_schema',
  'invalid_schema',
  'schema_beyond_limits',
  'artifact_not_found',
  'config_not_found',
  'field_encryption_not_configured',
] as const satisfies readonly ProblemCode[];

/** The problems of a batch: its files are opened later. */
export const BATCH_PROBLEMS = [
  ...FIELD_PROBLEMS,
  'unknown_model_provider',
  'unsafe_api_base',
  'storage_error',
  'busy',
] as const satisfies readonly ProblemCode[];

export const EXTRACTION_PROBLEMS = [
  ...WORK_PROBLEMS,
  ...FIELD_PROBLEMS,
  'output_schema_mismatch',
  'review_rejected',
  'extraction_failed',
] as const satisfies readonly ProblemCode[];

export const CONVERSION_PROBLEMS = [
  ...WORK_PROBLEMS,
  'conversion_failed',
] as const satisfies readonly ProblemCode[];

const parsed = (schema: string | undefined): unknown => {
  if (schema === undefined) return undefined;
  try {
    return JSON.parse(schema);
  } catch {
    throw problem('invalid_schema', 'The field schema is not JSON.');
  }
};

/** The fields of an extraction in any body, but for the caller's own models. */
export const fieldsIn = ({
  schema,
  mode,
  artifact_id,
  config_id,
  allow_partial,
  review,
  ...settings
}: ExtractionSettings &
  Pick<ExtractFields, 'allow_partial'> &
  Partial<Pick<ExtractFields, 'schema' | 'mode' | 'artifact_id' | 'config_id' | 'review'>>) => ({
  schema,
  mode,
  artifact_id,
  config_id,
  allow_partial,
  review,
  settings: extractionSettings.parse(settings),
});

export const extract = post(
  '/v1/extract',
  {
    summary: 'Data from a document, by a JSON Schema',
    description:
      'Nothing is invented: if a value is not in the document, it is null if the schema allows null, and left out if ' +
      'it is optional.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: extractForm,
    upload: true,
    respondsAsync: operationBody,
    reply: { status: 200, schema: extractResponse },
    problems: EXTRACTION_PROBLEMS,
  },
  async (request, deps) => {
    const { project_id, task_id, schema, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runExtraction(deps, request, {
        fields: {
          ...fieldsIn({ ...fields, schema: parsed(schema) }),
          llm: channelOf('llm', fields),
          ocr: channelOf('ocr', fields),
        },
        work: workOf(request, fields, { file, project_id, task_id }),
      }),
    );
  },
);

const inOcr = (member: string) => ['body', 'ocr', member];

export const ocrToMarkdown = post(
  '/v1/ocr/to-markdown',
  {
    summary: 'An uploaded document as markdown and plain text',
    description:
      'The document is an upload, named by the `file_uri` that presign gave, or a file at `source_url`.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    respondsAsync: operationBody,
    body: ocrToMarkdownRequest,
    reply: { status: 200, schema: markdownResponse },
    problems: [...CONVERSION_PROBLEMS, ...FETCH_PROBLEMS],
  },
  (request, deps) => {
    const { tenant_id, project_id, task_id, file_uri, source_url, file_name, mode, ocr } = request.body;
    if (file_uri === undefined && source_url === undefined)
      throw invalid({
        loc: ['body', 'file_uri'],
        msg: 'Name the document by its file_uri or its source_url.',
        type: 'missing',
      });
    const named = {
      tenant_id,
      file_uri,
      source_url,
      file_name,
      source: 'upload',
      project_id,
      task_id,
    } as const;
    return onJsonFile(deps, { request, named: { ...named, at: ['body'] } }, (subject) =>
      runConversion(deps, request, {
        ...workOf(request, request.body, subject),
        mode,
        form: conversionFormOf(request.body),
        ocr: looseChannel(ocr ?? {}, { members: CHANNEL_MEMBERS, at: inOcr }),
        channelPaths: (_, member) => inOcr(member),
      }),
    );
  },
);

export const toMarkdown = post(
  '/v1/to-markdown',
  {
    summary: 'A document as markdown and plain text',
    description:
      'Headings, lists, tables and text in reading order. Pages without text are recognised, unless ' +
      '`conversion_mode` is `fast`.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    respondsAsync: operationBody,
    body: toMarkdownForm,
    upload: true,
    reply: { status: 200, schema: markdownResponse },
    problems: CONVERSION_PROBLEMS,
  },
  async (request, deps) => {
    const { project_id, task_id, conversion_mode: mode, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runConversion(deps, request, {
        ...workOf(request, fields, { file, project_id, task_id }),
        mode,
        form: conversionFormOf(fields),
        ocr: channelOf('ocr', fields),
      }),
    );
  },
);
