import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readable, type Readable, type Wrap } from './readable.ts';
import { underLandlock } from './landlock.ts';

/** Where its package puts it. */
const BWRAP = '/usr/bin/bwrap';

/** A path inside of a folder that is mounted anyway cannot be mounted again. */
const outermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/**
 * The command that starts a program by Debian's bubblewrap: in namespaces of its own, with nothing mounted
 * but what it may read. It needs user namespaces, which many systems and most containers refuse.
 */
const underBubblewrap = ({ code, system, programs }: Readable): Wrap => {
  const seen = outermost([...system, ...code, ...programs]);
  const mounts = seen.flatMap((path) => ['--ro-bind-try', path, path]);
  const alone = ['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'];
  return (program, folder) => {
    const own = folder === undefined ? [] : ['--bind', folder, folder];
    return [BWRAP, ...alone, ...mounts, ...own, '--dev', '/dev', '--remount-ro', '/', '--', ...program];
  };
};

/** What a process that was taken over might reach: each was tried, none is inferred. */
const REACHES = ['environment', 'files', 'writing', 'signals', 'network'] as const;
type Reach = (typeof REACHES)[number];

export type Launcher = 'landlock' | 'bubblewrap' | 'none';

/** How processes that parse are kept from everything but their work, on this machine. */
export interface Protection {
  readonly launcher: Launcher;
  /** Whether Node itself refuses files and processes to JavaScript. */
  readonly permissionModel: boolean;
  /** What code that does not ask Node, as in native parts, still reaches. */
  readonly open: readonly Reach[];
}

export interface Confinement extends Protection {
  /** The command that runs Node with these arguments, confined; `folder` is the one it may write to. */
  readonly command: Wrap;
}

const REACH_SCRIPT = fileURLToPath(new URL('./reach.js', import.meta.url));
const TRY_MS = 20_000;

const hasFlag = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);

/**
 * Node's own permission model, by the name that this Node has for it; none where it has none. Libraries are
 * loaded past it. Node 20 dies of two patterns of which one begins like the other, so each path has one.
 */
const permissionFlags = ({ code }: Readable): readonly string[] => {
  const model = ['--permission', '--experimental-permission'].find(hasFlag);
  if (model === undefined || !hasFlag('--allow-addons')) return [];
  const reads = code.map((path) => (statSync(path).isDirectory() ? join(path, '*') : path));
  return [model, '--allow-addons', ...reads.map((path) => `--allow-fs-read=${path}`)];
};

/** Runs the attempts by a launcher; undefined where it does not start a process. */
const reachedBy = async (wrap: Wrap): Promise<readonly Reach[] | undefined> => {
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const output = await outputOf(
      wrap([process.execPath, '--no-warnings', REACH_SCRIPT, String(process.pid), String(port)]),
    );
    const names: unknown = output === '' ? undefined : JSON.parse(output);
    return Array.isArray(names) ? REACHES.filter((reach) => names.includes(reach)) : undefined;
  } finally {
    server.close();
  }
};

/** What a command prints; empty when it does not start, fails or takes too long. */
const outputOf = ([file = '', ...args]: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'], env: {}, timeout: TRY_MS });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.once('error', () => resolve('')).once('close', (code) => resolve(code === 0 ? text : ''));
  });

interface Tried {
  readonly launcher: Launcher;
  readonly wrap: Wrap;
  readonly open: readonly Reach[];
}

const UNCONFINED: Tried = { launcher: 'none', wrap: (program) => program, open: REACHES };

const launchersFor = (allowed: Readable): readonly Omit<Tried, 'open'>[] => {
  const { arch, platform } = process;
  if (platform !== 'linux') return [];
  const known = arch === 'x64' || arch === 'arm64' ? arch : undefined;
  return [
    ...(known === undefined ? [] : [{ launcher: 'landlock', wrap: underLandlock(allowed, known) } as const]),
    { launcher: 'bubblewrap', wrap: underBubblewrap(allowed) },
  ];
};

/** The first launcher that leaves nothing open, or the one that leaves least. */
const bestOf = async (launchers: readonly Omit<Tried, 'open'>[]): Promise<Tried> => {
  let best = UNCONFINED;
  for (const { launcher, wrap } of launchers) {
    const open = await reachedBy(wrap).catch(() => undefined);
    if (open !== undefined && open.length < best.open.length) best = { launcher, wrap, open };
    if (best.open.length === 0) break;
  }
  return best;
};

const confinementOf = (flags: readonly string[], { launcher, wrap, open }: Tried): Confinement => ({
  launcher,
  open,
  permissionModel: flags.length > 0,
  command: (nodeArguments, folder) => wrap([process.execPath, ...flags, ...nodeArguments], folder),
});

/** What this machine has, chosen among these launchers by trying them. */
export const confinementAmong = async (
  wanted: readonly Launcher[],
  { permissionModel = true }: { readonly permissionModel?: boolean } = {},
): Promise<Confinement> => {
  const allowed = readable();
  const launchers = launchersFor(allowed).filter(({ launcher }) => wanted.includes(launcher));
  return confinementOf(permissionModel ? permissionFlags(allowed) : [], await bestOf(launchers));
};

let known: Promise<Confinement> | undefined;

/** The best that this machine has. It is tried once a process, when first asked for. */
export const confinementHere = (): Promise<Confinement> =>
  (known ??= confinementAmong(['landlock', 'bubblewrap']));
