import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
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
  .concat('README.md', 'CONTRIBUTING.md', 'engine/README.md', 'sdk/README.md');

/** A file or folder of a room, named in code: `src/main.ts`. Patterns and what a build makes are left out. */
const NAMED = new RegExp(`\`((?:${ROOMS.join('|')})/[\\w./-]*\\w)/?\``, 'g');

/** Files of rooms that a page names and that are not there. */
const missingOn = (page: string): readonly string[] =>
  [...readFileSync(ROOT + page, 'utf8').matchAll(NAMED)]
    .map(([, path = '']) => path)
    .filter((path) => !path.includes('/dist') && !path.includes('node_modules'))
    .filter((path) => ![path, `${dirname(page)}/${path}`].some((at) => existsSync(ROOT + at)))
    .map((path) => `${page}: ${path}`);

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

  it('names no file in its docs that is not there', () => {
    expect(PAGES).to.include('docs/explanation/security.md');
    expect(PAGES.flatMap(missingOn)).to.deep.equal([]);
  });
});
