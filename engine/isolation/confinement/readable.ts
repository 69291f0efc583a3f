import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { CODE, INSTALLED } from '../../kernel/installed.ts';
import { TESSDATA } from '../../recognition/tessdata.ts';

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
  const packages = packagesIn(createRequire(import.meta.url).resolve('sharp'));
  // no path may lie in another: the permission model of Node 20 dies of it
  const data = TESSDATA.startsWith(CODE) ? [] : [TESSDATA];
  return {
    code: there([CODE, ...data, packages, join(INSTALLED, 'node_modules'), join(INSTALLED, 'package.json')]),
    system: there(SYSTEM),
    programs: there([process.execPath, ...LOADERS]),
  };
};
