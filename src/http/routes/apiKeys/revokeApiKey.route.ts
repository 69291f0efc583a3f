import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { remove } from '../../defineRoute.ts';
import { keyWithin } from '../../access/newKey.ts';
import { problem } from '../../problems.ts';
import type { ApiKeyRow } from '../../../../projections/apiKeys/apiKeys.queries.ts';
import { ALL_TENANTS } from '../../../queries/readYourWrites.ts';
import { plainText } from '../../wire/basics.ts';

const isLive = ({ revoked_at, expires_at }: ApiKeyRow, now: string): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now);

/** Runs work one at a time, so that two last keys cannot be revoked side by side. */
const oneAtATime = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
};

const checkNotLast = async ({ queries, hasBootstrapAdmin }: ApiDeps, key: ApiKeyRow, now: string) => {
  if (hasBootstrapAdmin || key.role !== 'admin' || !isLive(key, now)) return;
  if ((await queries.liveAdminKeys(now)) <= 1)
    throw problem(
      'last_admin_key',
      'Without this key nobody could administer the service. Make another first.',
    );
};

const alone = oneAtATime();

export const revokeApiKey = remove('/v1/api-keys/{key}', {
  summary: 'Revoke a key',
  description: 'From now on it is no key. The last admin key is not revoked.',
  access: 'admin',
  tenantSessions: true,
  params: z.object({
    key: plainText(1, 512).meta({ description: 'The key itself, or its `key_id`.' }),
  }),
  reply: { status: 204 },
  problems: ['key_not_found', 'last_admin_key', 'busy'],
  handle: ({ params, caller, meta, doneOr }, deps) =>
    alone(async () => {
      if (caller.role === 'admin' && deps.keys.isBootstrap(params.key))
        throw problem(
          'last_admin_key',
          'This key is set by ADMIN_API_KEY: change that variable and restart the service to revoke it.',
        );
      await deps.reads.settle(ALL_TENANTS);
      const key = await keyWithin(deps, caller, params.key);
      if (key === undefined) throw problem('key_not_found', 'There is no such key.');
      await checkNotLast(deps, key, meta.now);
      const outcome = await deps.apiKeys.revoke(key.key_id, meta);
      const { position } = doneOr(outcome, { key_not_found: 'There is no such key.' });
      deps.keys.refuse(key.key_hash);
      deps.reads.note(key.tenant_id, position);
      deps.reads.note(ALL_TENANTS, position);
      return undefined;
    }),
});
