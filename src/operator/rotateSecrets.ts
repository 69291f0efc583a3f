import { decodeAny } from '../../domain/catalogue.ts';
import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';
import type { ObjectStore } from '../../domain/ports/objectStore.ts';
import { secretObjectKey, type SecretBox } from '../../domain/ports/secretBox.ts';
import { liveSecrets } from '../../domain/savedConfig/decider.ts';
import { configStreams } from '../commands/reference/savedConfigs.ts';
import { exportedEvents } from './exportEvents.ts';
import { OperatorError, type Operation, type OperationContext } from './protocol.ts';

export interface RotateDeps {
  readonly log: EventStore & EventFeed;
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'remove'>;
  /** undefined: there is no key to seal with. */
  readonly box: SecretBox | undefined;
}

/** What became of the secrets that saved configs need. */
export interface Rotated {
  readonly configs: number;
  /** Sealed with the current key now, and before with an old one. */
  readonly rotated: number;
  /** Sealed with the current key before. */
  readonly current: number;
  /** Cannot be opened with any key that is known, or are gone: their configs must be published again. */
  readonly lost: readonly { readonly config_id: string; readonly secret_id: string }[];
}

/** IDs of all configs that were ever published. */
const configIdsIn = async (log: RotateDeps['log'], signal: AbortSignal): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const recorded of exportedEvents(log, { category: 'config' }, signal)) {
    const event = decodeAny(recorded);
    if (event.type === 'ConfigPublished') ids.add(event.data.config_id);
  }
  return ids;
};

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

/** What a config needed when it was looked at may have been revoked or replaced while it was sealed anew. */
const removeDead = async ({ log, objects }: RotateDeps, configId: string, sealed: readonly string[]) => {
  const live = new Set(liveSecrets(await configStreams(log).stateOf(configId)));
  for (const id of sealed) if (!live.has(id)) await objects.remove(secretObjectKey(id));
};

/**
 * Seals every secret of a saved config with the current key. May be repeated, and goes on where it was
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
    const ids = await configIdsIn(deps.log, signal);
    const counts = { rotated: 0, current: 0 };
    const lost: { config_id: string; secret_id: string }[] = [];
    let done = 0;
    for (const config_id of ids) {
      if (signal.aborted) return;
      const state = await configStreams(deps.log).stateOf(config_id);
      const secrets = liveSecrets(state);
      for (const secret_id of secrets) {
        const fate = await rotateOne(deps, box, { tenant_id: state.latest?.tenant_id ?? '', secret_id });
        if (fate === 'lost') lost.push({ config_id, secret_id });
        else counts[fate] += 1;
      }
      await removeDead(deps, config_id, secrets);
      done += 1;
      void send({ progress: { done, of: ids.size } });
    }
    const rotated: Rotated = { configs: ids.size, ...counts, lost };
    await send({ rotated });
  };
