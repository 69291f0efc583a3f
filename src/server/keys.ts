import { hash as digestOf, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { LRUCache } from 'lru-cache';
import { keyRole, type KeyRole, type ApiKeyState } from '../../domain/apiKey.ts';
import { type Tags, withTags } from '../../domain/tags.ts';
import { ReadModelsDiverged } from '../../projections/engine/divergence.ts';
import { Problem, problem, retryLater } from './problems.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';

/** How somebody signed in. */
export const signedInBy = z.enum(['api_key', 'oidc', 'link']);

/** Roles of those who do more than tell of payments: they work, and may sign in. */
const workingRole = keyRole.exclude(['seller']);

/** The sealed content of the cookie. */
export const sealedSession = z.object({
  session_id: z.uuid(),
  via: signedInBy,
  /** The actor: a key's ID, `oidc:<sub>`, or the printed link. */
  subject: z.string(),
  tenant_id: z.string(),
  role: workingRole,
  /** Of the key that the session stands for, and ends with; the key itself is nowhere. */
  key_hash: z.string().nullable(),
  csrf_token: z.string(),
  expires_at: z.string(),
});

/** Somebody who is signed in, until the session ends. */
export type Session = Readonly<z.output<typeof sealedSession>>;

/** Who signs in. */
export type SignedIn = Pick<Session, 'via' | 'subject' | 'tenant_id' | 'role' | 'key_hash'>;

/** The caller: the API key, never its value, or somebody who is signed in. */
export interface Caller {
  /** Of the key; of a session, its subject, or where it changes something what events have in its place. */
  readonly key_id: string;
  readonly tenant_id: string;
  readonly role: KeyRole;
  /** Of the key: those of its work that does not name others. */
  readonly tags?: Tags | undefined;
  /** Where the request comes from a browser that is signed in. */
  readonly session?: Session;
}

/** Whose work something is, with the default tags of its key. No route for work lets a seller in. */
export const workerOf = ({ key_id, role, tags }: Caller) => {
  if (role === 'seller') throw new Error('a seller key was let in where documents are read');
  return { key_id, role, tags };
};

/** As whom a key signs in. Throws 403 for a key that opens nothing which a page could show. */
export const signingIn = ({ tenant_id, ...caller }: Caller): Pick<SignedIn, 'tenant_id' | 'role'> => {
  if (caller.role === 'seller')
    throw problem('admin_required', 'A seller key is for programs: it cannot sign in.');
  return { tenant_id, role: caller.role };
};

/** The tenant of the bootstrap key. It has no account, for admin keys are not billed. */
export const BOOTSTRAP_ADMIN: Caller = { key_id: 'key_bootstrap', tenant_id: 'quire:admin', role: 'admin' };

/** A key as looked up by its digest. */
export interface KeyRecord {
  readonly key_id: string;
  readonly tenant_id: string;
  readonly role: KeyRole;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly tags?: Tags | undefined;
}

/** By SHA-256 of the whole key, hex. Throws when it cannot tell. */
type KeyLookup = (keyHash: string) => Promise<KeyRecord | undefined>;

interface AuthenticatorDeps {
  readonly lookup: KeyLookup;
  readonly isWellFormed: (key: string) => boolean;
  /** The bootstrap admin key; any string. */
  readonly adminKey: string | undefined;
  /** Of the wall clock: keys expire by it. */
  readonly nowMs: () => number;
  /** Runs on, whatever is done to the wall clock: answers grow stale by it. */
  readonly monotonicMs: () => number;
}

/** Tells callers by their key. Answers are cached in this process for up to 60 s. */
export interface Authenticator {
  /** Throws the one 401 for keys that are missing, unknown, revoked or expired alike. */
  authenticate(key: string | undefined): Promise<Caller>;
  /** The same by the digest of a key that was seen before. */
  authenticateHash(keyHash: string): Promise<Caller>;
  /** Refuses the key from now on in this process, however late the look-up learns of it. */
  refuse(keyHash: string): void;
  /** Looks the key up afresh next time. */
  forget(keyHash: string): void;
  /** Forgets all; gives how many there were. */
  flush(): number;
  /** Whether this is the key that the environment set, by its value or its `key_id`. */
  isBootstrap(name: string): boolean;
  /** When this process last saw the key, RFC 3339; null if it has not. */
  lastUsedAt(keyId: string): string | null;
}

const TTL_MS = 60_000;
/** A key in use is looked up again when so much of that has gone, while what is known still answers. */
const REFRESH_MS = TTL_MS / 2;
const NEGATIVE_TTL_MS = 1_000;
/** After a look-up ahead of time that was not answered. */
const RETRY_MS = 5_000;
const ENTRIES_MAX = 10_000;
/** Entries are counted: `max` of the cache would reserve room for all of them when it is made. */
const each = () => 1;
const KEY_LENGTH_MAX = 512;

export const digestOfKey = (key: string): string => digestOf('sha256', key, 'hex');

const notValid = (): Problem =>
  new Problem('invalid_api_key', {
    detail: 'Send a valid API key in the header X-API-KEY.',
    headers: { 'WWW-Authenticate': 'ApiKey' },
  });

interface Entry {
  readonly record: Promise<KeyRecord | undefined>;
  readonly staleAt: number;
  /** When to look it up again ahead of that. */
  refreshAt: number;
}

const isLive = ({ expires_at, revoked_at }: KeyRecord, now: number): boolean =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > now);

