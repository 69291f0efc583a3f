import { decodeAny } from '../../domain/catalogue.ts';
import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';
import { secretObjectKey, type SecretBox, type SecretOwner } from '../../domain/ports/secretBox.ts';
import { liveSecrets } from '../../domain/savedConfig/decider.ts';
import { exportedEvents } from '../operator/exportEvents.ts';
import type { SealedSecrets } from './partVerdicts.ts';

interface SecretsDeps {
  readonly log: EventStore & EventFeed;
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  /** undefined: there is no key to open with. */
  readonly box: SecretBox | undefined;
}

/** The secrets that the latest version of each config names, by config, with their tenant. */
const secretsByConfig = async (log: SecretsDeps['log'], signal: AbortSignal) => {
  const live = new Map<string, { readonly tenant_id: string; readonly ids: readonly string[] }>();
  for await (const recorded of exportedEvents(log, { category: 'config' }, signal)) {
    const event = decodeAny(recorded);
    if (event.type === 'ConfigRevoked') live.delete(event.data.config_id);
    if (event.type !== 'ConfigPublished') continue;
    const { config_id, tenant_id } = event.data;
    live.set(config_id, { tenant_id, ids: liveSecrets({ latest: event.data, revoked: false }) });
  }
  return live;
};

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

/** Tries every key that saved configs hold. What is opened is forgotten at once. */
export const sealedSecrets = async (deps: SecretsDeps, signal: AbortSignal): Promise<SealedSecrets> => {
  const found = { opened: 0, old: 0, lost: [] as string[] };
  for (const [config, { tenant_id, ids }] of await secretsByConfig(deps.log, signal))
    for (const secret_id of ids) {
      signal.throwIfAborted();
      const fate = await openedAs(deps, { tenant_id, secret_id });
      if (fate === 'lost') found.lost.push(config);
      else found.opened += 1;
      if (fate === 'old') found.old += 1;
    }
  return found;
};
