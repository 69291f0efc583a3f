import { z } from 'zod';
import { apiKey, apiKeyEvent, type ApiKeyState, keyRole } from '../../domain/apiKey.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { actorIn } from '../../domain/kernel/decider.ts';
import { instant, tenantId } from '../../domain/kernel/amounts.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { ApiKeys } from '../commands/reference/apiKeys.ts';
import { exportedEvents } from './exportEvents.ts';
import { operatorMeta, OperatorError } from './protocol.ts';

export interface KeyDeps {
  readonly log: EventStore & EventFeed;
  readonly apiKeys: Pick<ApiKeys, 'issue' | 'revoke'>;
  readonly clock: Clock;
  /** Told of a key that was issued or revoked, before the answer: a service lets it in or out at once. */
  readonly onKey?: (change: KeyChange) => Promise<void>;
}

interface KeyChange {
  readonly kind: 'issued' | 'revoked';
  readonly key_hash: string;
  readonly position: bigint | undefined;
}

/** What is stored of a new key. The key itself stays with whoever made it: it does not travel. */
const createInput = z.strictObject({
  key_hash: z.string().regex(/^[0-9a-f]{64}$/),
  prefix: z.string().max(12),
  last4: z.string().length(4),
  tenant_id: tenantId,
  role: keyRole,
  name: z.string().min(1).max(200).nullable(),
  expires_at: instant.nullable(),
});
export type CreateKeyInput = z.output<typeof createInput>;

/** What becomes of the keys that were made with it. */
const made = z.enum(['keep', 'revoke']).default('keep');

/** One of both: the key's ID, or the SHA-256 (hex) of the key. */
const revokeInput = z.union([
  z.strictObject({ key_id: z.string(), made }),
  z.strictObject({ key_hash: z.string().regex(/^[0-9a-f]{64}$/), made }),
]);
export type RevokeKeyInput = z.input<typeof revokeInput>;

const codec = eventCodec(apiKeyEvent);
const BUSY =
  'The event log did not accept it in time. Check whether it was done, then run the command again.';

/** Issues a key of which only the traces are known here. Throws OperatorError when it has expired already. */
export const createKey = async (deps: KeyDeps, input: unknown) => {
  const record = createInput.parse(input);
  const meta = operatorMeta(deps.clock, 'keys-create');
  if (record.expires_at !== null && record.expires_at <= meta.now)
    throw new OperatorError('--expires lies in the past. Give a time that is still to come.', 2);
  const key_id = deps.clock.newId('key');
  const outcome = await deps.apiKeys.issue({ key_id, ...record }, meta);
  if (outcome.kind !== 'done') throw new OperatorError(BUSY);
  const { key_hash, tenant_id, role, expires_at } = record;
  await deps.onKey?.({ kind: 'issued', key_hash, position: outcome.position });
  return { key_id, tenant_id, role, expires_at };
};

interface KeyInLog extends ApiKeyState {
  readonly created_at: string;
  /** Who made it, as events name them. */
  readonly made_by: string | null;
}

const UNKNOWN_KEY: KeyInLog = { ...apiKey.initialState, created_at: '', made_by: null };

