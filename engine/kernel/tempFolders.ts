import { readFileSync, readlinkSync } from 'node:fs';
import process from 'node:process';
import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What `/proc/<pid>/stat` has, from the third field on, by its place. Source: proc(5). */
const [STATE, FLAGS, THREADS, STARTED] = [0, 6, 17, 19];

/** The flag of a process that is on its way out. */
const EXITING = 0x4;

/** The bit of SIGKILL in a set of signals. */
const KILLED = 1n << 8n;

const fileOf = (pid: number, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${String(pid)}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Fields of `/proc/<pid>/stat` after the name, which stands in brackets and may hold anything; undefined where the
 * system does not tell.
 */
export const statOf = (pid: number): readonly string[] | undefined => {
  const text = fileOf(pid, 'stat');
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
};

/**
 * When a process was started, in ticks of the system's clock: tells it from a later one of its number. undefined where
 * the system does not tell.
 */
export const startedAt = (pid: number): string | undefined => statOf(pid)?.[STARTED];

/**
 * Where the number of a process means that process: one run of one system, and in it one container. undefined where
 * the system does not tell.
 */
export const pidRealm = (): string | undefined => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}`;
  } catch {
    return undefined;
  }
};

/** EPERM: it is there, and belongs to another user. */
const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const isKilled = (pid: number): boolean => {
  const signals = fileOf(pid, 'status')?.matchAll(/^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)$/gm) ?? [];
  return [...signals].some(([, set = '0']) => (BigInt(`0x${set}`) & KILLED) !== 0n);
};

const isGoing = (pid: number, stat: readonly string[]): boolean =>
  (Number(stat[FLAGS]) & EXITING) !== 0 || isKilled(pid);

/**
 * Whether a process runs. `gone`: also where nobody has asked yet how it ended, and where another process has its
 * number by now. `going`: it was killed, or has ended, and the system has not taken all of it away yet.
 */
export const lifeOf = (pid: number, started?: string): 'runs' | 'going' | 'gone' => {
  if (!isThere(pid)) return 'gone';
  const stat = statOf(pid);
  if (stat === undefined) return 'runs';
  if (started !== undefined && stat[STARTED] !== started) return 'gone';
  if (stat[STATE] === 'Z') return Number(stat[THREADS]) <= 1 ? 'gone' : 'going';
  return isGoing(pid, stat) ? 'going' : 'runs';
};

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
