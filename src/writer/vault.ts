import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Json, jsonIn } from '../../domain/kernel/json.ts';
import { DETAILS } from '../../domain/billingDetails.ts';
import type { EventStore, ForgottenTexts, TextSealer, TextVault } from '../../domain/ports/log.ts';
import type { ObjectStore, SecretBox } from '../../domain/ports/services.ts';
import {
  scopeNameOf,
  tenantNameOf,
  tokenOf,
  tokenParts,
  withoutTokens,
} from '../../domain/eventLog/writtenText.ts';
import { getOrAside } from './setAside.ts';

/** Where texts and the keys of tenants lie: `vault/<tenant>/keys/<key>` and `vault/<tenant>/<scope>/<text>`. */
export const VAULT_PREFIX = 'vault/';

export interface VaultDeps {
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'remove' | 'list'>;
  /** Seals the keys of tenants; undefined: they are stored unsealed. */
  readonly box: SecretBox | undefined;
  /** What seals with keys: the first seals, all of them open. 32 bytes in base64. */
  readonly boxOf: (keys: { readonly current: string; readonly old: readonly string[] }) => SecretBox;
  readonly nowMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** Told of a key that cannot be opened. */
  readonly onError?: (error: unknown) => void;
}

/** A tenant's keys as they are known here. */
interface TenantKeys {
  readonly box: SecretBox;
  /** The key of digests of texts: nobody can try out texts without it. */
  readonly digestKey: Buffer;
  readonly readAtMs: number;
  /** Tokens whose texts are stored, and when each was put. */
  readonly kept: Map<string, number>;
}

/** Whose people run the service: they are no tenant's, and no ID of a tenant begins so. */
const OPERATORS = ':operators';

const KEY_BYTES = 32;
/** Another process may have destroyed a key; after this time it is read again, ms. */
const KNOWN_MS = 60_000;
const TENANTS_MAX = 1_000;
const TEXTS_MAX = 20_000;
/** Entries are counted: `max` of the cache would reserve room for all of them when it is made. */
const each = () => 1;
const OBJECTS_AT_ONCE = 16;
/** Texts of one tenant that are known to be stored. */
const KEPT_MAX = 500;
/** A text is put again after this time: one that no event names is set aside after a day, ms. */
const KEPT_MS = 3_600_000;

const keysFolder = (tenant: string): string => `${VAULT_PREFIX}${tenant}/keys/`;

/** The token of a text by the key that it lies under; undefined for a tenant's key. */
export const tokenOfKey = (key: string): string | undefined => {
  const [, tenant = '', scope = '', text = ''] = key.split('/');
  const token = tokenOf({ tenant, scope, text });
  return tokenParts(token) && token;
};

const textKey = (token: string): string | undefined => {
  const parts = tokenParts(token);
  return parts && `${VAULT_PREFIX}${parts.tenant}/${parts.scope}/${parts.text}`;
};

/** A key as it is stored: sealed, or unsealed if there is nothing to seal it with. */
const openedKey = (
  { box, onError }: Pick<VaultDeps, 'box' | 'onError'>,
  owner: { readonly tenant_id: string; readonly secret_id: string },
  bytes: Uint8Array,
): string | undefined => {
  const stored = jsonIn(Buffer.from(bytes).toString('utf8'));
  if (typeof stored === 'object' && stored !== null && 'plain_key' in stored) return String(stored.plain_key);
  const opened = box?.open(bytes, owner);
  if (opened?.kind === 'opened') return opened.text;
  onError?.(new Error(`the key ${owner.secret_id} of texts cannot be opened: ${opened?.kind ?? 'no key'}`));
  return undefined;
};

/** Keys of a tenant that open here, the oldest first. */
const readKeys = async (deps: VaultDeps, tenant: string): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { key } of deps.objects.list(keysFolder(tenant))) names.push(key);
  const keys: string[] = [];
  for (const name of names.sort()) {
    const bytes = await deps.objects.get(name);
    const owner = { tenant_id: tenant, secret_id: name.slice(keysFolder(tenant).length) };
    const key = bytes && openedKey(deps, owner, bytes);
    if (key !== undefined) keys.push(key);
  }
  return keys;
};

/** Two processes may make one each: all take the older of both from then on, and open with either. */
const makeKey = async ({ objects, box, nowMs, random }: VaultDeps, tenant: string): Promise<void> => {
  const key = Buffer.from(random(KEY_BYTES)).toString('base64');
  const made = String(nowMs()).padStart(14, '0');
  const secret_id = `${made}-${Buffer.from(random(6)).toString('hex')}`;
  const plain = Buffer.from(JSON.stringify({ plain_key: key }));
  const sealed = box === undefined ? plain : box.seal(key, { tenant_id: tenant, secret_id });
  await objects.put(`${keysFolder(tenant)}${secret_id}`, sealed);
};

