import { createHash } from 'node:crypto';
import { mkdir, open, opendir, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { absentAsUndefined } from '../../domain/kernel/json.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Paths of the files below a folder, from it, with `/`; none of a folder that is not there. */
export async function* filesIn(folder: string, prefix = ''): AsyncGenerator<string, void, void> {
  const entries = await absentAsUndefined(opendir(join(folder, prefix)));
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(folder, `${path}/`);
    else yield path;
  }
}

export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads to the end, handing each piece on. */
const readThrough = async (
  from: FileHandle,
  each: (piece: Uint8Array) => Promise<unknown>,
): Promise<Digest> => {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, CHUNK_BYTES);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    bytes += bytesRead;
    await each(piece);
  }
};

const closing = async <T>(handle: FileHandle, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } finally {
    await handle.close();
  }
};

/** undefined where there is no such file. */
export const digestOf = async (path: string): Promise<Digest | undefined> => {
  const from = await absentAsUndefined(open(path, 'r'));
  return from === undefined ? undefined : closing(from, () => readThrough(from, () => Promise.resolve()));
};

/**
 * Copies a file, durably, so that only its owner can read the copy. What is opened is copied whole,
 * whatever takes its place meanwhile. undefined where there is no such file.
 */
export const copyDigested = async (path: string, to: string): Promise<Digest | undefined> => {
  const from = await absentAsUndefined(open(path, 'r'));
  if (from === undefined) return undefined;
  return closing(from, async () => {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const target = await open(to, 'w', 0o600);
    return closing(target, async () => {
      const digest = await readThrough(from, (piece) => target.writeFile(piece));
      await target.sync();
      return digest;
    });
  });
};

/** Makes the names in a folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await closing(handle, () => handle.sync());
};

/** Makes the names in a folder and all below it durable. */
export const syncFolders = async (folder: string): Promise<void> => {
  for await (const entry of await opendir(folder))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
};

/** Writes a new file, durably, for its owner alone. */
export const writeDurably = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { mode: 0o600, flush: true });

/** Does `work` for each item, at most `atOnce` at a time; the first error ends it. */
export const eachAtOnce = async <T>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      // What fails stays among the running, so that it is met whenever it fails.
      const one: Promise<void> = work(item).then(() => void running.delete(one));
      one.catch(() => undefined);
      running.add(one);
      if (running.size >= atOnce) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
};
