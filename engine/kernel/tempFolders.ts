import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { lifeOf, pidRealm, startedAt } from './processLife.ts';

/** What temporary folders are for. */
const KINDS = ['audit', 'child', 'engine', 'operator'] as const;

const NAMES = new RegExp(`^quire-(?:${KINDS.join('|')})-`);
const OWNER = /^quire-[a-z]+-([\da-f]*)\.(\d+)\.(\d*)-/;

/** What nobody of this machine can be asked about is kept so long after its last change, ms. */
const STRANGERS_KEPT_MS = 24 * 60 * 60 * 1000;

/** Where the owner's number means something, in few letters: paths of sockets must be short. */
const realm = (): string =>
  createHash('sha256')
    .update(pidRealm() ?? '')
    .digest('hex')
    .slice(0, 12);

/** A new folder for temporary files, named after this process. */
export const newTempFolder = (kind: (typeof KINDS)[number]): Promise<string> => {
  const owner = [realm(), process.pid, startedAt(process.pid) ?? ''].join('.');
  return mkdtemp(join(tmpdir(), `quire-${kind}-${owner}-`));
};

const isLeft = (name: string, changedMs: number): boolean => {
  const [, owners, pid, started = ''] = OWNER.exec(name) ?? [];
  if (owners !== realm()) return performance.timeOrigin + performance.now() - changedMs > STRANGERS_KEPT_MS;
  return lifeOf(Number(pid), started === '' ? undefined : started) === 'gone';
};

/**
 * Removes the folders that processes which are gone have left, as after a kill; gives how many. Those of other users
 * stay, and what cannot be removed.
 */
export const sweepTempFolders = async (): Promise<number> => {
  let swept = 0;
  for (const name of (await readdir(tmpdir())).filter((one) => NAMES.test(one))) {
    const path = join(tmpdir(), name);
    try {
      const facts = await lstat(path);
      if (!facts.isDirectory() || facts.uid !== process.getuid?.() || !isLeft(name, facts.mtimeMs)) continue;
      await rm(path, { recursive: true, force: true });
      swept += 1;
    } catch {
      // Gone meanwhile, or for somebody else to remove.
    }
  }
  return swept;
};
