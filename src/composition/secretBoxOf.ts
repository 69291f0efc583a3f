import { join } from 'node:path';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { knownSecret, secretFile } from '../../adapters/local/objectFolder.ts';
import type { SecretBox } from '../../domain/ports/services.ts';
import type { Config } from '../config.ts';

/** The file of the key that a service makes in its data folder where it was given none. */
export const ENCRYPTION_SECRET = 'encryption-secret';

type KeyConfig = Pick<Config, 'dataDir' | 'eventStoreUrl' | 'secretKeys'>;

/** The key of the data folder; undefined where there is none, and where other processes share the event log. */
export const folderKey = async ({ eventStoreUrl, dataDir }: KeyConfig): Promise<Uint8Array | undefined> =>
  eventStoreUrl === undefined ? knownSecret(join(dataDir, ENCRYPTION_SECRET)) : undefined;

/** The same, made where it is missing and FIELD_ENCRYPTION_KEY is not set. */
export const folderKeyForService = (config: KeyConfig): Promise<Uint8Array | undefined> =>
  config.eventStoreUrl === undefined && config.secretKeys === undefined
    ? secretFile(join(config.dataDir, ENCRYPTION_SECRET))
    : folderKey(config);

/**
 * What seals own keys of callers and secrets of webhooks: FIELD_ENCRYPTION_KEY, else the key of the data folder, which
 * opens what it has sealed in either case. undefined where there is neither.
 */
export const secretBoxOf = (
  { secretKeys }: Pick<Config, 'secretKeys'>,
  ofFolder?: Uint8Array,
): SecretBox | undefined => {
  const own = ofFolder === undefined ? [] : [Buffer.from(ofFolder).toString('base64')];
  const [current = own[0], old] =
    secretKeys === undefined ? [undefined, []] : [secretKeys.current, [...secretKeys.old, ...own]];
  return current === undefined ? undefined : aesSecretBox({ current, old });
};
