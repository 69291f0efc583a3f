import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../../domain/kernel/json.ts';
import type { OpenedSecret, SecretBox, SecretOwner } from '../../domain/ports/secretBox.ts';

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

/** What a secret is bound to beside its key: moved to another owner, it does not open. */
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
