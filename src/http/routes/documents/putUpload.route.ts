import { z } from 'zod';
import { put } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { uploadQuery } from '../../wire/uploads.ts';

export const putUpload = put('/uploads/{document_id}', {
  summary: 'The file of an upload URL',
  description:
    'The signature of the URL is the authority: no key is asked for, and no key replaces it (403 ' +
    '`tenant_mismatch` when it does not hold or has expired). A file may be sent again until it is used, one ' +
    'at a time (409 `request_in_progress`). A tenant may send 10 files a second, 100 at once, and has a ' +
    'quota of storage (413 `upload_quota_exceeded`). ' +
    'With an S3 store the URL leads to the store, and not here.',
  access: 'public',
  params: z.object({ document_id: z.string() }),
  query: uploadQuery,
  bytes: {
    admit: async ({ params, query, ...headers }, { receiver }) => {
      const admission = await receiver.admit({ ...params, ...query }, headers);
      if (admission.kind === 'problem') throw workFailure(admission);
      return { bytesMax: admission.bytes_max, release: admission.release };
    },
  },
  reply: { status: 200, contentType: 'text/plain' },
  problems: [
    'tenant_mismatch',
    'version_conflict',
    'request_in_progress',
    'upload_quota_exceeded',
    'rate_limited',
    'storage_error',
  ],
  handle: async ({ params, file }, { receiver }) => {
    if (file === undefined) throw new Error('the file was not received');
    const stored = await receiver.store(params.document_id, file);
    if (stored.kind === 'problem') throw workFailure(stored);
    return { contentType: 'text/plain', body: '' };
  },
});
