import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { familyOf } from './processFamily.ts';

/** Reads the processes that are paused, one line for each change; ends the last of them when we are gone. */
const SHELL_LINE = 'p=; while read -r line; do p=$line; done; [ -n "$p" ] && kill -9 $p';

const paused = new Set<number>();
let told: Writable | undefined;

/** In a session of its own, so that what ends a terminal's processes leaves it to its task. */
const startKeeper = (): Writable | undefined => {
  const keeper = spawn('/bin/sh', ['-c', SHELL_LINE], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  const forget = (): void => {
    told = undefined;
  };
  keeper.once('error', forget).once('exit', forget);
  keeper.stdin.on('error', forget);
  keeper.unref();
  return keeper.stdin;
};

const tell = (): void => {
  told ??= startKeeper();
  told?.write(`${[...paused].flatMap(familyOf).join(' ')}\n`);
};

/**
 * A stopped process does not see that its parent was killed, and would be left for ever: a shell waits
 * beside for our end, and ends those that are paused then.
 */
export function keepPaused(pid: number | undefined, isPaused: boolean): void {
  if (pid === undefined || paused.has(pid) === isPaused) return;
  if (isPaused) paused.add(pid);
  else paused.delete(pid);
  tell();
}
