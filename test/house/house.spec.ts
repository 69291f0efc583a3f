import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ROOMS = ['engine', 'sdk', 'domain', 'projections', 'adapters', 'src', 'test', 'tools'];
const LOOSE_MAX = 40;

interface Folder {
  readonly path: string;
  /** Sources that lie in it, those of its folders left out. */
  readonly sources: number;
}

const foldersIn = (path: string): readonly Folder[] => {
  const entries = readdirSync(ROOT + path, { withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts')).length;
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules');
  return [{ path, sources }, ...inner.flatMap(({ name }) => foldersIn(`${path}/${name}`))];
};

const PAGES = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .concat('README.md', 'CONTRIBUTING.md', 'engine/README.md', 'sdk/README.md', 'sdk-python/README.md');

/** A file or folder of a room, named in code: `src/main.ts`. Patterns and what a build makes are left out. */
const NAMED = new RegExp(`\`((?:${ROOMS.join('|')})/[\\w./-]*\\w)/?\``, 'g');

/** Files of rooms that a page names and that are not there. */
const missingOn = (page: string): readonly string[] =>
  [...readFileSync(ROOT + page, 'utf8').matchAll(NAMED)]
    .map(([, path = '']) => path)
    .filter((path) => !path.includes('/dist') && !path.includes('node_modules'))
    .filter((path) => ![path, `${dirname(page)}/${path}`].some((at) => existsSync(ROOT + at)))
    .map((path) => `${page}: ${path}`);

/** What starts the service and its commands stands above all folders. */
const ABOVE_ALL = ['src/main.ts', 'src/cli.ts'];

/** Rooms of the product; of the engine and the console without their specs. */
const PRODUCT = ['domain', 'projections', 'adapters', 'src', 'engine', 'console/src', 'sdk/src', 'tools'];

/** What a path or a specifier of the engine names, loaded at once or later. */
const IMPORTED = /^(?:import|export)\s(?:[^;]*?\sfrom\s)?'([^']+)';|\bimport\(\s*'([^']+)'\s*\)/gm;

const ENGINE = '@quire/engine/';

const sourcesIn = (room: string): readonly string[] =>
  readdirSync(ROOT + room, { recursive: true, encoding: 'utf8' })
    .map((name) => `${room}/${name}`)
    .filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist|generated)\//.test(path));

/** What each source imports, types too: paths of sources. */
const importsOf = (path: string): ReadonlySet<string> => {
  const names = [...readFileSync(ROOT + path, 'utf8').matchAll(IMPORTED)].map(
    ([, now, later]) => now ?? later ?? '',
  );
  return new Set(
    names
      .map((name) =>
        name.startsWith(ENGINE) ? `engine/${name.slice(ENGINE.length)}.ts` : posix.join(dirname(path), name),
      )
      .filter((at) => existsSync(ROOT + at)),
  );
};

/** Folders that each folder of a room imports from, types too. */
const importsByFolder = (room: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>();
  const sources = sourcesIn(room).filter((path) => !path.startsWith('engine/test/'));
  for (const path of sources.filter((one) => !ABOVE_ALL.includes(one))) {
    const from = dirname(path);
    const folders = found.get(from) ?? new Set<string>();
    for (const to of [...importsOf(path)].map((one) => dirname(one)))
      if (to !== from && (to === room || to.startsWith(`${room}/`))) folders.add(to);
    found.set(from, folders);
  }
  return found;
};

/** Folders that are reached from `start` by imports. */
const reachedFrom = (
  imports: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
): ReadonlySet<string> => {
  const reached = new Set<string>();
  const next = [...(imports.get(start) ?? [])];
  for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
    if (reached.has(folder)) continue;
    reached.add(folder);
    next.push(...(imports.get(folder) ?? []));
  }
  return reached;
};

const circularIn = (room: string): readonly string[] => {
  const imports = importsByFolder(room);
  return [...imports.keys()].filter((folder) => reachedFrom(imports, folder).has(folder)).sort();
};

/** The reading of values is built anew: how many of its folders are in circles may only fall. */
const READING = /^engine\/(extraction|reader|learning)(\/|$)/;
const READING_IN_CIRCLES = 22;

/** A file with one importer and fewer lines than this is a crumb: it is read with the one that imports it. */
const CRUMB_LINES = 60;
const CRUMBS = 10;

/** Entries of a page or a thread of their own, which what loads them names. */
const LOADED_APART =
  /(^console\/src\/pages\/[^/]+\/index\.tsx|\/commands\.tsx|[wW]orker\.ts|Thread\.ts|Hostile\.ts)$/;

const crumbs = (): readonly string[] => {
  const importers = new Map<string, Set<string>>();
  for (const path of [...PRODUCT, 'test', 'console/test'].flatMap(sourcesIn))
    for (const at of importsOf(path)) importers.set(at, (importers.get(at) ?? new Set()).add(path));
  return PRODUCT.flatMap(sourcesIn).filter(
    (path) =>
      !path.includes('/test/') &&
      !LOADED_APART.test(path) &&
      importers.get(path)?.size === 1 &&
      readFileSync(ROOT + path, 'utf8').split('\n').length - 1 < CRUMB_LINES,
  );
};

describe('the house', () => {
  const folders = ROOMS.flatMap(foldersIn);

  it('has no folder with more files loose in it than a reader takes in', () => {
    const full = folders.filter(({ sources }) => sources > LOOSE_MAX);
    expect(full.map(({ path, sources }) => `${path}: ${String(sources)}`)).to.deep.equal([]);
  });

  it('has no folder whose name says nothing', () => {
    const vague = folders.filter(({ path }) => /\/(utils?|helpers?|common|shared|misc|types)$/.test(path));
    expect(vague.map(({ path }) => path)).to.deep.equal([]);
  });

  it('reads imports of all kinds', () => {
    expect([...(importsByFolder('src').get('src/api') ?? [])]).to.include('src/server');
    expect(
      [...importsOf('src/commands/savedConfigs.ts')].some((path) => path.startsWith('engine/')),
    ).to.equal(true);
    expect([...importsOf('console/src/app/pages.ts')]).to.include('console/src/pages/books/index.tsx');
  });

  for (const room of PRODUCT)
    it(`has no circle of folders in ${room}: which stands on which has an order`, () => {
      expect(circularIn(room).filter((folder) => !READING.test(folder))).to.deep.equal([]);
    });

  it('has no more folders in circles where values are read than before', () => {
    expect(circularIn('engine').filter((folder) => READING.test(folder)).length).to.be.at.most(
      READING_IN_CIRCLES,
    );
  });

  it('has few files that are read with one other alone', () => {
    const found = crumbs();
    expect(found.length, found.join('\n')).to.be.at.most(CRUMBS);
  });

  it('names no file in its docs that is not there', () => {
    expect(PAGES).to.include('docs/explanation/security.md');
    expect(PAGES.flatMap(missingOn)).to.deep.equal([]);
  });

  /** Lines that a reader takes in: what a newcomer needs, and the aims with today's table. */
  for (const [page, most] of [
    ['README.md', 80],
    ['docs/reference/benchmarks.md', 150],
  ] as const)
    it(`keeps ${page} within ${String(most)} lines`, () => {
      expect(readFileSync(ROOT + page, 'utf8').split('\n').length - 1).to.be.at.most(most);
    });
});
