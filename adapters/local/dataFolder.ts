import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { lifeOf, pidRealm, startedAt } from '@quire/engine/kernel/tempFolders';
import lockfile from 'proper-lockfile';
import { codeOf } from '../../domain/kernel/json.ts';
import { DataDirInUse, type FolderOwner } from '../../domain/ports/services.ts';

/** The folder into which a backup is restored; nothing opens the data folder while it is there. */
export const RESTORING = 'restoring';

/** Who took the folder last, whether it still has it or not. */
const OWNER_FILE = 'owner.pid';

/** Files that a lock and its owner leave in an otherwise empty folder. */
export const LOCK_FILES = [OWNER_FILE, 'owner.lock', 'operator.json', 'operator.sock'] as const;

/** A lock whose owner died is taken over after this long without a sign of life. */
const STALE_MS = 5_000;

/** How long an owner that was killed is waited for until the system has taken it away. */
const GOING_MS = 5_000;
const LOOK_AGAIN_MS = 20;

type Owner = NonNullable<FolderOwner['owner']>;

/**
 * `<pid> <host> <start> <realm>`, as much of it as the system tells and that release wrote; undefined where nobody has
 * written anything, or something else.
 */
export const ownerIn = (text: string): Owner | undefined => {
  const [, pid, host, started, realm] =
    /^([1-9]\d{0,9})(?: (\S+)(?: (\d+) ([\da-f-]+:\d*))?)?\s*$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), host, started, realm };
};

const ownerLine = (): string =>
  `${[process.pid, hostname(), startedAt(process.pid), pidRealm()].filter((one) => one !== undefined).join(' ')}\n`;

/** Whether the process is one of this machine, so that its number says something here. */
const isHere = ({ host, realm }: Owner): boolean =>
  realm === undefined ? host === undefined || host === hostname() : realm === pidRealm();

/** How a process was started, where the system tells; at most 120 characters. */
const commandOf = (pid: number): string => {
  const file = `/proc/${String(pid)}/cmdline`;
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\0', ' ').trim().slice(0, 120) : '';
  } catch {
    return '';
  }
};

const named = (owner: Owner | undefined): string => {
  if (owner === undefined) return '';
  if (!isHere(owner)) return ` (process ${String(owner.pid)} on ${owner.host ?? ''})`;
  const command = commandOf(owner.pid);
  return ` (process ${String(owner.pid)}${command === '' ? '' : `: ${command}`})`;
};

const inUse = (dataDir: string, owner: Owner | undefined): DataDirInUse => {
  const stop = owner === undefined || !isHere(owner) ? '' : ` (kill ${String(owner.pid)})`;
  return new DataDirInUse(
    `${dataDir} is in use by another Quire process${named(owner)}. ` +
      `Stop that process${stop}, or give this one a folder of its own with DATA_DIR.`,
  );
};

const CANNOT_WRITE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST', 'EDQUOT', 'EIO'];

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  EROFS: 'it is mounted for reading only. Mount it for writing, or set DATA_DIR to another folder',
  ENOSPC: 'the disk is full. Make room, or set DATA_DIR to a folder on another disk',
  EDQUOT: 'the disk quota is used up. Make room, or set DATA_DIR to a folder on another disk',
  EIO: 'the disk does not work. Look at the log of the operating system',
  ENOTDIR: 'a part of it is no folder. Set DATA_DIR to a folder',
  EEXIST: 'there is a file of that name. Set DATA_DIR to a folder',
};

/** The meaning of a system error of the folder for the operator; the error itself if unknown. */
const unusable = (dataDir: string, error: unknown): unknown => {
  const code = codeOf(error);
  if (!CANNOT_WRITE.includes(code)) return error;
  const what =
    WHAT_TO_DO[code] ?? 'this user may not write there. Give it the folder, or set DATA_DIR to another one';
  return new DataDirInUse(`${dataDir} cannot be used: ${what} (${code}).`);
};

const refuseHalfRestored = (dataDir: string): void => {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new DataDirInUse(
    `${dataDir} holds a restore that was cut short, or that is running. When none is running,` +
      ` remove what is in the folder and run \`quire restore\` again.`,
  );
};

const lifeHere = ({ pid, started }: Owner) => lifeOf(pid, started);

/**
 * Whether the owner is known to be gone. One that was killed a moment ago is waited for: its files are its own until
 * the system has taken it away.
 */
const isGone = async (owner: Owner): Promise<boolean> => {
  if (!isHere(owner) || (owner.pid === process.pid && owner.started === undefined)) return false;
  const until = performance.now() + GOING_MS;
  while (lifeHere(owner) === 'going' && performance.now() < until) await setTimeout(LOOK_AGAIN_MS);
  return lifeHere(owner) === 'gone';
};

const take = async (dataDir: string, owner: Owner | undefined, onLost: (error: Error) => void) => {
  const lockPath = join(dataDir, 'owner.lock');
  if (owner !== undefined && (await isGone(owner))) await rm(lockPath, { recursive: true, force: true });
  // In containers every owner may be process 1, and each has a host name of its own: then only the age of the lock
  // tells, as it does where the system does not say when a process was started.
  const mayBeStale = owner !== undefined && (owner.pid === process.pid || !isHere(owner));
  try {
    return await lockfile.lock(dataDir, {
      lockfilePath: lockPath,
      realpath: false,
      stale: STALE_MS,
      retries: mayBeStale ? { retries: 7, minTimeout: 1_000, factor: 1 } : 0,
      onCompromised: onLost,
    });
  } catch (error) {
    throw codeOf(error) === 'ELOCKED' ? inUse(dataDir, owner) : error;
  }
};

/**
 * Makes the folder if it is missing and takes it for this process. A lock left behind by a process that
 * is gone is taken over at once. Throws DataDirInUse while another process lives that owns it, while a
 * restore into it is not finished, and where it cannot be written to.
 */
export const lockDataDir = async (
  dataDir: string,
  onLost: (error: Error) => void,
  { whileRestoring = false }: { readonly whileRestoring?: boolean } = {},
): Promise<{ readonly release: () => Promise<void> }> => {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const ownerFile = join(dataDir, OWNER_FILE);
    const owner = ownerIn(await readFile(ownerFile, 'utf8').catch(() => ''));
    const release = await take(dataDir, owner, onLost);
    try {
      if (!whileRestoring) refuseHalfRestored(dataDir);
      await writeFile(ownerFile, ownerLine());
    } catch (error) {
      await release();
      throw error;
    }
    return { release };
  } catch (error) {
    throw unusable(dataDir, error);
  }
};

/** The owner of a data folder, as far as the folder tells. Changes nothing. */
export const dataDirOwner = async (dataDir: string): Promise<FolderOwner> => {
  const owner = ownerIn(await readFile(join(dataDir, OWNER_FILE), 'utf8').catch(() => ''));
  const options = { lockfilePath: join(dataDir, 'owner.lock'), realpath: false, stale: STALE_MS };
  return {
    owner,
    isLocked: await lockfile.check(dataDir, options).catch(() => false),
    isHere: owner !== undefined && isHere(owner),
    isRunning: owner !== undefined && isHere(owner) && lifeHere(owner) === 'runs',
    command: owner === undefined ? '' : commandOf(owner.pid),
    isRestoring: existsSync(join(dataDir, RESTORING)),
  };
};
