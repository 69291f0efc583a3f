import { readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { ROOT } from './workspaces.js';

/** What is started by hand. */
const STARTED = ['src/main.ts', 'src/cli.ts'];

const BESIDE = /new URL\('\.\/([\w.]+)', import\.meta\.url\)/g;

/** What sources name beside themselves: modules that run in processes and threads of their own, and data. */
const named = (sources) =>
  sources.flatMap((source) =>
    [...readFileSync(join(ROOT, source), 'utf8').matchAll(BESIDE)].map(([, name]) =>
      posix.join(posix.dirname(source), name),
    ),
  );

/** All lie in one folder when they are bundled, so no two may have one name. */
const byName = (paths) => {
  const found = new Map();
  for (const path of paths) {
    const other = found.get(basename(path)) ?? path;
    if (other !== path) throw new Error(`${path} and ${other} would be one file of the bundle: rename one`);
    found.set(basename(path), path);
  }
  return [...found.values()];
};

/** Modules that the bundle has a file for, and data files that lie beside them. */
export const entriesOf = (sources) => {
  const beside = byName([...STARTED, ...named(sources)]);
  return {
    modules: beside.filter((path) => /\.[jt]s$/.test(path)).map((path) => path.replace(/\.js$/, '.ts')),
    data: beside.filter((path) => !/\.[jt]s$/.test(path)),
  };
};
