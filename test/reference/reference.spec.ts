import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { referenceDocuments } from '../../src/reference/documents.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

describe('the generated reference', () => {
  for (const [path, text] of Object.entries(referenceDocuments()))
    it(`${path} is as the code says; otherwise run npm run generate`, async () => {
      expect((await readFile(`${ROOT}${path}`, 'utf8')) === text).to.equal(true);
    });
});

describe('the list of decisions', () => {
  it('has all of them', async () => {
    const list = await readFile(`${ROOT}docs/adr/README.md`, 'utf8');
    const files = (await readdir(`${ROOT}docs/adr`)).filter((name) => /^\d/.test(name));
    expect(files.filter((name) => !list.includes(`](${name})`))).to.deep.equal([]);
  });
});