/** Every key of the log by its ID, the oldest first. */
const keysInLog = async (
  { log }: Pick<KeyDeps, 'log'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KeyInLog>> => {
  const found = new Map<string, KeyInLog>();
  for await (const recorded of exportedEvents(log, { category: 'apiKey' }, signal)) {
    const event = codec.decode(recorded);
    const { key_id } = event.data;
    const known = found.get(key_id) ?? UNKNOWN_KEY;
    const { created_at, made_by } =
      event.type === 'ApiKeyIssued'
        ? { created_at: event.data.created_at, made_by: actorIn(recorded.metadata) }
        : known;
    found.set(key_id, { ...apiKey.evolve(known, event), created_at, made_by });
  }
  return found;
};

const listInput = z.strictObject({
  tenant_id: tenantId.optional(),
  role: keyRole.optional(),
  /** Keys that open nothing any more, too. */
  all: z.boolean(),
});
export type ListKeysInput = z.output<typeof listInput>;

const stateOf = ({ key, revoked }: ApiKeyState, now: string): 'active' | 'expired' | 'revoked' => {
  if (revoked) return 'revoked';
  return (key?.expires_at ?? now) < now ? 'expired' : 'active';
};

/** Keys without what opens anything: of each its first and last characters. */
export async function* listKeys(
  { log, clock }: Pick<KeyDeps, 'log' | 'clock'>,
  input: unknown,
  signal: AbortSignal,
) {
  const wanted = listInput.parse(input);
  const now = clock.now();
  for (const state of (await keysInLog({ log }, signal)).values()) {
    const { key, created_at } = state;
    const standing = stateOf(state, now);
    if (key === null || (!wanted.all && standing !== 'active')) continue;
    if (wanted.tenant_id !== undefined && key.tenant_id !== wanted.tenant_id) continue;
    if (wanted.role !== undefined && key.role !== wanted.role) continue;
    const { key_id, role, tenant_id, name, prefix, last4, expires_at } = key;
    yield { key_id, role, tenant_id, name, prefix, last4, state: standing, created_at, expires_at };
  }
}

export type KeyListed = ReturnType<typeof listKeys> extends AsyncGenerator<infer Item> ? Item : never;

const isLiveAdmin = ({ key, revoked }: ApiKeyState, now: string): boolean =>
  key?.role === 'admin' && !revoked && (key.expires_at === null || key.expires_at > now);

/** The keys that were made with a key, or with one of those, the oldest first, as far as they are live. */
const liveMadeWith = (keys: readonly KeyInLog[], keyId: string, now: string): readonly Key[] => {
  const found = new Set([keyId]);
  // A key is younger than its maker.
  for (const { key, made_by } of keys)
    if (key !== null && made_by !== null && found.has(made_by)) found.add(key.key_id);
  return keys.flatMap((state) =>
    state.key !== null &&
    state.key.key_id !== keyId &&
    found.has(state.key.key_id) &&
    stateOf(state, now) === 'active'
      ? [state.key]
      : [],
  );
};

type Key = NonNullable<ApiKeyState['key']>;

const end = async (deps: KeyDeps, { key_id, key_hash }: Key): Promise<void> => {
  const outcome = await deps.apiKeys.revoke(key_id, operatorMeta(deps.clock, 'keys-revoke'));
  if (outcome.kind !== 'done') throw new OperatorError(BUSY);
  await deps.onKey?.({ kind: 'revoked', key_hash, position: outcome.position });
};

/**
 * Revokes a key; once revoked it stays so, and a repeat says so. The last admin key may go: whoever can run
 * this can make another. Throws OperatorError when there is no such key.
 */
export const revokeKey = async (deps: KeyDeps, input: unknown, signal: AbortSignal) => {
  const wanted = revokeInput.parse(input);
  const keys = [...(await keysInLog(deps, signal)).values()];
  const state = keys.find(({ key }) =>
    'key_id' in wanted ? key?.key_id === wanted.key_id : key?.key_hash === wanted.key_hash,
  );
  if (state?.key == null)
    throw new OperatorError('There is no such key. Give its key_id as it was printed, or the whole key.');
  const { key_id, tenant_id, role } = state.key;
  const now = deps.clock.now();
  const madeKeys = liveMadeWith(keys, key_id, now);
  const going = wanted.made === 'revoke' ? [state.key, ...madeKeys] : [state.key];
  for (const key of going) await end(deps, key);
  const others = keys.filter(({ key }) => !going.some((one) => one.key_id === key?.key_id));
  return {
    key_id,
    tenant_id,
    role,
    already_revoked: state.revoked,
    /** Those that were made with it and were live: revoked as well, or left. */
    made_keys: madeKeys.map((key) => key.key_id),
    made: wanted.made,
    admin_keys_left: others.filter((other) => isLiveAdmin(other, now)).length,
  };
};

export type KeyCreated = Awaited<ReturnType<typeof createKey>>;
export type KeyRevoked = Awaited<ReturnType<typeof revokeKey>>;
