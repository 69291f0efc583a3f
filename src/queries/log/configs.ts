import { decodeAny } from '../../../domain/catalogue.ts';
import { savedConfigStream, type ConfigVersion } from '../../../domain/savedConfig.ts';
import type { LogToRead } from './logEvents.ts';

/** A saved config with all its versions, oldest first. */
interface ConfigHistory {
  readonly versions: readonly ConfigVersion[];
  readonly revoked_at: string | null;
}

/** A config by its ID; undefined where there is none. */
export const configHistory = async (
  log: Pick<LogToRead, 'read'>,
  configId: string,
): Promise<ConfigHistory | undefined> => {
  const versions: ConfigVersion[] = [];
  let revoked_at: string | null = null;
  for await (const recorded of log.read(savedConfigStream(configId))) {
    const event = decodeAny(recorded);
    if (event.type === 'ConfigPublished') versions.push(event.data);
    if (event.type === 'ConfigRevoked') ({ revoked_at } = event.data);
  }
  return versions.length === 0 ? undefined : { versions, revoked_at };
};