/** Equal digests compared in constant time: neither length nor prefix of the admin key shows. */
const sameKey = (hash: string, expected: Buffer | undefined): boolean =>
  expected !== undefined && timingSafeEqual(Buffer.from(hash, 'hex'), expected);

const instantOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

interface KeyCache extends Pick<Authenticator, 'refuse' | 'forget' | 'flush'> {
  readonly knows: (hash: string) => boolean;
  /** Throws what the look-up throws, and remembers nothing of it. */
  readonly recordOf: (hash: string) => Promise<KeyRecord | undefined>;
}

/** What was so when it was asked for. */
const entryOf = (record: Entry['record'], askedAt: number, refreshMs: number): Entry => ({
  record,
  staleAt: askedAt + TTL_MS,
  refreshAt: askedAt + refreshMs,
});

const keyCache = ({ lookup, monotonicMs }: Pick<AuthenticatorDeps, 'lookup' | 'monotonicMs'>): KeyCache => {
  const entries = new LRUCache<string, Entry>({ maxSize: ENTRIES_MAX, sizeCalculation: each });
  /** Separate: thousands of made-up keys must not evict real or refused ones. */
  const unknown = new LRUCache<string, Entry>({ maxSize: ENTRIES_MAX, sizeCalculation: each });

  const remember = (hash: string, entry: Entry): void => {
    entries.set(hash, entry);
    unknown.delete(hash);
  };

  /** It was so when it was asked for: a process may stand still until it hears of it. */
  const learn = (hash: string, found: KeyRecord | undefined, askedAt: number): void => {
    const record = Promise.resolve(found);
    if (found === undefined) {
      entries.delete(hash);
      unknown.set(hash, { record, staleAt: monotonicMs() + NEGATIVE_TTL_MS, refreshAt: Infinity });
    } else remember(hash, entryOf(record, askedAt, REFRESH_MS));
  };

  /** Callers meanwhile share it. A key refused or dropped meanwhile is not remembered. */
  const lookUp = (hash: string): Promise<KeyRecord | undefined> => {
    const askedAt = monotonicMs();
    const entry: Entry = { record: lookup(hash), staleAt: Infinity, refreshAt: Infinity };
    entries.delete(hash);
    unknown.set(hash, entry);
    const ifCurrent = (work: () => void) => {
      if (unknown.get(hash) === entry) work();
    };
    entry.record.then(
      (found) => ifCurrent(() => learn(hash, found, askedAt)),
      () => ifCurrent(() => unknown.delete(hash)),
    );
    return entry.record;
  };

  /** No request waits for it; while it fails, what is known holds until it is stale. */
  const refresh = (hash: string, entry: Entry): void => {
    const askedAt = monotonicMs();
    entry.refreshAt = askedAt + RETRY_MS;
    lookup(hash).then(
      (found) => {
        if (entries.get(hash) === entry) learn(hash, found, askedAt);
      },
      () => undefined,
    );
  };

  const known = (hash: string): Entry | undefined => {
    const entry = entries.get(hash) ?? unknown.get(hash);
    if (entry === undefined || entry.staleAt <= monotonicMs()) return undefined;
    if (entry.refreshAt <= monotonicMs()) refresh(hash, entry);
    return entry;
  };

  return {
    knows: (hash) => entries.has(hash),
    recordOf: (hash) => known(hash)?.record ?? lookUp(hash),
    // Not looked up again before its time: the look-up may not know yet.
    refuse: (hash) => remember(hash, entryOf(Promise.resolve(undefined), monotonicMs(), Infinity)),
    forget: (hash) => {
      entries.delete(hash);
      unknown.delete(hash);
    },
    flush: () => {
      const flushed = entries.size + unknown.size;
      for (const all of [entries, unknown]) all.clear();
      return flushed;
    },
  };
};

