import { post } from '../../defineRoute.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { pageCountRequest, pageCountResponse } from '../../wire/uploads.ts';

export const countPages = post('/v1/documents/page-count', {
  summary: 'How many pages documents have, as they are billed',
  description:
    'Counting costs nothing and is done once: a document that was used or counted keeps its count, and one ' +
    'that cannot be read is remembered for a minute. A call that has to count takes a slot, as an ' +
    'extraction does: 503 `busy` when there is none. ' +
    'Documents of other tenants are `not_found`; service and admin keys see those of all.',
  access: 'any',
  body: pageCountRequest,
  reply: { status: 200, schema: pageCountResponse },
  problems: ['storage_error', 'busy'],
  handle: async ({ body, caller, meta, signal }, deps) => {
    const counts = await deps.countPages({
      by: { tenant_id: caller.tenant_id, allTenants: caller.role !== 'tenant' },
      caller: { key_id: caller.key_id, role: caller.role },
      correlation_id: meta.correlation_id,
      documents: body.documents,
      signal,
    });
    if ('kind' in counts) throw workFailure(counts);
    const total_pages = counts.reduce(
      (sum, { status, pages }) => sum + (status === 'ok' ? (pages ?? 0) : 0),
      0,
    );
    return { items: [...counts], total_pages };
  },
});
