import { randomBytes } from 'node:crypto';
import { type ApiKeyState, formatKey, keyTraces } from '../../../domain/apiKey.ts';
import type { ApiKeys } from '../../commands/apiKeys.ts';
import type { Context } from '../context.ts';

/** The tenant that admin keys made at start belong to. */
const OPERATOR = 'operator';

/** The key that a key's rotations have led to. */
const newestOf = async (keys: Pick<ApiKeys, 'stateOf'>, keyId: string): Promise<ApiKeyState> => {
  let state = await keys.stateOf(keyId);
  while (state.replaced_by !== null) state = await keys.stateOf(state.replaced_by);
  return state;
};

/**
 * The name of the next first key; undefined while one made before opens anything. Names are counted, not
 * drawn, so that of several processes that start at once one makes the key and the log refuses the others.
 */
const freeKeyId = async (keys: Pick<ApiKeys, 'stateOf'>): Promise<string | undefined> => {
  for (let n = 1; ; n += 1) {
    const keyId = `key_first_start_${String(n)}`;
    const { key, revoked } = await newestOf(keys, keyId);
    if (key === null) return keyId;
    if (!revoked) return undefined;
  }
};

/**
 * The first admin key, made when the configuration gives none and the log has none; undefined otherwise,
 * also when another process that starts has just made it and shows it. The key is shown once and never
 * stored.
 */
export const firstAdminKey = async (from: Context): Promise<string | undefined> => {
  const clock = from.clock;
  if (from.config.adminApiKey !== undefined) return undefined;
  if ((await from.queries.liveAdminKeys(clock.now())) > 0) return undefined;
  const keys = from.apiKeys;
  const key_id = await freeKeyId(keys);
  if (key_id === undefined) return undefined;
  const key = formatKey('admin', randomBytes(96));
  const meta = {
    now: clock.now(),
    actor: { key_id: 'first_start', role: 'system' },
    correlation_id: 'first-start',
    command_id: clock.uuid(),
  } as const;
  const issued = await keys.issue(
    {
      key_id,
      ...keyTraces(key),
      tenant_id: OPERATOR,
      role: 'admin',
      name: 'first start',
      expires_at: null,
    },
    meta,
  );
  if (issued.kind !== 'done') throw new Error(`the first admin key could not be stored: ${issued.kind}`);
  return issued.events.length === 0 ? undefined : key;
};
