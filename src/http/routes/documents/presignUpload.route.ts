import { fileUriOf } from '../../../../domain/document.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { baseName } from '../../server/multipart.ts';
import { presignRequest, presignResponse } from '../../wire/uploads.ts';

export const presignUpload = post('/v1/uploads/presign', {
  summary: 'A URL to upload a file to, and the reference to name it by',
  description:
    'Send the bytes with `PUT` to `upload_url` within the hour, then name the file by its `file_uri` or ' +
    '`document_id`. A file that is not used within a day is removed.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  idempotency: KEPT_A_DAY,
  body: presignRequest,
  reply: { status: 200, schema: presignResponse },
  problems: ['file_too_large', 'upload_quota_exceeded', 'busy'],
  handle: async ({ body, meta }, deps) => {
    const { tenant_id, project_id, task_id, kind } = body;
    const asked = {
      ...{ tenant_id, project_id, task_id, kind },
      file_name: baseName(body.file_name),
      content_type: body.content_type ?? null,
      bytes: body.bytes ?? null,
    };
    const answer = await deps.presign(asked, meta);
    if (answer.kind === 'problem') throw workFailure(answer);
    deps.reads.note(tenant_id, answer.position);
    const { document_id, dataset_id, expires_at } = answer.upload;
    return {
      upload_url: answer.target.url,
      method: 'PUT' as const,
      headers: { ...answer.target.headers },
      file_uri: fileUriOf(document_id),
      ...{ document_id, dataset_id, expires_at },
    };
  },
});