/** The keys of tenants, by the names of these. */
const tenantKeys = (deps: VaultDeps) => {
  const { nowMs } = deps;
  const known = new LRUCache<string, TenantKeys>({ maxSize: TENANTS_MAX, sizeCalculation: each });
  /** undefined: none that opens here. */
  const find = async (tenant: string): Promise<TenantKeys | undefined> => {
    const found = known.get(tenant);
    if (found !== undefined && nowMs() - found.readAtMs < KNOWN_MS) return found;
    const [current, ...old] = await readKeys(deps, tenant);
    if (current === undefined) {
      known.delete(tenant);
      return undefined;
    }
    const digestKey = Buffer.from(current, 'base64');
    const kept = found?.digestKey.equals(digestKey) === true ? found.kept : new Map<string, number>();
    const read = { box: deps.boxOf({ current, old }), digestKey, readAtMs: nowMs(), kept };
    known.set(tenant, read);
    return read;
  };
  return {
    find,
    /** Makes one if there is none. */
    own: async (tenant: string): Promise<TenantKeys> => {
      const found = await find(tenant);
      if (found !== undefined) return found;
      await makeKey(deps, tenant);
      const made = await find(tenant);
      if (made === undefined) throw new Error('the key of a tenant was destroyed as it was made');
      return made;
    },
    drop: (tenant: string): void => void known.delete(tenant),
  };
};

const sealerOf = (
  { objects, nowMs }: Pick<VaultDeps, 'objects' | 'nowMs'>,
  tenant: string,
  keys: TenantKeys,
): TextSealer => {
  const due = new Map<string, string>();
  return {
    token: (stream, text) => {
      if (tokenParts(text)?.tenant === tenant) return text;
      const scope = scopeNameOf(stream);
      const digest = createHmac('sha256', keys.digestKey).update(`${scope} ${text}`).digest('hex');
      const token = tokenOf({ tenant, scope, text: digest.slice(0, 32) });
      if (nowMs() - (keys.kept.get(token) ?? -Infinity) >= KEPT_MS) due.set(token, text);
      return token;
    },
    keep: async () => {
      for (const [token, text] of due) {
        const at = textKey(token) ?? '';
        await objects.put(at, keys.box.seal(text, { tenant_id: tenant, secret_id: token }));
        if (keys.kept.size >= KEPT_MAX) keys.kept.clear();
        keys.kept.set(token, nowMs());
      }
      due.clear();
    },
  };
};

/** Keys of erased texts. Keys of tenants come first: without them the texts cannot be read. */
const doomedBy = async (
  objects: VaultDeps['objects'],
  { tenant_id, stream, until }: ForgottenTexts,
): Promise<ReadonlySet<string>> => {
  const tenant = tenantNameOf(tenant_id);
  const all = [keysFolder(tenant), `${VAULT_PREFIX}${tenant}/`];
  const doomed = new Set<string>();
  for (const prefix of stream === undefined ? all : [`${VAULT_PREFIX}${tenant}/${scopeNameOf(stream)}/`])
    for await (const { key, modified_at } of objects.list(prefix))
      if (until === undefined || modified_at <= until) doomed.add(key);
  return doomed;
};

/** Keeps texts of a tenant under tokens that are given; gives how many were not there. */
export type TextMover = (tenantId: string, texts: ReadonlyMap<string, string>) => Promise<number>;

/** For texts of old events, whose tokens are made of their places. It knows what is there already. */
export const textMover = async (deps: VaultDeps): Promise<TextMover> => {
  const { objects } = deps;
  const keys = tenantKeys(deps);
  const there = new Set<string>();
  for await (const { key } of objects.list(VAULT_PREFIX)) there.add(key);
  return async (tenantId, texts) => {
    const due = [...texts].filter(([token]) => !there.has(textKey(token) ?? ''));
    if (due.length === 0) return 0;
    const tenant = tenantNameOf(tenantId);
    const { box } = await keys.own(tenant);
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const [token, text] of next) {
        await objects.put(textKey(token) ?? '', box.seal(text, { tenant_id: tenant, secret_id: token }));
        there.add(textKey(token) ?? '');
      }
    };
    await Promise.all(Array.from({ length: OBJECTS_AT_ONCE }, work));
    return due.length;
  };
};

/** The sealed form of a kept answer. */
const KEPT_ANSWER = 'kept answer';

