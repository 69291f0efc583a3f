import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { seededRandom } from '../../engine/test/support/random.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const quire = (cwd: string, args: readonly string[]): Promise<Ran> =>
  new Promise((done) => {
    const { PATH = '', HOME = '' } = process.env;
    const options = { cwd, env: { PATH, HOME } };
    execFile(process.execPath, [resolve('bin/quire.js'), ...args], options, (error, out, err) => {
      done({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });

const SCHEMA = {
  type: 'object',
  properties: { voucher: { type: 'string' }, fee: { type: 'number' } },
  required: ['voucher'],
};

describe('training on the command line', () => {
  let folder: TempFolder;
  const random = seededRandom(11);

  /** A form whose labels say nothing to anybody, and what is right for it. */
  const put = (below: string, name: string): { readonly voucher: string; readonly fee: number } => {
    const right = { voucher: `KX-${random.between(1000, 9999)}`, fee: random.between(100, 99_999) / 100 };
    const other = random.between(100, 99_999) / 100;
    mkdirSync(join(folder.path, below), { recursive: true });
    const text =
      `Hixel blatt\n\nPlimtar: ${right.voucher}\nQuendrel: ${other.toFixed(2)}\nVostrel: ` +
      `${right.fee.toFixed(2)}\nGrontab: KX-1\n`;
    writeFileSync(join(folder.path, below, `${name}.txt`), text);
    writeFileSync(join(folder.path, below, `${name}.expected.json`), JSON.stringify(right));
    return right;
  };

  before(() => {
    folder = tempFolder();
    folder.file('schema.json', JSON.stringify(SCHEMA));
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) put('taught', name);
    for (const name of ['x', 'y']) put('others', name);
    writeFileSync(join(folder.path, 'taught', 'alone.txt'), 'nobody knows what is right here');
  });
  after(() => folder.remove());

  it('learns a folder, scores it on others, and extracts with what it learned', async () => {
    const train = await quire(folder.path, ['train', 'taught', '--schema', 'schema.json', '--out', 'a.json']);
    expect(train.code, train.err).to.equal(0);
    expect(train.err).to.include('alone.txt: left out').and.to.include('better than no training');
    expect(train.out).to.match(/^\/voucher +0\.000 +1\.000$/m);
    const asked = ['--schema', 'schema.json', '--artifact', 'a.json'];
    const scores = await quire(folder.path, ['eval', 'others', ...asked]);
    expect(scores.code, scores.err).to.equal(0);
    expect(scores.out).to.match(/^all +0\.000 +1\.000$/m);
    const right = put('others', 'z');
    const extracted = await quire(folder.path, ['extract', 'others/z.txt', ...asked]);
    expect(extracted.code, extracted.err).to.equal(0);
    expect(JSON.parse(extracted.out)).to.deep.include({ status: 'success', result: right });
  });

  it('writes the same bytes again', async () => {
    const again = await quire(folder.path, ['train', 'taught', '--schema', 'schema.json', '--out', 'b.json']);
    expect(again.code).to.equal(0);
    const [one, two] = ['a.json', 'b.json'].map((name) => readFileSync(join(folder.path, name), 'utf8'));
    expect(one).to.equal(two);
  });

  it('says what is missing or wrong', async () => {
    mkdirSync(join(folder.path, 'bare'));
    writeFileSync(join(folder.path, 'bare', 'one.txt'), 'text');
    folder.file('no.json', '{"kind":"local"}');
    const bare = await quire(folder.path, ['train', 'bare', '--schema', 'schema.json']);
    expect(bare).to.include({ code: 2 });
    expect(bare.err).to.include('at least 2 are needed');
    const artifact = await quire(folder.path, [
      'eval',
      'others',
      '--schema',
      'schema.json',
      '--artifact',
      'no.json',
    ]);
    expect(artifact).to.include({ code: 2 });
    expect(artifact.err).to.include('no artifact that this version reads');
    const seed = await quire(folder.path, ['train', 'taught', '--schema', 'schema.json', '--seed', 'x']);
    expect(seed.code).to.equal(2);
  });
});
