import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a process that parses may read: code, shared libraries, fonts, recognition data; no other file. */
export interface Readable {
  /** The service's own code, by the paths that modules are looked for. */
  readonly code: readonly string[];
  /** The system's: libraries, fonts, their indexes. */
  readonly system: readonly string[];
  /** Programs that may be started: Node, and what loads it. */
  readonly programs: readonly string[];
}

/** The command that starts a program confined; `folder` is the one that it may write to. */
export type Wrap = (program: readonly string[], folder?: string) => readonly string[];

/** The folder of compiled code; recognition data lie in it. */
const CODE = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

const SYSTEM = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/etc/ld.so.cache',
  '/etc/ld-musl-x86_64.path',
  '/etc/ld-musl-aarch64.path',
  '/etc/ssl/openssl.cnf',
  '/etc/fonts',
  '/usr/share/fonts',
  '/usr/local/share/fonts',
];

const LOADERS = [
  '/lib64/ld-linux-x86-64.so.2',
  '/lib/ld-linux-aarch64.so.1',
  '/lib/ld-musl-x86_64.so.1',
  '/lib/ld-musl-aarch64.so.1',
];

/** `/a/node_modules/b/node_modules/c` → `/a/node_modules`. */
const packagesIn = (path: string): string => {
  const parts = path.split(sep);
  return parts.slice(0, parts.indexOf('node_modules') + 1).join(sep);
};

const there = (paths: readonly string[]): readonly string[] => [
  ...new Set(paths.filter((path) => existsSync(path)).flatMap((path) => [path, realpathSync(path)])),
];

/** Found once a process; paths that are not there are left out. */
export const readable = (): Readable => {
  const packages = packagesIn(createRequire(import.meta.url).resolve('@llamaindex/liteparse'));
  return {
    code: there([CODE, packages, join(dirname(CODE), 'node_modules'), join(dirname(CODE), 'package.json')]),
    system: there(SYSTEM),
    programs: there([process.execPath, ...LOADERS]),
  };
};
