import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The checkout. */
export const ROOT = join(import.meta.dirname, '../..');

const jsonOf = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Folders of this repository that are packages of their own, by the names that they are imported by. */
const packages = new Map(
  (jsonOf(join(ROOT, 'package.json')).workspaces ?? []).map((folder) => {
    const { name, exports } = jsonOf(join(ROOT, folder, 'package.json'));
    return [name, { folder, exports: typeof exports === 'string' ? { '.': exports } : exports }];
  }),
);

/** The file that one entry of `exports` names, whatever the conditions it stands under. */
const targetOf = (entry) =>
  typeof entry === 'string' ? entry : targetOf(entry.source ?? entry.import ?? entry.default ?? entry.types);

/** `@quire/engine/x` → `engine/x.ts` by that package's `exports`; undefined for packages from elsewhere. */
export const sourceOf = (specifier) => {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const own = packages.get(name);
  if (own === undefined) return undefined;
  const wanted = `.${specifier.slice(name.length)}`;
  for (const [key, entry] of Object.entries(own.exports)) {
    const [start, end] = key.split('*');
    const isPattern = end !== undefined && wanted.startsWith(start) && wanted.endsWith(end);
    if (wanted !== key && !isPattern) continue;
    const part = isPattern ? wanted.slice(start.length, wanted.length - end.length) : '';
    return posix.join(own.folder, targetOf(entry).replace('*', part).replace(/\.js$/, '.ts'));
  }
  throw new Error(`${name} does not export ${wanted}`);
};

/** Folders with sources of the service. */
export const PRODUCT = ['engine', 'sdk', 'domain', 'projections', 'adapters', 'src'];

/** All folders with TypeScript; those that are not there are passed over. */
export const ROOMS = [...PRODUCT, 'console/src', 'console/test', 'test', 'tools'];

const skipped = new Set(['node_modules', 'dist']);

/** Every file below the folders, as `folder/…/name`, with its times and size. */
export function* filesIn(folders) {
  for (const folder of folders) {
    const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skipped.has(entry.name)) yield* filesIn([path]);
      if (entry.isFile()) yield { path, mtimeMs: statSync(join(ROOT, path)).mtimeMs };
    }
  }
}
