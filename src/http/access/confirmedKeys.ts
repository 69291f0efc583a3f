import { LRUCache } from 'lru-cache';
import type { ApiKeyState } from '../../../domain/apiKey.ts';
import { LogUnavailable } from '../../../domain/ports/log.ts';
import type { KeyLookup, KeyRecord } from './authenticate.ts';

interface ConfirmedKeysDeps {
  /** Of the read models: it only says under which ID to look. */
  readonly lookup: KeyLookup;
  /** From the log. */
  readonly stateOf: (keyId: string) => Promise<ApiKeyState>;
}

/** Keys that are remembered for the time when the log is away. */
const CONFIRMED_MAX = 10_000;

/**
 * A key as the log issued it: what the read models' database says of its role, its tenant and its life opens
 * nothing. While the log is away, a key that was confirmed here before is believed, and no other.
 */
export const confirmedKeys = ({ lookup, stateOf }: ConfirmedKeysDeps): KeyLookup => {
  const confirmed = new LRUCache<string, KeyRecord>({ max: CONFIRMED_MAX });

  const rememberedOf = (hash: string, { revoked_at }: KeyRecord, error: unknown): KeyRecord => {
    const before = confirmed.get(hash);
    if (before === undefined || !(error instanceof LogUnavailable)) throw error;
    return { ...before, revoked_at };
  };

  return async (hash) => {
    const found = await lookup(hash);
    if (found === undefined) return undefined;
    let state: ApiKeyState;
    try {
      state = await stateOf(found.key_id);
    } catch (error) {
      return rememberedOf(hash, found, error);
    }
    const { key, revoked } = state;
    if (key?.key_hash !== hash || revoked) {
      confirmed.delete(hash);
      return undefined;
    }
    const { key_id, tenant_id, role, expires_at } = key;
    const record = { key_id, tenant_id, role, expires_at, revoked_at: null };
    confirmed.set(hash, record);
    return record;
  };
};
