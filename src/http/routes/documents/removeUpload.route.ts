import { z } from 'zod';
import { remove } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { documentId } from '../../wire/uploads.ts';

export const removeUpload = remove('/v1/uploads/{document_id}', {
  summary: 'Remove the file of an upload',
  description:
    'For good: its bytes count no more for the quota, its URL takes no file, and requests that name it get ' +
    '404. What was billed for the document stays, as does its row in the list, with `removed_at`. A repeat ' +
    'answers the same. A document that a training job learns from is 409 `document_in_use` until the job has ' +
    'ended; after that its examples are exported without its text. Another tenant’s upload is 404; service ' +
    'and admin keys may remove those of all.',
  access: 'any',
  params: z.object({ document_id: documentId }),
  reply: { status: 204 },
  problems: ['document_not_found', 'document_in_use', 'storage_error', 'busy'],
  handle: async ({ params, caller, meta }, deps) => {
    const by = { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' };
    const refused = await deps.removeUpload(by, params.document_id, meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
});
