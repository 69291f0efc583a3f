import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const PACKAGE = 'sdk';

const TSC = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');

/** Runs the TypeScript compiler; throws what it finds wrong. */
const compile = (...args: readonly string[]): void => {
  const { status, stdout } = spawnSync(process.execPath, [TSC, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
};

/** The compiler rewrites `./x.ts` in code, and leaves it in the types beside it. */
const nameCompiledFiles = (file: string): void => {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/(from '\.{1,2}\/[\w./]+)\.ts'/g, "$1.js'"));
};

/** Compiles the client and its types into `dist` of a folder, each file by itself. */
const buildClient = (folder: string): void => {
  const dist = resolve(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  compile('-p', `${PACKAGE}/tsconfig.json`, '--outDir', dist);
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.d.ts')) nameCompiledFiles(join(dist, path));
};

interface Packed {
  readonly filename: string;
  readonly size: number;
}

/** Builds and packs the client as it would be published, in a folder of its own; the checkout stays as it is. */
export const packClient = (folder: string): { readonly path: string; readonly bytes: number } => {
  buildClient(folder);
  for (const file of ['package.json', 'README.md']) copyFileSync(join(PACKAGE, file), join(folder, file));
  const printed = execFileSync('npm', ['pack', '--json'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(printed) as readonly Packed[];
  if (packed === undefined) throw new Error('npm pack made nothing');
  return { path: join(folder, packed.filename), bytes: packed.size };
};
