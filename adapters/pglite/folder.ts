import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';

const BLOCK = 512;
const OPEN_MARK = 'quire.open';

const textAt = (tar: Buffer, start: number, length: number): string =>
  tar.toString('utf8', start, start + length).split('\0', 1)[0] ?? '';

/**
 * Writes the files of a tar archive below `folder`. Only plain files and folders: others are skipped. A thousand small
 * files cost half the CPU time without promises, and this process has nothing else to do.
 */
const untar = (tar: Buffer, folder: string): void => {
  const made = new Set<string>();
  const make = (path: string): void => {
    if (!made.has(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
    made.add(path);
  };
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const prefix = textAt(tar, at + 345, 155);
    const path = join(folder, prefix, textAt(tar, at, 100));
    const bytes = Number.parseInt(textAt(tar, at + 124, 12).trim() || '0', 8);
    const kind = textAt(tar, at + 156, 1);
    if (kind === '5') make(path);
    if (kind === '0' || kind === '') {
      make(dirname(path));
      writeFileSync(path, tar.subarray(at + BLOCK, at + BLOCK + bytes), { mode: 0o600 });
    }
    at += BLOCK + Math.ceil(bytes / BLOCK) * BLOCK;
  }
};

/** Changes with every start of the operating system; null where the system does not tell. */
const bootId = (): string | null => {
  const file = '/proc/sys/kernel/random/boot_id';
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
};

/**
 * Why the folder cannot be trusted, or null. PGlite never syncs to disk: what was open when the
 * operating system went down may be torn without a sign, what a killed process left is whole.
 */
export const reasonToRecreate = (folder: string): string | null => {
  const mark = join(folder, OPEN_MARK);
  if (!existsSync(mark)) return null;
  const openedAtBoot = readFileSync(mark, 'utf8').trim();
  const now = bootId();
  return now !== null && openedAtBoot !== '' && openedAtBoot !== now
    ? 'it was open when the operating system went down'
    : null;
};

/** Notes that the folder is in use, until `markClosed`. */
export const markOpen = (folder: string): Promise<void> =>
  writeFile(join(folder, OPEN_MARK), bootId() ?? '', { mode: 0o600 });

export const markClosed = (folder: string): Promise<void> => rm(join(folder, OPEN_MARK), { force: true });

/** Writes an empty database to `folder`. It appears whole or not at all. */
export const unpackDatabase = async (folder: string): Promise<void> => {
  const fresh = `${folder}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  const archive = Buffer.from(await (await dataDir()).arrayBuffer());
  untar(archive[0] === 0x1f && archive[1] === 0x8b ? gunzipSync(archive) : archive, fresh);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
};

/**
 * Makes an empty database in `folder` if there is none, from the archive in the package: unpacking
 * takes a tenth of the time and memory of initialising one.
 */
export const ensureDatabase = async (folder: string): Promise<void> => {
  if (existsSync(join(folder, 'PG_VERSION'))) return;
  const script = fileURLToPath(new URL('./pgliteUnpack.js', import.meta.url));
  await promisify(execFile)(process.execPath, [script, folder]);
};

/** Moves a folder that cannot be used out of the way; of several such, only the last is kept. */
export const moveAside = async (folder: string): Promise<void> => {
  const parent = dirname(folder);
  const aside = `${basename(folder)}.broken`;
  for (const name of await readdir(parent)) {
    if (name.startsWith(aside)) await rm(join(parent, name), { recursive: true, force: true });
  }
  if (existsSync(folder)) await rename(folder, join(parent, aside));
};
