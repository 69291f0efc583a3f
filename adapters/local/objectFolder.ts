import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  copyFile,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { absentAsUndefined, codeOf } from '../../domain/kernel/json.ts';
import {
  checkKeyPrefix,
  checkObjectKey,
  type ListedObject,
  type ObjectStore,
  type SignedUpload,
  type UploadSignatures,
  type UploadTargets,
} from '../../domain/ports/services.ts';

/** Tells an object from the folder of others whose keys begin with its own. */
const FILE_ENDING = '.bin';

/** Where objects that are whole lie in the folder. */
export const WHOLE_OBJECTS = 'objects';

/** The file of an object, from the folder. */
export const objectFileOf = (key: string): string => `${WHOLE_OBJECTS}/${checkObjectKey(key)}${FILE_ENDING}`;

/**
 * Objects as files of a folder. A put is written beside, flushed to the disk and renamed into place, and
 * the folder is flushed too: after a crash an object is there whole or not at all.
 */
export async function openObjectFolder(folder: string): Promise<ObjectStore> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true });
  await mkdir(join(folder, WHOLE_OBJECTS), { recursive: true });
  await removeLeftovers(incoming);
  return objectFolder(folder);
}

/** The same while another process has the folder open: for reading only. */
export const objectFolder = (folder: string): ObjectStore => {
  const incoming = join(folder, 'incoming');
  const objects = join(folder, WHOLE_OBJECTS);
  const pathOf = (key: string): string => join(folder, objectFileOf(key));

  const store = async (key: string, write: (path: string) => Promise<void>): Promise<void> => {
    const target = pathOf(key);
    const temporary = join(incoming, randomUUID());
    try {
      await write(temporary);
      await flush(temporary, 'r+');
      await place(temporary, target, objects);
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
    link: async (key, path) => {
      const linked = await absentAsUndefined(linkOrCopy(pathOf(key), path).then(() => true));
      return linked ?? false;
    },
    list: (prefix) => listed(join(objects, checkKeyPrefix(prefix)), prefix),
    remove: async (key) => {
      await absentAsUndefined(unlink(pathOf(key)));
      await removeEmpty(dirname(pathOf(key)), objects);
    },
    check: async () => {
      await flush(objects, 'r');
    },
  };
};

/** Reads an object while another process has the folder open; undefined if there is none. */
export const readObject = (folder: string, key: string): Promise<Uint8Array | undefined> =>
  absentAsUndefined(readFile(join(folder, objectFileOf(key))));

/** Attempts to put a file into a folder that others may remove as it is empty. */
const PLACE_ATTEMPTS = 5;

/** Moves a file to its place, and flushes it; its folder is created again if it has just been removed. */
const place = async (file: string, target: string, root: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      await makeFolder(dirname(target), root);
      await rename(file, target);
      await flush(dirname(target), 'r');
      return;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === PLACE_ATTEMPTS) throw error;
    }
};

/** Removes folders that nothing is in any more, up to those right below the root. */
const removeEmpty = async (folder: string, root: string): Promise<void> => {
  for (let at = folder; dirname(at) !== root && at !== root; at = dirname(at))
    try {
      await rmdir(at);
    } catch {
      return;
    }
};

/** Files removed during the listing are left out. */
async function* listed(folder: string, prefix: string): AsyncIterable<ListedObject> {
  const entries = await absentAsUndefined(opendir(folder));
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listed(path, `${prefix}${entry.name}/`);
    else {
      const found = await absentAsUndefined(stat(path));
      const key = `${prefix}${entry.name.slice(0, -FILE_ENDING.length)}`;
      if (found !== undefined) yield { key, modified_at: found.mtime.toISOString(), bytes: found.size };
    }
  }
}

/** A file that a crash left half written belongs to no object. */
async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) await rm(join(incoming, name), { force: true });
}

/** Another file system, or one without links, takes a copy. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'ENOTSUP'].includes(codeOf(error))) throw error;
    await copyFile(from, to);
  }
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

interface UploadUrlOptions {
  readonly secret: Uint8Array;
  /** Base of the URLs, without a slash at its end; asked for each URL, because the port may not be known before. */
  readonly baseUrl: () => string;
}

/** Everything that a signature vouches for, each member apart from the next. */
const signedText = ({ document_id, expires, content_type, max_bytes }: Omit<SignedUpload, 'signature'>) =>
  JSON.stringify(['PUT', document_id, expires, content_type, max_bytes]);

const WHOLE = /^\d{1,15}$/;

/** Upload URLs that this service answers itself: `PUT /uploads/{document_id}`, signed with HMAC-SHA-256. */
export const uploadUrls = ({ secret, baseUrl }: UploadUrlOptions): UploadTargets & UploadSignatures => {
  const signatureOf = (upload: Omit<SignedUpload, 'signature'>): Buffer =>
    createHmac('sha256', secret).update(signedText(upload)).digest();
  return {
    presign: ({ document_id, content_type, bytes, bytes_max, signed_at, expires_seconds }) => {
      const signed = {
        document_id,
        expires: String(Math.floor(Date.parse(signed_at) / 1000) + expires_seconds),
        content_type: content_type ?? '',
        max_bytes: String(bytes ?? bytes_max),
      };
      const { document_id: _, ...query } = { ...signed, signature: signatureOf(signed).toString('hex') };
      return Promise.resolve({
        url: `${baseUrl()}/uploads/${document_id}?${new URLSearchParams(query).toString()}`,
        headers: content_type === null ? {} : { 'Content-Type': content_type },
      });
    },
    check: (upload, now) => {
      const given = Buffer.from(upload.signature, 'hex');
      const due = signatureOf(upload);
      if (given.length !== due.length || !timingSafeEqual(given, due)) return { kind: 'invalid' };
      if (!WHOLE.test(upload.expires) || !WHOLE.test(upload.max_bytes)) return { kind: 'invalid' };
      if (Date.parse(now) >= Number(upload.expires) * 1000) return { kind: 'expired' };
      return { kind: 'valid', bytes_max: Number(upload.max_bytes) };
    },
  };
};
