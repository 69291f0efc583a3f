import type { WorkRequest } from '../commands/work.ts';
import type { ModelChannel } from '../commands/models.ts';
import type { RouteRequest } from './defineRoute.ts';
import { problem } from './problems.ts';
import type { UploadedFile } from './multipart.ts';

interface ScopeFields {
  readonly project_id: string;
  readonly task_id: string;
}

const fileOf = (file: UploadedFile | undefined): UploadedFile => {
  if (file === undefined) throw problem('missing_file', 'The form has no part named file.');
  return file;
};

/** What extraction and conversion take from a request alike. */
export const workOf = (request: RouteRequest<unknown, unknown, ScopeFields>): WorkRequest => ({
  tenant_id: request.tenant_id,
  caller: { key_id: request.caller.key_id, role: request.caller.role },
  correlation_id: request.meta.correlation_id,
  idempotency:
    request.idempotency_key === null
      ? null
      : { idempotency_key: request.idempotency_key, fingerprint: request.fingerprint },
  file: fileOf(request.file),
  project_id: request.body.project_id,
  task_id: request.body.task_id,
  signal: request.signal,
});

/** A caller's own model. Only a key makes it count; the fields beside it are ignored without one. */
export const channelOf = (provider_model: string | undefined, api_key: string | undefined): ModelChannel => ({
  provider_model,
  api_key,
});
