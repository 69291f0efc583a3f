// Builds the console where a source of it is newer: `console/dist`, with a compressed copy beside each file. With
// --smallest the copies are as small as they get.
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

/**
 * Qualities of Brotli and gzip, from the quickest on. A start waits a fifth of a second for the quick one; what an
 * image carries takes six seconds more of a core and is a tenth smaller.
 */
const COMPRESSED = { quick: { brotli: 6, gzip: 6 }, smallest: { brotli: 11, gzip: 9 } };

/** The quality that a command asks for. */
export const askedQuality = () => (process.argv.includes('--smallest') ? 'smallest' : 'quick');

/** Whether the bundle is what the sources say, and compressed as well as asked or better. */
export const isConsoleFresh = (quality = 'quick') => {
  if (!hasSources()) return true;
  if (!existsSync(STAMP)) return false;
  const [stamp, is] = readFileSync(STAMP, 'utf8').split(' ');
  return COMPRESSED[is]?.brotli >= COMPRESSED[quality].brotli && stamp === stampNow();
};

const isText = (name) => /\.(?:js|mjs|css|svg|wasm)$/.test(name);

const compress = async (file, { brotli, gzip: level }) => {
  const bytes = readFileSync(file);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotli } }),
    promisify(gzip)(bytes, { level }),
  ]);
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gz);
};

/** Builds the console and puts it in the place of the one before. */
export const buildConsole = async (quality = 'quick') => {
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
  // The page itself is not among them: each answer writes into it.
  const files = readdirSync(join(NEXT, 'assets'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && isText(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(files.map((file) => compress(file, COMPRESSED[quality])));
  writeFileSync(join(NEXT, 'stamp.txt'), `${stamp} ${quality}`);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(NEXT, DIST);
};

if (process.argv[1] === import.meta.filename && !isConsoleFresh(askedQuality()))
  await buildConsole(askedQuality());
