import { aesSecretBox } from '../../adapters/embedded/aesSecretBox.ts';
import type { SecretBox } from '../../domain/ports/secretBox.ts';
import type { Config } from '../config.ts';

/** What seals own keys of callers; undefined where FIELD_ENCRYPTION_KEY is not set. */
export const secretBoxOf = ({ secretKeys }: Pick<Config, 'secretKeys'>): SecretBox | undefined =>
  secretKeys === undefined ? undefined : aesSecretBox(secretKeys);
