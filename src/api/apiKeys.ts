import type { Clock } from '../../domain/ports/log.ts';
import type { ApiKeys } from '../commands/apiKeys.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import { z } from 'zod';
import { formatKey, isWellFormedKey, type KeyRole, keyRole, keyTraces } from '../../domain/apiKey.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { invalid, problem, type Problem, neverRejected } from '../server/problems.ts';
import { digestOfKey, type Caller, type Authenticator } from '../server/keys.ts';
import type { ApiKeyRow } from '../../projections/apiKeys.ts';
import {
  instantIn,
  instantOut,
  pageFacts,
  pageIn,
  pageMembers,
  pagingQuery,
  defaultTagsIn,
  plainText,
  tagsOut,
  tenantIdText,
  tenantParams,
  wholeNumberText,
  checkKnown,
  whoOut,
} from './schemas/basics.ts';
import { routesOver } from '../server/routes.ts';
import { type Tags, withTags } from '../../domain/tags.ts';
import { ALL_TENANTS, type Queries, type ReadYourWrites } from '../queries/queries.ts';

/** What these routes need. */
export interface ApiKeysDeps {
  readonly apiKeys: ApiKeys;
  readonly accounts: Pick<AccountWriter, 'stateOf'>;
  readonly keys: Authenticator;
  /** True when `ADMIN_API_KEY` is set: then no issued admin key is the last one. */
  readonly hasBootstrapAdmin: boolean;
  readonly queries: Pick<
    Queries,
    | 'apiKeyByHash'
    | 'apiKeyById'
    | 'apiKeysOfTenant'
    | 'balanceOfTenant'
    | 'liveAdminKeys'
    | 'liveKeysMadeWith'
  >;
  readonly reads: ReadYourWrites;
  /** When a tenant's data were erased last; null: never. */
  readonly erasedAt: (tenantId: string) => Promise<string | null>;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
}

const { get, post, remove } = routesOver<ApiKeysDeps>();

const shownTags = (tags: Tags | undefined) => ({ tags: tags ?? {} });

const RANDOM_BYTES = 96;

/** A fresh key, and what is stored of it. */
const newKey = (
  { clock, randomBytes }: Pick<ApiKeysDeps, 'clock' | 'randomBytes'>,
  facts: {
    readonly tenant_id: string;
    readonly role: KeyRole;
    readonly name: string | null;
    readonly expires_at: string | null;
  },
) => {
  const key = formatKey(facts.role, randomBytes(RANDOM_BYTES));
  return { key, record: { key_id: clock.newId('key'), ...keyTraces(key), ...facts } };
};

/** A key by its value or by its `key_id`. */
const keyNamed = ({ queries }: Pick<ApiKeysDeps, 'queries'>, name: string): Promise<ApiKeyRow | undefined> =>
  isWellFormedKey(name) ? queries.apiKeyByHash(digestOfKey(name)) : queries.apiKeyById(name);

/** Admins manage all keys, a tenant its own that do not act for others. */
const manages = ({ role, tenant_id }: Caller, key: Pick<ApiKeyRow, 'tenant_id' | 'role'>): boolean =>
  role === 'admin' || (key.tenant_id === tenant_id && key.role === 'tenant');

/** As `keyNamed`, as far as the caller manages it. */
const keyWithin = async (
  deps: Pick<ApiKeysDeps, 'queries'>,
  caller: Caller,
  name: string,
): Promise<ApiKeyRow | undefined> => {
  const key = await keyNamed(deps, name);
  return key !== undefined && manages(caller, key) ? key : undefined;
};

const hasEnded = (): Problem => problem('invalid_api_key', 'The key that this was asked with has ended.');

/**
 * When a key of this role ends at the latest if the caller makes it: with the caller's own key, if that has the same
 * role. Otherwise a temporary caller could stay permanently. null: never, or the caller acts by no key.
 * Throws 401 if, by the log, the caller's key is no longer live.
 */
const lastEndBy = async (
  { apiKeys, clock }: Pick<ApiKeysDeps, 'apiKeys' | 'clock'>,
  { key_id }: Caller,
  role: KeyRole,
): Promise<string | null> => {
  const { key, revoked } = await apiKeys.stateOf(key_id);
  if (key === null) return null;
  if (revoked || (key.expires_at !== null && key.expires_at <= clock.now())) throw hasEnded();
  return key.role === role ? key.expires_at : null;
};

/**
 * Revokes a new key if its maker was revoked meanwhile, because that revocation could not know of it. Throws 401
 * then.
 */
const endWithMaker = async (
  { apiKeys, clock, keys }: Pick<ApiKeysDeps, 'apiKeys' | 'clock' | 'keys'>,
  { caller, meta }: { readonly caller: Caller; readonly meta: CommandMeta },
  made: { readonly key_id: string; readonly key_hash: string },
): Promise<void> => {
  if (!(await apiKeys.stateOf(caller.key_id)).revoked) return;
  await apiKeys.revoke(made.key_id, { ...meta, command_id: clock.uuid() });
  keys.refuse(made.key_hash);
  throw hasEnded();
};

const apiKeyCreateRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    role: keyRole.default('tenant').meta({
      description:
        '`tenant`: works for its tenant, who pays. `service`: works for any tenant, unbilled. `seller`: records ' +
        'sales, refunds, reversals and disputes of any tenant, reads the price list, payments by their names and ' +
        'consents to top-ups, and nothing else. `admin`: everything.',
    }),
    name: plainText(1, 200).nullish(),
    tags: defaultTagsIn.optional(),
    expires_at: instantIn.nullish().meta({
      description:
        'Left out: the key does not end. If it is made with a key of the same role that ends, it ends with that key, ' +
        'and a later end is refused.',
    }),
  })
  .meta({ id: 'ApiKeyCreateRequest' });

const apiKeyRotateRequest = z
  .strictObject({
    key: plainText(1, 512).meta({ description: 'The key itself, or its `key_id`.' }),
    grace_seconds: z.int().min(0).max(604_800).default(0),
  })
  .meta({ id: 'ApiKeyRotateRequest' });

const apiKeyCreateResponse = z
  .strictObject({
    key_id: z.string(),
    key: z.string().meta({ description: 'Shown only once.' }),
    prefix: z.string(),
    tenant_id: z.string(),
    role: keyRole,
    name: z.string().nullable(),
    tags: tagsOut,
    created_at: instantOut,
    expires_at: instantOut.nullable(),
  })
  .meta({ id: 'ApiKeyCreateResponse' });

/** Without parameters the answer is as before there were pages, up to the most that a page may hold. */
const apiKeysQuery = z.object({ ...pagingQuery, limit: wholeNumberText(1, 1000).default(1000) });

const apiKeyList = z
  .strictObject({
    tenant_id: z.string(),
    items: z.array(
      z.strictObject({
        key_id: z.string(),
        prefix: z.string(),
        last4: z.string(),
        role: keyRole,
        name: z.string().nullable(),
        tags: tagsOut,
        created_at: instantOut,
        expires_at: instantOut.nullable(),
        revoked_at: instantOut.nullable(),
        made_by: whoOut,
        erased_at: instantOut.nullable().meta({
          description: 'When `name` was erased with the data of the tenant; null while it is not.',
        }),
        last_used_at: instantOut.nullable().meta({
          description: 'When this process last saw the key; null if it has not seen it since it started.',
        }),
      }),
    ),
    ...pageMembers,
  })
  .meta({ id: 'ApiKeyList' });

export const flushResponse = z.strictObject({ flushed: z.int() }).meta({ id: 'FlushResponse' });

const MAKES_NONE = 'A key with a budget of its own makes and replaces no keys: they would spend beside it.';
const STAYS_WITH_IT =
  'The key has a budget, which would stay with it: make another key and a budget of it, or remove the budget first.';

/** A key with a budget of its own could have another spend in its place. */
const checkUnbudgeted = async (
  { accounts }: ApiKeysDeps,
  tenantId: string,
  { id, what }: { readonly id: string | null; readonly what: string },
): Promise<void> => {
  const { budgets } = await accounts.stateOf(tenantId, 0);
  if (budgets.some(({ budget }) => budget.scope.key_id !== undefined && budget.scope.key_id === id))
    throw problem('budget_read_only', what, { parent_limit_credits: null });
};

const checkMaker = async (
  deps: ApiKeysDeps,
  caller: Caller,
  { tenant_id, role }: { readonly tenant_id: string; readonly role: KeyRole },
): Promise<void> => {
  if (caller.role === 'admin') return;
  if (role !== 'tenant')
    throw problem('admin_required', 'Only an admin makes keys that are not of the role tenant.');
  await checkUnbudgeted(deps, tenant_id, { id: caller.key_id, what: MAKES_NONE });
};

export const createApiKey = post(
  '/v1/api-keys',
  {
    summary: 'Create a key for a tenant',
    description:
      'Only this answer contains the key itself: the service stores only its digest. A key, or a session of one, ' +
      'cannot make a key of its own role that ends later than itself.',
    access: 'admin',
    tenantSessions: true,
    tenant: 'body',
    body: apiKeyCreateRequest,
    reply: { status: 201, schema: apiKeyCreateResponse },
    problems: ['budget_read_only', 'busy', 'not_ready'],
  },
  async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, role } = body;
    await checkMaker(deps, caller, { tenant_id, role });
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
    const { position } = doneOr(await deps.apiKeys.issue({ ...record, ...withTags(body.tags) }, meta), {
      key_not_found: neverRejected,
    });
    await endWithMaker(deps, { caller, meta }, record);
    deps.reads.note(tenant_id, position);
    deps.reads.note(ALL_TENANTS, position);
    // The key works from the answer on, so the look-up must know it by then.
    await deps.reads.settle(ALL_TENANTS);
    deps.keys.forget(record.key_hash);
    const { key_id, prefix } = record;
    const shown = { key_id, key, prefix, tenant_id, role, name, ...shownTags(body.tags) };
    return { ...shown, created_at: meta.now, expires_at };
  },
);

