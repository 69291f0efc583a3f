import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Client } from 'minio';
import { OperatorError, type WatchConfig } from '../clientConfig.ts';

/** A file of a place. */
export interface Entry {
  /** Its name there, with `/` between folders. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Where documents arrive, or where results go. */
export interface Place {
  /** As people are told of it. */
  readonly shown: string;
  readonly list: () => Promise<readonly Entry[]>;
  /** undefined: it is no longer there. */
  readonly read: (name: string) => Promise<Uint8Array | undefined>;
  /** When it was last written to, ms; undefined: it is no longer there. */
  readonly modified: (name: string) => Promise<number | undefined>;
  /** The file is there as a whole, or not at all. */
  readonly write: (name: string, text: string) => Promise<void>;
}

/** A document that has arrived. */
export interface Arrival {
  /** The name that it is known by there; never another document's. */
  readonly id: string;
  readonly file_name: string;
  /** The file in which its result goes. */
  readonly result: string;
  readonly modifiedMs: number;
  /** undefined: it is no longer there. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Something else lies there now. */
  readonly isReplaced: () => Promise<boolean>;
}

/** Results that are there, by their names. */
export type Results = ReadonlyMap<string, Entry>;

/** Where documents arrive. */
export interface Source {
  readonly shown: string;
  readonly arrivals: (results: Results) => Promise<readonly Arrival[]>;
  /** Clears away what has its results. */
  readonly clear?: ((results: Results) => Promise<void>) | undefined;
  readonly close?: () => void;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['ENOENT', 'NoSuchKey', 'NotFound'].includes(String(error.code));

/** undefined: what is read is not there. */
const unlessMissing = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** Names of files that are being written: other programs pass over names with a dot in front, too. */
const PART = /(?:^|\/)\.[^/]*$/;

const fileIn = async (folder: string, path: string): Promise<Entry | undefined> => {
  const found = await unlessMissing(stat(path));
  if (found === undefined) return undefined;
  const name = relative(folder, path).split(sep).join('/');
  return { name, bytes: found.size, modifiedMs: found.mtimeMs };
};

const synced = async (path: string, flags: 'r' | 'wx', text?: string): Promise<void> => {
  const file = await open(path, flags);
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Under a name that is no other's, then renamed: a reader sees all of it or nothing, also after a power cut. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const part = join(folder, `.quire-${randomUUID()}`);
  try {
    await synced(part, 'wx', text);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await synced(folder, 'r');
};

const folderPlace = async (given: string): Promise<Place> => {
  const folder = resolve(given);
  const found = await unlessMissing(stat(folder));
  if (found?.isDirectory() !== true) throw new OperatorError(`${given}: there is no such folder.`, 2);
  return {
    shown: folder,
    list: async () => {
      const all = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
      const entries: Entry[] = [];
      for (const path of files) {
        const entry = await fileIn(folder, path);
        if (entry !== undefined && !PART.test(entry.name)) entries.push(entry);
      }
      return entries;
    },
    read: (name) => unlessMissing(readFile(join(folder, name))),
    modified: async (name) => (await fileIn(folder, join(folder, name)))?.modifiedMs,
    write: (name, text) => writeWhole(join(folder, name), text),
  };
};

const bucketPlace = (given: string, { s3 }: WatchConfig): Place => {
  const { hostname: bucket, pathname } = new URL(given);
  const { endpoint, accessKey, secretKey, region } = s3;
  if (accessKey === undefined || secretKey === undefined)
    throw new OperatorError('Set WATCH_S3_ACCESS_KEY and WATCH_S3_SECRET_KEY to the key of the bucket.', 2);
  const { hostname: endPoint, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  const address = { endPoint, useSSL, ...(port === '' ? {} : { port: Number(port) }) };
  const client = new Client({ ...address, accessKey, secretKey, region });
  const prefix =
    pathname === '/' || pathname === '' ? '' : `${decodeURIComponent(pathname.slice(1)).replace(/\/$/, '')}/`;
  return {
    shown: `s3://${bucket}/${prefix}`,
    list: async () => {
      const entries: Entry[] = [];
      for await (const { name, size, lastModified } of client.listObjectsV2(
        bucket,
        prefix,
        true,
      ) as AsyncIterable<Readonly<{ name?: string; size: number; lastModified?: Date }>>)
        if (name !== undefined && !name.endsWith('/') && !PART.test(name))
          entries.push({
            name: name.slice(prefix.length),
            bytes: size,
            modifiedMs: lastModified?.getTime() ?? 0,
          });
      return entries;
    },
    read: async (name) => {
      const stream = await unlessMissing(client.getObject(bucket, `${prefix}${name}`));
      return stream === undefined ? undefined : buffer(stream);
    },
    modified: async (name) => {
      const found = await unlessMissing(client.statObject(bucket, `${prefix}${name}`));
      return found?.lastModified.getTime();
    },
    write: async (name, text) => {
      await client.putObject(bucket, `${prefix}${name}`, text, undefined, {
        'content-type': 'application/json',
      });
    },
  };
};

/** A folder, or a bucket as `s3://<bucket>/<prefix>`. */
export const placeAt = async (given: string, config: WatchConfig): Promise<Place> =>
  given.startsWith('s3://') ? bucketPlace(given, config) : folderPlace(given);
