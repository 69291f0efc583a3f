import { readFileSync, copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { createHash } from 'node:crypto';
import { ROOT, filesIn, PRODUCT } from './workspaces.js';
import { unpackData } from './packageData.js';

/** What is started by hand, and what programs import as `@quire/engine`. */
const STARTED = ['src/main.ts', 'src/cli.ts', 'engine/index.ts'];

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

const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, 'stamp.txt');

/**
 * Packages that stay where they are installed: with native code or files of their own, and those that are
 * loaded only when they are asked for, which a start need not bundle.
 */
const INSTALLED = [
  '@ai-sdk/*',
  '@ax-llm/ax',
  '@cwasm/nsbmp',
  '@electric-sql/*',
  '@eventstore/db-client',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-node',
  '@pydantic/genai-prices',
  'ai',
  'iconv-lite',
  'ioredis',
  'libsql',
  'minio',
  'pg',
  'rate-limiter-flexible',
  'sharp',
  'undici',
];

/** Packages written for `require` find it, and the folder that they believe to lie in. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

/** Of zod's messages in fifty languages the service speaks one: the others need not be read at each start. */
const ONE_LANGUAGE = {
  name: 'one-language',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    })),
};

const options = (modules) => ({
  absWorkingDir: ROOT,
  entryPoints: modules,
  entryNames: '[name]',
  chunkNames: 'chunk-[hash]',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  external: INSTALLED,
  platform: 'node',
  mainFields: ['module', 'main'],
  conditions: ['source'],
  format: 'esm',
  target: 'node20.19',
  banner: { js: REQUIRE },
  // less to read at each start; names stay, for stack traces
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [ONE_LANGUAGE],
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
});

const sources = () =>
  [...filesIn(PRODUCT), ...filesIn(['tools/build'])].filter(({ path }) => !path.startsWith('engine/test/'));

/** Changes with every source, with the packages that are installed, and with the rules of the build. */
const stampOf = (files) => {
  const others = ['package-lock.json', 'package.json'].map((path) => {
    const file = join(ROOT, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  });
  const seen = files.map(({ path, mtimeMs }) => `${path} ${String(mtimeMs)}`).sort();
  return createHash('sha256')
    .update([...seen, ...others].join('\n'))
    .digest('hex');
};

/** Whether what runs is what the sources say. */
export const isFresh = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stampOf(sources());

/** Removes what earlier builds left, and nothing else of the folder than code. */
const dropOthers = (outputs) => {
  const kept = new Set([
    'tessdata',
    'swagger-ui',
    'fonts',
    'stamp.txt',
    ...outputs.map((path) => basename(path)),
  ]);
  for (const name of readdirSync(DIST)) {
    if (!kept.has(name) && !name.startsWith('.')) rmSync(join(DIST, name), { recursive: true, force: true });
  }
};

/** Bundles the service into few files in `dist/`. */
export const bundle = async () => {
  const files = sources();
  const stamp = stampOf(files);
  rmSync(STAMP, { force: true });
  const { build } = await import('esbuild');
  const { modules, data } = entriesOf(files.map(({ path }) => path).filter((path) => path.endsWith('.ts')));
  const [{ metafile }] = await Promise.all([build(options(modules)), unpackData()]);
  for (const path of data) copyFileSync(join(ROOT, path), join(DIST, basename(path)));
  dropOthers([...Object.keys(metafile.outputs), ...data]);
  writeFileSync(STAMP, stamp);
};

/** Bundles again with every change, until the process is ended. */
export const watch = async () => {
  await bundle();
  const { context } = await import('esbuild');
  const { modules } = entriesOf(
    sources()
      .map(({ path }) => path)
      .filter((path) => path.endsWith('.ts')),
  );
  await (await context({ ...options(modules), logLevel: 'info' })).watch();
};
