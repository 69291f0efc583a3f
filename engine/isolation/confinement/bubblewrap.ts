import type { Readable, Wrap } from './readable.ts';

/** Where its package puts it. */
const BWRAP = '/usr/bin/bwrap';

/** A path inside of a folder that is mounted anyway cannot be mounted again. */
const outermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/**
 * The command that starts a program by Debian's bubblewrap: in namespaces of its own, with nothing mounted
 * but what it may read. It needs user namespaces, which many systems and most containers refuse.
 */
export const underBubblewrap = ({ code, system, programs }: Readable): Wrap => {
  const seen = outermost([...system, ...code, ...programs]);
  const mounts = seen.flatMap((path) => ['--ro-bind-try', path, path]);
  const alone = ['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'];
  return (program, folder) => {
    const own = folder === undefined ? [] : ['--bind', folder, folder];
    return [BWRAP, ...alone, ...mounts, ...own, '--dev', '/dev', '--remount-ro', '/', '--', ...program];
  };
};
