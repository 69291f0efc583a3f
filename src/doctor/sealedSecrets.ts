import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { secretObjectKey, type SecretBox, type SecretOwner } from '../../domain/ports/services.ts';
import { heldSecrets, nameOfHolder, secretHolders } from '../operator/secretHolders.ts';
import type { SealedSecrets } from './partVerdicts.ts';

interface SecretsDeps {
  readonly log: EventStore & EventFeed;
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  /** undefined: there is no key to open with. */
  readonly box: SecretBox | undefined;
}

/** Whether a secret opens, and with the key that seals now. */
const openedAs = async (
  { get, box }: SecretsDeps,
  owner: SecretOwner,
): Promise<'current' | 'old' | 'lost'> => {
  const sealed = await get(secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : box?.open(sealed, owner);
  if (opened?.kind !== 'opened') return 'lost';
  return opened.isCurrent ? 'current' : 'old';
};

/** Tries every secret that saved configs and webhooks hold. What is opened is forgotten at once. */
export const sealedSecrets = async (deps: SecretsDeps, signal: AbortSignal): Promise<SealedSecrets> => {
  const found = { opened: 0, old: 0, lost: [] as string[] };
  for (const holder of await secretHolders(deps.log, signal)) {
    const { tenant_id, secrets } = await heldSecrets(deps.log, holder);
    for (const secret_id of secrets) {
      signal.throwIfAborted();
      const fate = await openedAs(deps, { tenant_id, secret_id });
      if (fate === 'lost') found.lost.push(nameOfHolder(holder));
      else found.opened += 1;
      if (fate === 'old') found.old += 1;
    }
  }
  return found;
};
