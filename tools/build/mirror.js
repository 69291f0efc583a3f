import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { build, version } from 'esbuild';
import { init, parse } from 'es-module-lexer';
import { unpackData } from './packageData.js';
import { filesIn, PRODUCT, ROOMS, ROOT, sourceOf } from './workspaces.js';

/** What specs and tools run from: every source compiled by itself, at the place that it has in the checkout. */
export const MIRROR = '.test';

const isCode = (path) => path.endsWith('.ts');
const isData = (path) => /\.(json|csv|sql|wasm|txt)$/.test(path) && !path.endsWith('/package.json');
const inProduct = (path) => PRODUCT.some((room) => path.startsWith(`${room}/`));

/** `test/x.spec.ts` → `.test/test/x.spec.js`, patterns too; what does not end like a source stays. */
export const mirrored = (path) =>
  path.endsWith('.ts') ? posix.join(MIRROR, path.replace(/ts$/, 'js')) : path;

const compiled = (path) => join(ROOT, MIRROR, path.replace(/\.ts$/, '.js'));

/** A compiled file bears the time of its source, so that an older source that takes its place is seen too. */
const isStale = ({ path, mtimeMs }) => {
  const there = statSync(compiled(path), { throwIfNoEntry: false });
  return there === undefined || Math.abs(there.mtimeMs - mtimeMs) > 1;
};

/** A file appears whole or not at all: two runs may compile at the same time. */
const write = (path, contents, mtimeMs) => {
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${String(process.pid)}`;
  writeFileSync(partial, contents);
  utimesSync(partial, mtimeMs / 1000, mtimeMs / 1000);
  renameSync(partial, path);
};

/** The specifier as the compiled file must have it, or undefined where it may stay. */
const moved = (specifier, from) => {
  if (specifier.startsWith('.'))
    return specifier.endsWith('.ts') ? specifier.replace(/ts$/, 'js') : undefined;
  const source = sourceOf(specifier);
  if (source === undefined) return undefined;
  const path = posix.relative(posix.dirname(from), source).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
};

/** Imports of `x.ts` become those of `x.js`, and packages of this repository are found in the mirror. */
export const withMovedImports = (code, from) => {
  let text = code;
  for (const { specifier, start, end } of parse(code)[0].toReversed()) {
    const target = typeof specifier === 'string' ? moved(specifier, from) : undefined;
    if (target === undefined) continue;
    text = text.slice(0, start) + text.slice(start, end).replace(specifier, target) + text.slice(end);
  }
  return text;
};

const compile = async (files) => {
  if (files.length === 0) return;
  const times = new Map(files.map(({ path, mtimeMs }) => [compiled(path), { path, mtimeMs }]));
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: files.map(({ path }) => path),
    outbase: '.',
    outdir: MIRROR,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'linked',
    sourcesContent: false,
    tsconfig: 'tsconfig.json',
    logLevel: 'warning',
  });
  await init;
  // the map first: what is there with the time of its source is whole
  for (const { path, contents } of outputFiles.filter(({ path }) => path.endsWith('.map')))
    write(path, contents, times.get(path.slice(0, -4)).mtimeMs);
  for (const { path, text } of outputFiles.filter(({ path }) => path.endsWith('.js'))) {
    const source = times.get(path);
    write(path, withMovedImports(text, source.path), source.mtimeMs);
  }
};

/** Another compiler or other rules: nothing compiled earlier is kept. */
const dropOfOthers = () => {
  const rules = ['mirror.js', 'workspaces.js'].map(
    (file) => statSync(join(import.meta.dirname, file)).mtimeMs,
  );
  const stamp = JSON.stringify([version, ...rules]);
  const file = join(ROOT, MIRROR, 'stamp.json');
  if (existsSync(file) && readFileSync(file, 'utf8') === stamp) return;
  rmSync(join(ROOT, MIRROR), { recursive: true, force: true });
  write(file, stamp, Date.now());
};

/** What was compiled from sources that are gone: a spec that was deleted must not run. */
const dropOrphans = (files) => {
  const wanted = new Set(files.map(({ path }) => path.replace(/\.ts$/, '.js')));
  const rooms = ROOMS.filter((room) => existsSync(join(ROOT, MIRROR, room))).map(
    (room) => `${MIRROR}/${room}`,
  );
  for (const { path } of filesIn(rooms)) {
    const source = path.slice(MIRROR.length + 1).replace(/\.map$/, '');
    if (!wanted.has(source)) rmSync(join(ROOT, path), { force: true });
  }
};

/** Packages that are installed for tools alone are found from the mirror as from the tools. */
const linkApart = () => {
  const packages = join(ROOT, 'tools/apart/node_modules');
  const link = join(ROOT, MIRROR, 'tools/apart/node_modules');
  if (!existsSync(packages) || existsSync(link)) return;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(packages, link, 'junction');
};

/** Brings the mirror up to date; gives the number of files that were compiled. */
export const mirror = async () => {
  dropOfOthers();
  unpackData();
  const files = [...filesIn(ROOMS)].filter(({ path }) => isCode(path) || (isData(path) && inProduct(path)));
  dropOrphans(files);
  const stale = files.filter(isStale);
  for (const { path, mtimeMs } of stale.filter(({ path }) => !isCode(path)))
    write(compiled(path), readFileSync(join(ROOT, path)), mtimeMs);
  const code = stale.filter(({ path }) => isCode(path));
  await compile(code);
  linkApart();
  return code.length;
};
