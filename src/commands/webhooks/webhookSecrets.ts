import { randomUUID } from 'node:crypto';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../../domain/ports/services.ts';
import { secretOf } from './signature.ts';

export interface WebhookSecretDeps {
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'remove'>;
  /** undefined: the service was given no key to seal with. */
  readonly box: SecretBox | undefined;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A secret that lies sealed in object storage, and the one time that it is shown. */
export interface NewSecret {
  readonly secret_id: string;
  readonly secret: string;
}

/** Bytes of a new secret: Standard Webhooks wants 24 to 64. */
const SECRET_BYTES = 32;

/** Makes a secret and puts it away; undefined: there is no key to seal it with. */
export const newSecret = async (
  { objects, box, randomBytes }: WebhookSecretDeps,
  tenant_id: string,
): Promise<NewSecret | undefined> => {
  if (box === undefined) return undefined;
  const secret_id = `sec_${randomUUID()}`;
  const secret = secretOf(randomBytes(SECRET_BYTES));
  await objects.put(secretObjectKey(secret_id), box.seal(secret, { tenant_id, secret_id }));
  return { secret_id, secret };
};

/** Opens a secret to sign with; undefined: it is gone, or sealed with a key that this process was not given. */
export const openSecret = async (
  { objects, box }: Pick<WebhookSecretDeps, 'objects' | 'box'>,
  owner: { readonly tenant_id: string; readonly secret_id: string },
): Promise<string | undefined> => {
  const sealed = await objects.get(secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : box?.open(sealed, owner);
  return opened?.kind === 'opened' ? opened.text : undefined;
};

/** A secret that nothing names is rubbish; one that stays is removed by nobody, and does no harm. */
export const discardSecrets = async (
  { objects }: Pick<WebhookSecretDeps, 'objects'>,
  secretIds: readonly string[],
): Promise<void> => {
  for (const id of secretIds) await objects.remove(secretObjectKey(id)).catch(() => undefined);
};