/** Keys whose last use is remembered; beyond that the longest unused count as not used since the start. */
const USED_MAX = 10_000;

export const authenticator = (deps: AuthenticatorDeps): Authenticator => {
  const { isWellFormed, adminKey, nowMs } = deps;
  const adminDigest = adminKey === undefined ? undefined : Buffer.from(digestOfKey(adminKey), 'hex');
  const { knows, recordOf, refuse, forget, flush } = keyCache(deps);
  const usedAt = new Map<string, number>();

  const found = async (hash: string): Promise<KeyRecord | undefined> => {
    try {
      return await recordOf(hash);
    } catch (error) {
      if (error instanceof ReadModelsDiverged) throw error;
      throw retryLater('not_ready', 'API keys cannot be looked up right now.');
    }
  };

  const authenticateHash = async (hash: string): Promise<Caller> => {
    if (sameKey(hash, adminDigest)) return BOOTSTRAP_ADMIN;
    const record = await found(hash);
    if (record === undefined || !isLive(record, nowMs())) throw notValid();
    // Deleted first: the map's order is that of the last use.
    usedAt.delete(record.key_id);
    usedAt.set(record.key_id, nowMs());
    for (const oldest of usedAt.keys()) if (usedAt.size > USED_MAX) usedAt.delete(oldest);
    const { key_id, tenant_id, role, tags } = record;
    return tags === undefined ? { key_id, tenant_id, role } : { key_id, tenant_id, role, tags };
  };

  const authenticate = async (key: string | undefined): Promise<Caller> => {
    if (key === undefined || key === '' || key.length > KEY_LENGTH_MAX) throw notValid();
    const hash = digestOfKey(key);
    // A key that is known was well formed when it was looked up; the bootstrap key may be any string.
    if (!knows(hash) && !isWellFormed(key) && !sameKey(hash, adminDigest)) throw notValid();
    return authenticateHash(hash);
  };

  return {
    authenticate,
    authenticateHash,
    refuse,
    forget,
    flush,
    isBootstrap: (name) =>
      adminDigest !== undefined &&
      (name === BOOTSTRAP_ADMIN.key_id || sameKey(digestOfKey(name), adminDigest)),
    lastUsedAt: (keyId) => instantOrNull(usedAt.get(keyId)),
  };
};

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
 * nothing. While the log is unreachable, only keys that were confirmed here before are accepted.
 */
export const confirmedKeys = ({ lookup, stateOf }: ConfirmedKeysDeps): KeyLookup => {
  const confirmed = new LRUCache<string, KeyRecord>({ maxSize: CONFIRMED_MAX, sizeCalculation: each });

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
    const { key_id, tenant_id, role, expires_at, tags } = key;
    const record = { key_id, tenant_id, role, expires_at, revoked_at: null, ...withTags(tags) };
    confirmed.set(hash, record);
    return record;
  };
};
