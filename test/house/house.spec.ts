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

const IMPORTED = /^(?:import|export) [^;]*? from '(\.{1,2}\/[^']+)';/gm;

/** Folders of `src` that each folder imports from, types too. */
const importsByFolder = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>();
  const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name}`)
    .filter((path) => path.endsWith('.ts') && !ABOVE_ALL.includes(path));
  for (const path of sources) {
    const from = dirname(path);
    const folders = found.get(from) ?? new Set<string>();
    for (const [, name = ''] of readFileSync(ROOT + path, 'utf8').matchAll(IMPORTED)) {
      const to = dirname(posix.join(from, name));
      if (to !== from && /^src(\/|$)/.test(to)) folders.add(to);
    }
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

  it('has no circle of folders in src: which stands on which has an order', () => {
    const imports = importsByFolder();
    expect([...(imports.get('src/api') ?? [])]).to.include('src/server');
    const circular = [...imports.keys()].filter((folder) => reachedFrom(imports, folder).has(folder));
    expect(circular).to.deep.equal([]);
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
