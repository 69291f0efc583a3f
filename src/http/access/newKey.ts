import type { KeyRole } from '../../../domain/apiKey/events.ts';
import { formatKey, isWellFormedKey, keyTraces } from '../../../domain/apiKey/keyFormat.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { digestOfKey } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { ApiKeyRow } from '../../../projections/apiKeys/apiKeys.queries.ts';

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

/** The same, as far as the caller manages it: all of them, or a tenant's own that do not act for others. */
export const keyWithin = async (
  deps: Pick<ApiDeps, 'queries'>,
  { role, tenant_id }: Caller,
  name: string,
): Promise<ApiKeyRow | undefined> => {
  const key = await keyNamed(deps, name);
  const isOwn = key?.tenant_id === tenant_id && key.role === 'tenant';
  return role === 'admin' || isOwn ? key : undefined;
};
