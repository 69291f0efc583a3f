import { formatKey, isWellFormedKey, type KeyRole, keyTraces } from '../../../domain/apiKey.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { problem, type Problem } from '../problems.ts';
import { digestOfKey } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { ApiKeyRow } from '../../../projections/apiKeys.ts';

const RANDOM_BYTES = 96;

/** A fresh key, and what is stored of it. */
export const newKey = (
  { clock, randomBytes }: Pick<ApiDeps, 'clock' | 'randomBytes'>,
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
const keyNamed = ({ queries }: Pick<ApiDeps, 'queries'>, name: string): Promise<ApiKeyRow | undefined> =>
  isWellFormedKey(name) ? queries.apiKeyByHash(digestOfKey(name)) : queries.apiKeyById(name);

/** Admins manage all keys, a tenant its own that do not act for others. */
export const manages = ({ role, tenant_id }: Caller, key: Pick<ApiKeyRow, 'tenant_id' | 'role'>): boolean =>
  role === 'admin' || (key.tenant_id === tenant_id && key.role === 'tenant');

/** As `keyNamed`, as far as the caller manages it. */
export const keyWithin = async (
  deps: Pick<ApiDeps, 'queries'>,
  caller: Caller,
  name: string,
): Promise<ApiKeyRow | undefined> => {
  const key = await keyNamed(deps, name);
  return key !== undefined && manages(caller, key) ? key : undefined;
};

const hasEnded = (): Problem => problem('invalid_api_key', 'The key that this was asked with has ended.');

/**
 * When a key of this role ends at the latest if the caller makes it: with the caller's own key, if that has the same
 * role. Otherwise whoever is let in for a while could stay for good. null: never, or the caller acts by no key.
 * Throws 401 where the caller's key is live no more, as the log says.
 */
export const lastEndBy = async (
  { apiKeys, clock }: Pick<ApiDeps, 'apiKeys' | 'clock'>,
  { key_id }: Caller,
  role: KeyRole,
): Promise<string | null> => {
  const { key, revoked } = await apiKeys.stateOf(key_id);
  if (key === null) return null;
  if (revoked || (key.expires_at !== null && key.expires_at <= clock.now())) throw hasEnded();
  return key.role === role ? key.expires_at : null;
};

/**
 * Revokes what was just made if its maker was revoked meanwhile: whoever revoked that could not know of it. Throws
 * 401 then.
 */
export const endWithMaker = async (
  { apiKeys, clock, keys }: Pick<ApiDeps, 'apiKeys' | 'clock' | 'keys'>,
  { caller, meta }: { readonly caller: Caller; readonly meta: CommandMeta },
  made: { readonly key_id: string; readonly key_hash: string },
): Promise<void> => {
  if (!(await apiKeys.stateOf(caller.key_id)).revoked) return;
  await apiKeys.revoke(made.key_id, { ...meta, command_id: clock.uuid() });
  keys.refuse(made.key_hash);
  throw hasEnded();
};
