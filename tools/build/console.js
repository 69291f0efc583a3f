// Builds the console where a source of it is newer: `console/dist`, with a compressed copy beside each file.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { filesIn, ROOT } from './workspaces.js';

const CONSOLE = join(ROOT, 'console');
const DIST = join(CONSOLE, 'dist');
/** Built beside, and put in place when it is whole. */
const NEXT = join(CONSOLE, 'dist.next');
const STAMP = join(DIST, 'stamp.txt');

const SOURCES = ['console', 'sdk/src'];

/** Changes with every source and with the packages that are installed. */
const stampNow = () => {
  const seen = [...filesIn(SOURCES)]
    .filter(({ path }) => !path.startsWith('console/test/') && !path.startsWith('console/dist'))
    .map(({ path, mtimeMs }) => `${path} ${String(mtimeMs)}`);
  const lock = join(ROOT, 'package-lock.json');
  return createHash('sha256')
    .update([...seen.sort(), existsSync(lock) ? readFileSync(lock, 'utf8') : ''].join('\n'))
    .digest('hex');
};

/** Whether there are sources of it; a copy that is only run has its bundle alone. */
const hasSources = () => existsSync(join(CONSOLE, 'vite.config.ts'));

/** Whether the bundle is what the sources say. */
export const isConsoleFresh = () =>
  !hasSources() || (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stampNow());

const compressed = /\.(?:js|mjs|css|html|svg|json|wasm|map)$/;

const compress = async (file) => {
  const bytes = readFileSync(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, quality),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gz);
};

/** Builds the console and puts it in the place of the one before. */
export const buildConsole = async () => {
  const stamp = stampNow();
  // The console's own release: another part of the workspace has an older one at the root.
  const { resolve } = createRequire(join(CONSOLE, 'package.json'));
  const { build } = await import(pathToFileURL(resolve('vite')).href);
  await build({
    root: CONSOLE,
    configFile: join(CONSOLE, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: NEXT, emptyOutDir: true },
  });
  const files = readdirSync(NEXT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && compressed.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(files.map(compress));
  writeFileSync(join(NEXT, 'stamp.txt'), stamp);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(NEXT, DIST);
};

if (process.argv[1] === import.meta.filename && !isConsoleFresh()) await buildConsole();
