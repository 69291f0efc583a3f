import { post } from '../../defineRoute.ts';
import { endWithMaker, lastEndBy, newKey } from '../../access/newKey.ts';
import { neverRejected } from '../../doneOrProblem.ts';
import { invalid, problem } from '../../problems.ts';
import { ALL_TENANTS } from '../../../queries/readYourWrites.ts';
import { apiKeyCreateRequest, apiKeyCreateResponse } from '../../wire/keys.ts';

export const createApiKey = post('/v1/api-keys', {
  summary: 'Create a key for a tenant',
  description:
    'The key itself is in this answer alone: only its digest is stored. A key, or a session of one, makes no key of ' +
    'its own role that ends later than it.',
  access: 'admin',
  tenantSessions: true,
  tenant: 'body',
  body: apiKeyCreateRequest,
  reply: { status: 201, schema: apiKeyCreateResponse },
  problems: ['busy', 'not_ready'],
  handle: async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, role } = body;
    if (caller.role !== 'admin' && role !== 'tenant')
      throw problem('admin_required', 'Only an admin makes keys that are not of the role tenant.');
    const last = await lastEndBy(deps, caller, role);
    const [name, expires_at] = [body.name ?? null, body.expires_at ?? last];
    if (expires_at !== null && expires_at <= meta.now)
      throw invalid({ loc: ['body', 'expires_at'], msg: 'Lies in the past.', type: 'value_error' });
    if (last !== null && expires_at !== null && expires_at > last)
      throw invalid({
        loc: ['body', 'expires_at'],
        msg: `Your own key ends at ${last}.`,
        type: 'value_error',
      });
    const { key, record } = newKey(deps, { tenant_id, role, name, expires_at });
    const { position } = doneOr(await deps.apiKeys.issue(record, meta), {
      key_not_found: neverRejected,
    });
    await endWithMaker(deps, { caller, meta }, record);
    deps.reads.note(tenant_id, position);
    deps.reads.note(ALL_TENANTS, position);
    // The key works from the answer on, so the look-up must know it by then.
    await deps.reads.settle(ALL_TENANTS);
    deps.keys.forget(record.key_hash);
    const { key_id, prefix } = record;
    return { key_id, key, prefix, tenant_id, role, name, created_at: meta.now, expires_at };
  },
});
