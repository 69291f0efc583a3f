import { z } from 'zod';
import { apiKey, apiKeyEvent, type ApiKeyState, keyRole } from '../../domain/apiKey.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { eraseTenant } from '../commands/eraseTenant.ts';
import { actorIn } from '../../domain/kernel/decider.ts';
import { instant, tenantId } from '../../domain/kernel/amounts.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { ApiKeys } from '../commands/apiKeys.ts';
import { exportedEvents } from './log.ts';
import { type Operation, type OperationContext, operatorMeta } from './socket.ts';
import { OperatorError } from '../clientConfig.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { liveSecrets } from '../../domain/savedConfig.ts';
import { secretsOfWebhook } from '../../domain/webhook.ts';
import { configStreams } from '../commands/savedConfigs.ts';
import { rotateVaultKeys, withTexts } from '../writer/vault.ts';
import { webhookStreams } from '../commands/webhooks.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';

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

/** The stored form of a new key. The key itself stays with its maker: it is not sent. */
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

/** Issues a key of which only the stored form is known here. Throws OperatorError if it has already expired. */
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
  /** Its maker, as events name them. */
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
    const listed = { key_id, role, tenant_id, name, prefix, last4 };
    yield await withTexts(log, { ...listed, state: standing, created_at, expires_at });
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
 * Revokes a key; once revoked it stays so, and a repeat says so. The last admin key may be revoked: anyone who can
 * run this can make another. Throws OperatorError if there is no such key.
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

type Log = EventStore & EventFeed;

/** The permanent holder of sealed secrets: a saved config or a webhook. */
type SecretHolder = { readonly config_id: string } | { readonly webhook_id: string };

/** The secrets that a holder needs now, and whose they are. */
interface HeldSecrets {
  readonly tenant_id: string;
  readonly secrets: readonly string[];
}

const NONE: HeldSecrets = { tenant_id: '', secrets: [] };

/** Everything that ever held secrets, in the order of its first event. */
export const secretHolders = async (log: Log, signal: AbortSignal): Promise<readonly SecretHolder[]> => {
  const holders = new Map<string, SecretHolder>();
  for (const category of ['config', 'webhook'])
    for await (const recorded of exportedEvents(log, { category }, signal)) {
      const { type, data } = decodeAny(recorded);
      if (type === 'ConfigPublished') holders.set(recorded.stream, { config_id: data.config_id });
      if (type === 'WebhookCreated') holders.set(recorded.stream, { webhook_id: data.webhook_id });
    }
  return [...holders.values()];
};

/** The secrets that a holder needs, by the log. */
export const heldSecrets = async (log: Log, holder: SecretHolder): Promise<HeldSecrets> => {
  if ('config_id' in holder) {
    const state = await configStreams(log).stateOf(holder.config_id);
    return { tenant_id: state.latest?.tenant_id ?? '', secrets: liveSecrets(state) };
  }
  const { webhook } = await webhookStreams(log).stateOf(holder.webhook_id);
  return webhook === null ? NONE : { tenant_id: webhook.tenant_id, secrets: secretsOfWebhook(webhook) };
};

/** The name by which people find a holder. */
export const nameOfHolder = (holder: SecretHolder): string =>
  'config_id' in holder ? holder.config_id : holder.webhook_id;

export interface RotateDeps {
  readonly log: EventStore & EventFeed;
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'remove' | 'list'>;
  /** undefined: there is no key to seal with. */
  readonly box: SecretBox | undefined;
}

/** What became of the secrets that saved configs and webhooks need. */
export interface Rotated {
  readonly configs: number;
  readonly webhooks: number;
  /** Sealed with the current key now, and before with an old one. */
  readonly rotated: number;
  /** Sealed with the current key before. */
  readonly current: number;
  /**
   * Cannot be opened with any key that is known, or are gone: the config must be published again, the webhook
   * needs a new secret.
   */
  readonly lost: readonly (SecretHolder & { readonly secret_id: string })[];
  /** Keys of tenants that cannot be opened: what their people wrote cannot be read. */
  readonly tenant_keys_lost: number;
}

