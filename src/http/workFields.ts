import type { ModelChannel } from '../commands/models.ts';
import type { KnownDocument, ReceivedFile, WorkRequest } from '../commands/work.ts';
import type { RouteRequest } from './defineRoute.ts';
import type { UploadedFile } from './multipart.ts';
import { problem } from './problems.ts';

/** What work is done on, and where it is booked. */
export interface WorkSubject {
  readonly file: ReceivedFile;
  /** Left out: a new document. */
  readonly document?: KnownDocument;
  readonly project_id: string;
  readonly task_id: string;
}

/** The file of a form. */
export const fileOf = (file: UploadedFile | undefined): UploadedFile => {
  if (file === undefined) throw problem('missing_file', 'The form has no part named file.');
  return file;
};

/** What extraction and conversion take from a request alike. */
export const workOf = (
  request: RouteRequest<unknown, unknown, unknown>,
  subject: WorkSubject,
): WorkRequest => ({
  tenant_id: request.tenant_id,
  caller: { key_id: request.caller.key_id, role: request.caller.role },
  correlation_id: request.meta.correlation_id,
  idempotency:
    request.idempotency_key === null
      ? null
      : { idempotency_key: request.idempotency_key, fingerprint: request.fingerprint },
  file: subject.file,
  document: subject.document,
  project_id: subject.project_id,
  task_id: subject.task_id,
  signal: request.signal,
});

type ChannelFields<Name extends string> = {
  readonly [Member in keyof ModelChannel as `${Name}_${Member}`]?: ModelChannel[Member];
};

/** A caller's own model from the `<channel>_…` fields of a request. */
export const channelOf = <Name extends 'llm' | 'ocr'>(
  name: Name,
  fields: ChannelFields<Name>,
): ModelChannel => {
  const members = [
    'provider_model',
    'api_key',
    'api_base',
    'max_tokens',
    'temperature',
    'num_retries',
  ] as const;
  const given = fields as Readonly<Record<string, unknown>>;
  return Object.fromEntries(members.map((member) => [member, given[`${name}_${member}`]]));
};
