import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { remove } from '../../defineRoute.ts';
import type { Caller } from '../../access/caller.ts';
import { keyWithin, manages } from '../../access/newKey.ts';
import { problem } from '../../problems.ts';
import type { ApiKeyRow } from '../../../../projections/apiKeys.ts';
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

/** At least one admin key stays, beside all that are to go. */
const checkNotLast = async (
  { queries, hasBootstrapAdmin }: ApiDeps,
  going: readonly ApiKeyRow[],
  now: string,
): Promise<void> => {
  const admins = going.filter((key) => key.role === 'admin' && isLive(key, now)).length;
  if (hasBootstrapAdmin || admins === 0) return;
  if ((await queries.liveAdminKeys(now)) <= admins)
    throw problem(
      'last_admin_key',
      'Without this key nobody could administer the service. Make another first.',
    );
};

/** What was made with a key and goes with it where that is asked for, as far as the caller manages it. */
const madeWith = async (
  { queries }: ApiDeps,
  { caller, now }: { readonly caller: Caller; readonly now: string },
  { key_id }: ApiKeyRow,
): Promise<readonly ApiKeyRow[]> =>
  (await queries.liveKeysMadeWith(key_id, now)).filter((key) => manages(caller, key));

const alone = oneAtATime();

export const revokeApiKey = remove('/v1/api-keys/{key}', {
  summary: 'Revoke a key',
  description:
    'From now on it is no key. The last admin key is not revoked. What was made with it goes on, unless `made=revoke`.',
  access: 'admin',
  tenantSessions: true,
  params: z.object({
    key: plainText(1, 512).meta({ description: 'The key itself, or its `key_id`.' }),
  }),
  query: z.object({
    made: z
      .enum(['keep', 'revoke'])
      .default('keep')
      .meta({
        description:
          'What becomes of the keys that were made with it, and with those: `made_by` in the list says which. With ' +
          '`revoke` they are revoked, too, also when the key itself was before.',
      }),
  }),
  reply: { status: 204 },
  problems: ['key_not_found', 'last_admin_key', 'busy'],
  handle: ({ params, query, caller, meta, doneOr }, deps) =>
    alone(async () => {
      if (caller.role === 'admin' && deps.keys.isBootstrap(params.key))
        throw problem(
          'last_admin_key',
          'This key is set by ADMIN_API_KEY: change that variable and restart the service to revoke it.',
        );
      const end = async ({ key_id, key_hash, tenant_id }: ApiKeyRow): Promise<void> => {
        const outcome = await deps.apiKeys.revoke(key_id, { ...meta, command_id: deps.clock.uuid() });
        const { position } = doneOr(outcome, { key_not_found: 'There is no such key.' });
        deps.keys.refuse(key_hash);
        deps.reads.note(tenant_id, position);
        deps.reads.note(ALL_TENANTS, position);
      };
      const made = async (key: ApiKeyRow) =>
        query.made === 'revoke' ? madeWith(deps, { caller, now: meta.now }, key) : [];
      await deps.reads.settle(ALL_TENANTS);
      const key = await keyWithin(deps, caller, params.key);
      if (key === undefined) throw problem('key_not_found', 'There is no such key.');
      await checkNotLast(deps, [key, ...(await made(key))], meta.now);
      await end(key);
      // Listed anew: what was made until the key itself had ended is among them.
      await deps.reads.settle(ALL_TENANTS);
      for (const one of await made(key)) await end(one);
      return undefined;
    }),
});