type Fate = 'rotated' | 'current' | 'lost';

const rotateOne = async (
  { objects }: Pick<RotateDeps, 'objects'>,
  box: SecretBox,
  owner: { readonly tenant_id: string; readonly secret_id: string },
): Promise<Fate> => {
  const key = secretObjectKey(owner.secret_id);
  const sealed = await objects.get(key);
  const opened = sealed === undefined ? undefined : box.open(sealed, owner);
  if (opened?.kind !== 'opened') return 'lost';
  if (opened.isCurrent) return 'current';
  await objects.put(key, box.seal(opened.text, owner));
  return 'rotated';
};

/** A holder's secret may have been dropped or replaced while it was being sealed again. */
const removeDead = async ({ log, objects }: RotateDeps, holder: SecretHolder, sealed: readonly string[]) => {
  const { secrets } = await heldSecrets(log, holder);
  const live = new Set(secrets);
  for (const id of sealed) if (!live.has(id)) await objects.remove(secretObjectKey(id));
};

/**
 * Seals every secret of a saved config or a webhook with the current key. May be repeated, and continues where
 * it was stopped: current ones stay as they are.
 */
export const rotateSecrets =
  (deps: RotateDeps): Operation =>
  async (_input, { send, signal }: OperationContext) => {
    const { box } = deps;
    if (box === undefined)
      throw new OperatorError(
        'There is no key to encrypt with. Set FIELD_ENCRYPTION_KEY where the service runs.',
      );
    const holders = await secretHolders(deps.log, signal);
    const counts = { rotated: 0, current: 0 };
    const lost: (SecretHolder & { readonly secret_id: string })[] = [];
    let done = 0;
    for (const holder of holders) {
      if (signal.aborted) return;
      const { tenant_id, secrets } = await heldSecrets(deps.log, holder);
      for (const secret_id of secrets) {
        const fate = await rotateOne(deps, box, { tenant_id, secret_id });
        if (fate === 'lost') lost.push({ ...holder, secret_id });
        else counts[fate] += 1;
      }
      await removeDead(deps, holder, secrets);
      done += 1;
      void send({ progress: { done, of: holders.length } });
    }
    const webhooks = holders.filter((holder) => 'webhook_id' in holder).length;
    const keys = await rotateVaultKeys(deps.objects, box);
    counts.rotated += keys.rotated;
    counts.current += keys.current;
    const configs = holders.length - webhooks;
    const rotated: Rotated = { configs, webhooks, ...counts, lost, tenant_keys_lost: keys.lost };
    await send({ rotated });
  };

/** A link that signs its follower in as an admin: once, and soon. */
export interface SignInLink {
  readonly url: string;
}

/** Gives a new sign-in link. Anyone who may open the socket may make admin keys, too. */
export const newSignInLink =
  (newLink: () => Promise<string>): Operation =>
  async (_input, { send }) =>
    send({ url: await newLink() } satisfies SignInLink);

const eraseInput = z.strictObject({ tenant_id: tenantId });

/** The result of erasing a tenant; `left` null: it continues. */
export interface TenantErased {
  readonly tenant_id: string;
  readonly erased_at: string;
  readonly removed: number;
  readonly left: number | null;
}

/** Erases a tenant. Throws OperatorError if there is no such tenant, or the log does not accept it. */
export const eraseTenantNow =
  (
    { clock, isKnown }: { readonly clock: Clock; readonly isKnown: (tenantId: string) => Promise<boolean> },
    erase: ReturnType<typeof eraseTenant>,
  ): Operation =>
  async (input, { send }) => {
    const { tenant_id } = eraseInput.parse(input);
    if (!(await isKnown(tenant_id))) throw new OperatorError(`There is no tenant ${tenant_id}.`);
    const report = await erase(tenant_id, operatorMeta(clock, 'tenants-erase'));
    if ('kind' in report) throw new OperatorError(report.detail);
    const { erased_at, removed, left } = report;
    await send({ tenant_id, erased_at, removed, left } satisfies TenantErased);
  };
