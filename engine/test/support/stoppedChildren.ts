import { readFileSync } from 'node:fs';
import { familyOf } from '../../isolation/children/childProcess.ts';

const below = (): readonly number[] => familyOf(process.pid).slice(1);

/** Processes below this one that are stopped where they are. */
export const stoppedChildren = (): readonly number[] =>
  below().filter((pid) => {
    try {
      return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  });

/** Sends a signal to all processes below this one: stopped, they are as on a machine that has no time for them. */
export const tellChildren = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of below()) process.kill(pid, signal);
};
