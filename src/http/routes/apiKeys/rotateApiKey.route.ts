import { post } from '../../defineRoute.ts';
import type { ApiKeyRow } from '../../../../projections/apiKeys.ts';
import type { Caller } from '../../access/caller.ts';
import { endWithMaker, keyWithin, lastEndBy, newKey } from '../../access/newKey.ts';
import type { ApiDeps } from '../../apiDeps.ts';
import { invalid, problem } from '../../problems.ts';
import { ALL_TENANTS } from '../../../queries/readYourWrites.ts';
import { apiKeyCreateResponse, apiKeyRotateRequest } from '../../wire/keys.ts';

const NOT_FOUND = 'There is no such key, or it is not live any more.';

const later = (instant: string, seconds: number): string =>
  new Date(Date.parse(instant) + seconds * 1000).toISOString();

/** The new key would live as long as the old one, and whoever asks gets to know it. */
const checkNoLater = async (
  deps: ApiDeps,
  caller: Caller,
  { role, expires_at }: ApiKeyRow,
): Promise<void> => {
  const last = await lastEndBy(deps, caller, role);
  if (last === null || (expires_at !== null && expires_at <= last)) return;
  const msg = `It lives longer than your own key, which ends at ${last}: replace it with one that lives as long.`;
  throw invalid({ loc: ['body', 'key'], msg, type: 'value_error' });
};

export const rotateApiKey = post('/v1/api-keys/rotate', {
  summary: 'Replace a key by a new one; the old one stops after a grace',
  description: 'The new key has the role and the name of the old one, which ends after `grace_seconds`.',
  access: 'admin',
  tenantSessions: true,
  body: apiKeyRotateRequest,
  reply: { status: 200, schema: apiKeyCreateResponse },
  problems: ['key_not_found', 'busy'],
  handle: async ({ body, caller, meta, doneOr }, deps) => {
    await deps.reads.settle(ALL_TENANTS);
    const old = await keyWithin(deps, caller, body.key);
    if (old === undefined || (old.expires_at !== null && old.expires_at <= meta.now))
      throw problem('key_not_found', NOT_FOUND);
    const { tenant_id, role, name, expires_at } = old;
    await checkNoLater(deps, caller, old);
    const { key, record } = newKey(deps, { tenant_id, role, name, expires_at });
    const rotation = { next: record, expiresAt: later(meta.now, body.grace_seconds) };
    const outcome = await deps.apiKeys.rotate(old.key_id, rotation, meta);
    const { position } = doneOr(outcome, { key_not_found: NOT_FOUND });
    await endWithMaker(deps, { caller, meta }, record);
    deps.reads.note(tenant_id, position);
    deps.reads.note(ALL_TENANTS, position);
    await deps.reads.settle(ALL_TENANTS);
    if (body.grace_seconds === 0) deps.keys.refuse(old.key_hash);
    else deps.keys.forget(old.key_hash);
    deps.keys.forget(record.key_hash);
    const { key_id, prefix } = record;
    return { key_id, key, prefix, tenant_id, role, name, created_at: meta.now, expires_at };
  },
});
