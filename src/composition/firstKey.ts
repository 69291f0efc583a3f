import { randomBytes } from 'node:crypto';
import { formatKey, keyTraces } from '../../domain/apiKey/keyFormat.ts';
import { resolve, type Container } from './token.ts';
import * as t from './tokens.ts';

/** The tenant that admin keys made at start belong to. */
const OPERATOR = 'operator';

/**
 * The first admin key, made when the configuration gives none and the log has none; undefined otherwise.
 * Call it when the read models have caught up. The key is shown once and never stored.
 */
export const firstAdminKey = async (from: Container): Promise<string | undefined> => {
  const clock = resolve(from, t.CLOCK);
  if (resolve(from, t.CONFIG).adminApiKey !== undefined) return undefined;
  if ((await resolve(from, t.QUERIES).liveAdminKeys(clock.now())) > 0) return undefined;
  const key = formatKey('admin', randomBytes(96));
  const meta = {
    now: clock.now(),
    actor: { key_id: 'first_start', role: 'system' },
    correlation_id: 'first-start',
    command_id: clock.uuid(),
  } as const;
  const issued = await resolve(from, t.API_KEYS).issue(
    {
      key_id: clock.newId('key'),
      ...keyTraces(key),
      tenant_id: OPERATOR,
      role: 'admin',
      name: 'first start',
      expires_at: null,
    },
    meta,
  );
  if (issued.kind !== 'done') throw new Error(`the first admin key could not be stored: ${issued.kind}`);
  return key;
};
