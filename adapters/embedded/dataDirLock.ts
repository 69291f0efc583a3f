import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';

/** Another process owns the folder; the message says which, and what to do. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
}

export interface DataDirLock {
  release(): Promise<void>;
}

/** A lock whose owner died is taken over after this long without a sign of life. */
const STALE_MS = 5_000;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const ownerOf = async (ownerFile: string): Promise<number | undefined> => {
  const text = await readFile(ownerFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
};

/**
 * Makes the folder if it is missing and takes it for this process. A lock left behind by a process that
 * is gone is taken over at once. Throws DataDirInUse while another process lives that owns it.
 */
export const lockDataDir = async (dataDir: string, onLost: (error: Error) => void): Promise<DataDirLock> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const ownerFile = join(dataDir, 'owner.pid');
  const owner = await ownerOf(ownerFile);
  const lockPath = join(dataDir, 'owner.lock');
  if (owner !== undefined && owner !== process.pid && !isRunning(owner))
    await rm(lockPath, { recursive: true, force: true });
  try {
    const release = await lockfile.lock(dataDir, {
      lockfilePath: lockPath,
      realpath: false,
      stale: STALE_MS,
      // In containers every owner may be process 1: then only the age of the lock tells.
      retries: owner === process.pid ? { retries: 7, minTimeout: 1_000, factor: 1 } : 0,
      onCompromised: onLost,
    });
    await writeFile(ownerFile, `${String(process.pid)}\n`);
    return { release };
  } catch {
    throw new DataDirInUse(
      `${dataDir} is in use by another Quire process${owner === undefined ? '' : ` (process ${String(owner)})`}. ` +
        'Stop that process, or give this one a folder of its own with DATA_DIR.',
    );
  }
};
