import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Folders of specs lie in memory where the machine has room: a data folder has a thousand files, and writing them to
 * a disk takes more CPU time than the start of the service that uses them. Each process has a folder of its own, which
 * goes with it.
 */
const MEMORY = '/dev/shm';
const FREE_BYTES_MIN = 4 * 2 ** 30;
const NAME = /^quire-specs-(\d+)$/;

const hasRoom = (): boolean => {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    return mount !== undefined && !mount.includes('noexec') && bavail * bsize > FREE_BYTES_MIN;
  } catch {
    return false;
  }
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** What a process that was killed left. */
const removeLeft = (): void => {
  for (const name of readdirSync(MEMORY)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
};

if (!tmpdir().startsWith(MEMORY) && hasRoom()) {
  removeLeft();
  const own = join(MEMORY, `quire-specs-${String(process.pid)}`);
  mkdirSync(own, { recursive: true });
  process.env['TMPDIR'] = own;
  process.once('exit', () => rmSync(own, { recursive: true, force: true }));
}
