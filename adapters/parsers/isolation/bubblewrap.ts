import type { Readable } from './readable.ts';

/** Where its package puts it. */
const BWRAP = '/usr/bin/bwrap';

/** A path inside of a folder that is mounted anyway cannot be mounted again. */
const outermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/**
 * The command that starts a program by Debian's bubblewrap: in namespaces of its own, with nothing mounted
 * but what it may read. It needs user namespaces, which many systems and most containers refuse.
 */
export const underBubblewrap = ({
  code,
  system,
  programs,
}: Readable): ((program: readonly string[]) => readonly string[]) => {
  const mounts = outermost([...system, ...code, ...programs]).flatMap((path) => [
    '--ro-bind-try',
    path,
    path,
  ]);
  const before = [BWRAP, '--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1'];
  return (program) => [...before, '--cap-drop', 'ALL', ...mounts, '--dev', '/dev', '--', ...program];
};
