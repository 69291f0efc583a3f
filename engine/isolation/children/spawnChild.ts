import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { newTempFolder } from '../../kernel/tempFolders.ts';
import type { Confinement } from '../confinement/confinement.ts';
import { BYTES_AT } from './fileBytes.ts';

export interface SpawnOptions {
  /** The module that the child runs. */
  readonly entry: string;
  readonly memoryMb: number;
  /** As `nice` has it; left out: that of the service. */
  readonly niceness?: number | undefined;
}

/**
 * Fits any shell that POSIX knows; where `ulimit -d` is missing the memory watch is what limits. No file that
 * it writes grows beyond 1 GiB (2^21 blocks of 512 bytes).
 */
const SHELL_LINE =
  'ulimit -d "$0" 2>/dev/null; ulimit -c 0 2>/dev/null; ulimit -f 2097152 2>/dev/null; exec "$@"';

/** From this version on, V8 reserves memory that it does not touch, and `ulimit -d` counts it. */
const RESERVES_SINCE = 24;
const RESERVED_MB = 560;
const reservedMb = Number(process.versions.node.split('.')[0]) >= RESERVES_SINCE ? RESERVED_MB : 0;

/** A busy child does not see that its parent has gone, so a parent that ends kills its children. */
const living = new Map<ChildProcess, string | undefined>();
process.once('exit', () => {
  for (const [child, folder] of living) {
    child.kill('SIGKILL');
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
});

/** The PDF library puts pictures into files; undefined where no folder can be made, and only that fails. */
export const newFolder = (): Promise<string | undefined> => newTempFolder('child').catch(() => undefined);

export const removed = async (folder: string | undefined): Promise<void> => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
};

/** Where the bytes of a job's file are sent to. */
export const bytesOf = (child: ChildProcess): Socket => child.stdio[BYTES_AT] as Socket;

/**
 * `ulimit -d` caps all private memory, V8's and native alike, and a growth beyond it fails inside the
 * child. The environment is empty of everything that is the service's.
 */
export function spawned(
  { entry, memoryMb, niceness }: SpawnOptions,
  { command }: Confinement,
  folder: string | undefined,
): ChildProcess {
  const heapMb = Math.max(64, Math.floor(memoryMb / 2));
  const node = command([`--max-old-space-size=${heapMb}`, '--no-warnings', entry], folder);
  const own = folder === undefined ? {} : { TMPDIR: folder };
  const child = spawn('/bin/sh', ['-c', SHELL_LINE, String((memoryMb + reservedMb) * 1024), ...node], {
    // the last is BYTES_AT; stderr tells why a child does not start
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', MALLOC_ARENA_MAX: '2', ...own },
    serialization: 'advanced',
  });
  lowerPriority(child.pid, niceness);
  const bytes = bytesOf(child);
  // a write to a child that has ended fails, and its end is told by `exit`
  bytes.on('error', () => undefined);
  bytes.unref();
  (child.stderr as Socket | null)?.unref();
  child.unref();
  child.channel?.unref();
  living.set(child, folder);
  return child;
}

/** Forgets a child that has ended, with its folder. */
export const forget = async (child: ChildProcess): Promise<void> => {
  await removed(living.get(child));
  living.delete(child);
};

/** Where the platform refuses, the child works at the priority of the service. */
function lowerPriority(pid: number | undefined, niceness: number | undefined): void {
  if (pid === undefined || niceness === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // What cannot be lowered stays as it is.
  }
}
