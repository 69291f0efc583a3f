import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ROOMS = ['engine', 'domain', 'projections', 'adapters', 'src', 'test', 'tools'];
const LOOSE_MAX = 20;

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
});