/** Keys and texts over an object store. */
export const textVault = (deps: VaultDeps): TextVault => {
  const { objects } = deps;
  const keys = tenantKeys(deps);
  /** Of tokens that this process has opened lately. */
  const opened = new LRUCache<string, string>({ maxSize: TEXTS_MAX, sizeCalculation: each });

  const read = async (token: string): Promise<string | undefined> => {
    const tenant = tokenParts(token)?.tenant ?? '';
    const theirs = await keys.find(tenant);
    const cached = theirs && opened.get(token);
    if (theirs === undefined || cached !== undefined) return cached;
    const sealed = await getOrAside(objects, textKey(token) ?? '');
    const found = sealed && theirs.box.open(sealed, { tenant_id: tenant, secret_id: token });
    if (found?.kind !== 'opened') return undefined;
    opened.set(token, found.text, { ttl: KNOWN_MS });
    return found.text;
  };

  return {
    sealer: async (tenantId) => {
      const tenant = tenantNameOf(tenantId);
      return sealerOf(deps, tenant, await keys.own(tenant));
    },
    texts: async (tokens, of) => {
      const shown = of === undefined ? undefined : [tenantNameOf(of), tenantNameOf(OPERATORS)];
      const found = new Map<string, string>();
      const next = tokens
        .filter((one) => shown === undefined || shown.includes(tokenParts(one)?.tenant ?? ''))
        .values();
      const work = async (): Promise<void> => {
        for (const token of next) {
          const text = await read(token);
          if (text !== undefined) found.set(token, text);
        }
      };
      await Promise.all(Array.from({ length: OBJECTS_AT_ONCE }, work));
      return found;
    },
    forget: async (what) => {
      for (const key of await doomedBy(objects, what)) await objects.remove(key);
      keys.drop(tenantNameOf(what.tenant_id));
      opened.clear();
    },
    seal: async (tenantId, text) => {
      const tenant = tenantNameOf(tenantId);
      const { box } = await keys.own(tenant);
      return Buffer.from(box.seal(text, { tenant_id: tenant, secret_id: KEPT_ANSWER })).toString('utf8');
    },
    open: async (tenantId, sealed) => {
      const tenant = tenantNameOf(tenantId);
      const box = (await keys.find(tenant))?.box;
      const found = box?.open(Buffer.from(sealed), { tenant_id: tenant, secret_id: KEPT_ANSWER });
      return found?.kind === 'opened' ? found.text : null;
    },
  };
};

/** A value with the texts of its tokens; erased ones are null. */
export const withTexts = async <Value>(
  { vault }: Pick<EventStore, 'vault'>,
  value: Value,
): Promise<Value> => {
  if (vault === undefined) return value;
  const tokens = new Set<string>();
  withoutTokens(value as Json, (token) => {
    tokens.add(token);
    return undefined;
  });
  if (tokens.size === 0) return value;
  const found = await vault.texts([...tokens]);
  return withoutTokens(value as Json, (token) => found.get(token)) as Value;
};

/** Members of a command as the events of its stream have them: for decisions that compare the two. */
export const withSealed = async <Data extends object>(
  { vault }: Pick<EventStore, 'vault'>,
  { tenant_id, stream }: { readonly tenant_id: string; readonly stream: string },
  data: Data,
): Promise<Data> => {
  const written = Object.entries(data).filter(
    ([name, value]) => SETTINGS.has(name) && typeof value === 'string' && value !== '',
  );
  if (vault === undefined || written.length === 0) return data;
  const sealer = await vault.sealer(tenant_id);
  const tokens = written.map(([name, value]) => [name, sealer.token(stream, String(value))] as const);
  await sealer.keep();
  return { ...data, ...Object.fromEntries(tokens) };
};

/**
 * What events have in the place of somebody who signs in by a provider: the same each time, so that it can be compared.
 * Of the people of a tenant it goes with the tenant; operators, who act for any, are of the installation.
 */
export const signedInAs = async (
  { vault }: Pick<EventStore, 'vault'>,
  {
    subject,
    tenant_id,
    role,
  }: { readonly subject: string; readonly tenant_id: string; readonly role: string },
): Promise<string> => {
  if (vault === undefined) return subject;
  const sealer = await vault.sealer(role === 'admin' ? OPERATORS : tenant_id);
  const token = sealer.token('', subject);
  await sealer.keep();
  return token;
};

/** Settings that people write. */
const SETTINGS: ReadonlySet<string> = new Set([
  'url',
  'description',
  'set_name',
  'table_name',
  'note',
  'payer',
  'payment_method',
  ...DETAILS,
]);

/** Seals the keys of all tenants with the current key; `lost`: those that no known key opens. */
export const rotateVaultKeys = async (
  objects: VaultDeps['objects'],
  box: SecretBox,
): Promise<{ readonly rotated: number; readonly current: number; readonly lost: number }> => {
  const counts = { rotated: 0, current: 0, lost: 0 };
  for await (const { key } of objects.list(VAULT_PREFIX)) {
    const [, tenant_id = '', folder, secret_id = ''] = key.split('/');
    const bytes = folder === 'keys' ? await objects.get(key) : undefined;
    if (bytes === undefined) continue;
    const found = box.open(bytes, { tenant_id, secret_id });
    const text = openedKey({ box }, { tenant_id, secret_id }, bytes);
    if (text === undefined) counts.lost += 1;
    else if (found.kind === 'opened' && found.isCurrent) counts.current += 1;
    else {
      await objects.put(key, box.seal(text, { tenant_id, secret_id }));
      counts.rotated += 1;
    }
  }
  return counts;
};
