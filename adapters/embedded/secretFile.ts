import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { absentAsUndefined } from '../../domain/kernel/failure.ts';

const SECRET_BYTES = 32;

/** The 32 random bytes of a file; undefined when it is not there. Throws when it holds anything else. */
export async function knownSecret(path: string): Promise<Uint8Array | undefined> {
  const known = await absentAsUndefined(readFile(path));
  if (known !== undefined && known.length !== SECRET_BYTES)
    throw new Error(`${path} is not a secret of ${SECRET_BYTES} bytes: remove it to have a new one made.`);
  return known;
}

/** The same, made when it is not there; only its owner may read it. */
export const secretFile = async (path: string): Promise<Uint8Array> =>
  (await knownSecret(path)) ?? makeSecret(path);

/**
 * Written beside, flushed and renamed: after a crash it is there whole or not at all. What a crash left beside is
 * written over, for one process has the folder.
 */
async function makeSecret(path: string): Promise<Uint8Array> {
  const secret = randomBytes(SECRET_BYTES);
  const beside = `${path}.new`;
  await writeFile(beside, secret, { mode: 0o600, flush: true });
  await rename(beside, path);
  return secret;
}
