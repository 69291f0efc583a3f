import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspaces.js';

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
