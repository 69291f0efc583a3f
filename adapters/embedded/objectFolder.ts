import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkObjectKey } from '../../domain/ports/objectKey.ts';
import type { ObjectStore } from '../../domain/ports/objectStore.ts';

/**
 * Objects as files of a folder. A put is written beside, flushed to the disk and renamed into place, and
 * the folder is flushed too: after a crash an object is there whole or not at all.
 */
export async function openObjectFolder(folder: string): Promise<ObjectStore> {
  const incoming = join(folder, 'incoming');
  const objects = join(folder, 'objects');
  await mkdir(incoming, { recursive: true });
  await mkdir(objects, { recursive: true });
  await removeLeftovers(incoming);
  const pathOf = (key: string): string => join(objects, `${checkObjectKey(key)}.bin`);

  const store = async (key: string, write: (path: string) => Promise<void>): Promise<void> => {
    const target = pathOf(key);
    const temporary = join(incoming, randomUUID());
    try {
      await write(temporary);
      await flush(temporary, 'r+');
      await makeFolder(dirname(target), objects);
      await rename(temporary, target);
      await flush(dirname(target), 'r');
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  };
  return {
    put: (key, bytes) => store(key, (path) => writeAll(path, bytes)),
    putFile: (key, path) => store(key, (temporary) => copyFile(path, temporary)),
    get: (key) => absentAsUndefined(readFile(pathOf(key))),
    open: async (key) => {
      const handle = await absentAsUndefined(open(pathOf(key), 'r'));
      return handle?.createReadStream();
    },
    remove: async (key) => {
      await absentAsUndefined(unlink(pathOf(key)));
    },
    check: async () => {
      await flush(objects, 'r');
    },
  };
}

/** What a crash left half written belongs to no object. */
async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) await rm(join(incoming, name), { force: true });
}

async function writeAll(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

async function flush(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new folder is durable once its parent is flushed. */
async function makeFolder(folder: string, root: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined) return;
  for (let at = folder; at.length >= root.length; at = dirname(at)) await flush(at, 'r');
}

async function absentAsUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
