import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { VERSION } from '../../src/version.ts';
import { readDescription } from './description.ts';
import { generatedModules, modules, pythonFiles } from './python.ts';
import { docstring, fitted } from './pythonText.ts';

describe('the Python client, as it is generated', () => {
  const files = pythonFiles(readDescription());

  it('is what the description makes, and no more', () => {
    const differing = [...files].filter(
      ([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
    );
    expect(differing.map(([path]) => path)).to.deep.equal([]);
    expect(generatedModules().filter((path) => !files.has(path))).to.deep.equal([]);
  });

  it('has no name for a choice of nothing, which Python does not read', () => {
    for (const [path, text] of files) expect(text, path).not.to.match(/Union\[\s*\]/);
  });

  it('has one meaning of each name', () => {
    const models = files.get('sdk-python/src/quire_client/models.py') ?? '';
    const names = [...models.matchAll(/^(?:class )?(\w+)(?:\(TypedDict\):$| = )/gm)].map(([, name]) => name);
    expect(names.length).to.be.above(100);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).to.deep.equal([]);
  });

  it('has the version of the service', () => {
    expect(readFileSync('sdk-python/pyproject.toml', 'utf8')).to.contain(`\nversion = "${VERSION}"\n`);
  });

  it('blocks where the other half waits, in the package and in its tests', () => {
    const blocking = [...files].filter(([path]) => path.includes('/_sync/'));
    expect(blocking.length).to.be.above(4);
    for (const [path, text] of blocking)
      expect(text, path).not.to.match(/(?<!-)\basync\b|\bawait\b|Async|asyncio/);
  });

  it('has no line that is longer than 100 characters', () => {
    const long = modules().filter((path) => /^.{101}/m.test(readFileSync(path, 'utf8')));
    expect(long).to.deep.equal([]);
  });

  it('breaks lines at brackets, not in strings, and ends a docstring where it ends', () => {
    const word = 'x'.repeat(40);
    const line = `    a: Literal["(${word},", "[${word}", "b"] | None`;
    expect(fitted(line)).to.equal(
      `    a: Literal[\n        "(${word},",\n        "[${word}",\n        "b",\n    ] | None\n`,
    );
    expect(fitted('    a: str')).to.equal('    a: str\n');
    expect(docstring(['a """ of \\d and "b"'], '')).to.equal(`"""a ''' of \\\\d and "b" """\n`);
  });
});