export const flushApiKeyCache = post(
  '/v1/admin/api-keys/cache/flush',
  {
    summary: "Clear this process's cache of key look-ups",
    description: 'Other processes refresh within 60 seconds.',
    access: 'admin',
    reply: { status: 200, schema: flushResponse },
  },
  (_request, { keys }) => Promise.resolve({ flushed: keys.flush() }),
);

export const listApiKeys = get(
  '/v1/api-keys/{tenant_id}',
  {
    summary: "List a tenant's keys",
    description: 'Facts about each key, newest first; the keys themselves are not stored.',
    access: 'admin',
    tenantSessions: true,
    tenant: 'path',
    params: tenantParams,
    query: apiKeysQuery,
    reply: { status: 200, schema: apiKeyList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries, keys, erasedAt }) => {
    const { tenant_id } = request.params;
    const erased = await erasedAt(tenant_id);
    const found = await queries.apiKeysOfTenant({ ...pageIn(request.query), tenant_id });
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    return {
      tenant_id,
      ...pageFacts(request.query, found),
      items: found.items.map(
        ({ key_id, prefix, last4, role, name, tags, created_at, expires_at, revoked_at, made_by }) => ({
          key_id,
          prefix,
          last4,
          role,
          name,
          tags,
          created_at,
          expires_at,
          revoked_at,
          made_by,
          erased_at: erased !== null && created_at <= erased ? erased : null,
          last_used_at: keys.lastUsedAt(key_id),
        }),
      ),
    };
  },
);

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
  { queries, hasBootstrapAdmin }: ApiKeysDeps,
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

/** Keys made with a key, which are revoked with it on request, as far as the caller manages them. */
const madeWith = async (
  { queries }: ApiKeysDeps,
  { caller, now }: { readonly caller: Caller; readonly now: string },
  { key_id }: ApiKeyRow,
): Promise<readonly ApiKeyRow[]> =>
  (await queries.liveKeysMadeWith(key_id, now)).filter((key) => manages(caller, key));

const alone = oneAtATime();

export const revokeApiKey = remove(
  '/v1/api-keys/{key}',
  {
    summary: 'Revoke a key',
    description:
      'The key stops working. The last admin key cannot be revoked. Keys that were made with it still work, unless ' +
      '`made=revoke`.',
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
            'What happens to keys that were made with it, and with those keys in turn (`made_by` in the list). With ' +
            '`revoke` they are revoked too, even if the key itself was revoked before.',
        }),
    }),
    reply: { status: 204 },
    problems: ['key_not_found', 'last_admin_key', 'busy'],
  },
  ({ params, query, caller, meta, doneOr }, deps) =>
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
      // Listed again, to include keys made until the key itself was revoked.
      await deps.reads.settle(ALL_TENANTS);
      for (const one of await made(key)) await end(one);
      return undefined;
    }),
);

const NOT_FOUND = 'There is no such key, or it is not live any more.';

const later = (instant: string, seconds: number): string =>
  new Date(Date.parse(instant) + seconds * 1000).toISOString();

/** The new key would live as long as the old one, and the caller would know it. */
const checkNoLater = async (
  deps: ApiKeysDeps,
  caller: Caller,
  { role, expires_at }: ApiKeyRow,
): Promise<void> => {
  const last = await lastEndBy(deps, caller, role);
  if (last === null || (expires_at !== null && expires_at <= last)) return;
  const msg = `It lives longer than your own key, which ends at ${last}: replace it with one that lives as long.`;
  throw invalid({ loc: ['body', 'key'], msg, type: 'value_error' });
};

export const rotateApiKey = post(
  '/v1/api-keys/rotate',
  {
    summary: 'Replace a key by a new one; the old one ends after a grace period',
    description: 'The new key has role, name and tags of the old one, which ends after `grace_seconds`.',
    access: 'admin',
    tenantSessions: true,
    body: apiKeyRotateRequest,
    reply: { status: 200, schema: apiKeyCreateResponse },
    problems: ['key_not_found', 'budget_read_only', 'busy'],
  },
  async ({ body, caller, meta, doneOr }, deps) => {
    await deps.reads.settle(ALL_TENANTS);
    const old = await keyWithin(deps, caller, body.key);
    if (old === undefined || (old.expires_at !== null && old.expires_at <= meta.now))
      throw problem('key_not_found', NOT_FOUND);
    const { tenant_id, role, name, tags, expires_at } = old;
    await checkNoLater(deps, caller, old);
    await checkUnbudgeted(deps, tenant_id, { id: old.key_id, what: STAYS_WITH_IT });
    await checkMaker(deps, caller, { tenant_id, role });
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
    return { key_id, key, prefix, tenant_id, role, name, tags, created_at: meta.now, expires_at };
  },
);
