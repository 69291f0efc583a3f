import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';
import { heldSecrets, secretHolders, type SecretHolder } from './secretHolders.ts';
import { OperatorError, type Operation, type OperationContext } from './protocol.ts';

export interface RotateDeps {
  readonly log: EventStore & EventFeed;
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'remove'>;
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

/** What a holder needed when it was looked at may have been dropped or replaced while it was sealed anew. */
const removeDead = async ({ log, objects }: RotateDeps, holder: SecretHolder, sealed: readonly string[]) => {
  const { secrets } = await heldSecrets(log, holder);
  const live = new Set(secrets);
  for (const id of sealed) if (!live.has(id)) await objects.remove(secretObjectKey(id));
};

/**
 * Seals every secret of a saved config or a webhook with the current key. May be repeated, and goes on where it was
 * stopped: what is current stays as it is.
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
    const rotated: Rotated = { configs: holders.length - webhooks, webhooks, ...counts, lost };
    await send({ rotated });
  };
