import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package as it lies in `node_modules`, without those that lie in it. */
export interface Installed {
  /** `node_modules/a/node_modules/b`. */
  readonly place: string;
  readonly version: string;
  /** Blocks of the disk, as `du` counts them. */
  readonly bytes: number;
  /** Not installed by `npm ci --omit=dev`. */
  readonly isForDevelopment: boolean;
}

interface Entry {
  readonly version?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

const BLOCK_BYTES = 512;

const bytesBelow = (path: string): number => {
  const { blocks } = lstatSync(path);
  const inner = readdirSync(path, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules');
  return inner.reduce(
    (sum, entry) =>
      sum +
      (entry.isDirectory()
        ? bytesBelow(join(path, entry.name))
        : lstatSync(join(path, entry.name)).blocks * BLOCK_BYTES),
    blocks * BLOCK_BYTES,
  );
};

/** What the lock file names and this platform has, the largest first. */
export const installedIn = (root: string): readonly Installed[] => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Entry>>;
  };
  return Object.entries(packages)
    .filter(
      ([place, { link }]) => place.includes('node_modules') && link !== true && existsSync(join(root, place)),
    )
    .map(([place, { version = '', dev, devOptional }]) => ({
      place,
      version,
      bytes: bytesBelow(join(root, place)),
      isForDevelopment: dev === true || devOptional === true,
    }))
    .sort((a, b) => b.bytes - a.bytes);
};

/** Of all, and of what production has. */
export const totals = (
  packages: readonly Installed[],
): { readonly all: number; readonly production: number } => {
  const sum = (some: readonly Installed[]): number => some.reduce((total, { bytes }) => total + bytes, 0);
  return { all: sum(packages), production: sum(packages.filter((one) => !one.isForDevelopment)) };
};
