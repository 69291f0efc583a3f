import { randomBytes, randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { absentAsUndefined } from '../../domain/kernel/failure.ts';

const SECRET_BYTES = 32;

/**
 * The 32 random bytes of a file, made when it is not there; only its owner may read it. Throws when the
 * file holds anything else.
 */
export async function secretFile(path: string): Promise<Uint8Array> {
  const known = await absentAsUndefined(readFile(path));
  if (known === undefined) return makeSecret(path);
  if (known.length !== SECRET_BYTES)
    throw new Error(`${path} is not a secret of ${SECRET_BYTES} bytes: remove it to have a new one made.`);
  return known;
}

/** Written beside, flushed and renamed: after a crash it is there whole or not at all. */
async function makeSecret(path: string): Promise<Uint8Array> {
  const secret = randomBytes(SECRET_BYTES);
  const temporary = `${path}.${randomUUID()}`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(secret);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return secret;
}
