import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  randomFillSync,
  randomUUID,
} from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { monotonicFactory } from 'ulid';
import { jsonIn } from '../../domain/kernel/json.ts';
import type {
  Bucket,
  OpenedSecret,
  RateDecision,
  RateLimiter,
  SecretBox,
  SecretOwner,
} from '../../domain/ports/services.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { Timers } from '../../projections/engine/ports.ts';

/** Keys of 32 bytes in base64. `current` seals; all of them open. */
interface SecretKeys {
  readonly current: string;
  readonly old: readonly string[];
}

interface SealingKey {
  readonly id: string;
  readonly bytes: Buffer;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed secret as it is stored: JSON; the binary members in base64. */
const envelope = z.strictObject({
  format: z.literal('quire-secret-1'),
  key_id: z.string(),
  iv: z.string(),
  tag: z.string(),
  sealed: z.string(),
});
type Envelope = z.output<typeof envelope>;

/** A key's name, which tells nothing of the key. */
const sealingKey = (base64: string): SealingKey => {
  const bytes = Buffer.from(base64, 'base64');
  const id = createHmac('sha256', bytes).update('quire secret key id').digest('hex').slice(0, 16);
  return { id, bytes };
};

/** The owner that a secret is bound to, beside its key: for another owner it does not open. */
const associated = (keyId: string, { tenant_id, secret_id }: SecretOwner): Buffer =>
  Buffer.from(JSON.stringify(['quire-secret-1', keyId, tenant_id, secret_id]));

const sealWith = ({ id, bytes }: SealingKey, text: string, owner: SecretOwner): Uint8Array => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, bytes, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated(id, owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const parts: Envelope = {
    format: 'quire-secret-1',
    key_id: id,
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    sealed: sealed.toString('base64'),
  };
  return Buffer.from(JSON.stringify(parts));
};

const opened = ({ id, bytes }: SealingKey, parts: Envelope, owner: SecretOwner): string | undefined => {
  try {
    const iv = Buffer.from(parts.iv, 'base64');
    const decipher = createDecipheriv(CIPHER, bytes, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(id, owner));
    decipher.setAuthTag(Buffer.from(parts.tag, 'base64'));
    const text = Buffer.concat([decipher.update(Buffer.from(parts.sealed, 'base64')), decipher.final()]);
    return text.toString('utf8');
  } catch {
    return undefined;
  }
};

/** Secrets under AES-256-GCM with a fresh nonce each, bound to key, tenant and secret ID. */
export const aesSecretBox = ({ current, old }: SecretKeys): SecretBox => {
  const sealing = sealingKey(current);
  const keys = new Map([...old.map(sealingKey), sealing].map((key) => [key.id, key]));
  return {
    seal: (text, owner) => sealWith(sealing, text, owner),
    open: (bytes, owner): OpenedSecret => {
      const read = envelope.safeParse(jsonIn(Buffer.from(bytes).toString('utf8')));
      if (!read.success) return { kind: 'tampered' };
      const parts = read.data;
      const key = keys.get(parts.key_id);
      if (key === undefined) return { kind: 'unknown_key', key_id: parts.key_id };
      const text = opened(key, parts, owner);
      return text === undefined
        ? { kind: 'tampered' }
        : { kind: 'opened', text, isCurrent: key.id === sealing.id };
    },
  };
};

/** Entries above which full buckets are forgotten: a full bucket and none are the same. */
const ENTRIES_MAX = 20_000;

/**
 * The generic cell rate algorithm: a token bucket kept as one number, the time at which it is full
 * again (`fullAt`). One token moves it by `1000 / rate` ms; it may lie at most `burst` tokens ahead of
 * now. Source: ITU-T I.371, virtual scheduling.
 */
const takeToken = (
  fullAt: number,
  now: number,
  { rate_per_second, burst }: Bucket,
): RateDecision & { readonly fullAt: number } => {
  const tokenMs = 1000 / rate_per_second;
  const from = Math.max(fullAt, now);
  const next = from + tokenMs;
  const retryAfterMs = next - burst * tokenMs - now;
  // A billionth of a token absorbs what division lost; it never adds up, for `from` restarts at now.
  if (retryAfterMs > tokenMs * 1e-9)
    return { allowed: false, remaining: 0, resetMs: from - now, retryAfterMs, fullAt };
  const remaining = Math.floor((burst * tokenMs - (next - now)) / tokenMs + 1e-9);
  return { allowed: true, remaining, resetMs: next - now, retryAfterMs: 0, fullAt: next };
};

/** Buckets of this process. `nowMs` must not run backwards (`performance.now`). */
export const memoryRateLimiter = (nowMs: () => number): RateLimiter => {
  const fullAt = new Map<string, number>();

  const forgetFull = (now: number): void => {
    for (const [key, at] of fullAt) if (at <= now) fullAt.delete(key);
  };

  return {
    take: (key, bucket) => {
      const now = nowMs();
      if (fullAt.size > ENTRIES_MAX) forgetFull(now);
      const { fullAt: next, ...decision } = takeToken(fullAt.get(key) ?? now, now, bucket);
      if (decision.allowed) fullAt.set(key, next);
      return Promise.resolve(decision);
    },
    close: () => Promise.resolve(),
  };
};

const POOL_BYTES = 4096;

/** Random fractions in 256ths, from bytes fetched many at a time: an ID takes sixteen. */
const randomFractions = (): (() => number) => {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += 1;
    return (pool[used - 1] ?? 0) / 256;
  };
};

/** Many ask within one millisecond, and its text is always the same. */
const instants = (): (() => string) => {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const ms = Date.now();
    if (ms === lastMs) return text;
    lastMs = ms;
    return (text = new Date(ms).toISOString());
  };
};

/** The machine's clock. IDs made within one millisecond still sort in the order they were made. */
export const systemClock = (): Clock => {
  const ulid = monotonicFactory(randomFractions());
  return {
    now: instants(),
    newId: (prefix) => `${prefix}_${ulid()}`,
    uuid: () => randomUUID(),
  };
};

/** The process's own timers. A sleep keeps the process alive only as long as something waits for it. */
export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  sleep: async (ms, signal) => {
    if (ms === 0) return nextTurn();
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};
