import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newTempFolder, sweepTempFolders } from '../../kernel/tempFolders.ts';
import { tempFolder } from '../support/tempFolder.ts';

const MODULE = new URL('../../kernel/tempFolders.js', import.meta.url).href;
const MAKER = `
  const { newTempFolder } = await import(process.argv[1]);
  await newTempFolder('child');
  console.log('made');
  setInterval(() => {}, 1000);
`;

const DAY_S = 24 * 60 * 60;

describe('folders for temporary files', () => {
  const { TMPDIR } = process.env;
  const folder = tempFolder();
  before(() => {
    process.env['TMPDIR'] = folder.path;
  });
  after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    folder.remove();
  });
  const names = () => readdirSync(folder.path);

  it('are swept when the process that made them is gone, and not before', async () => {
    const own = await newTempFolder('audit');
    const maker = spawn(process.execPath, ['--input-type=module', '-e', MAKER, MODULE]);
    await once(maker.stdout, 'data');
    expect(await sweepTempFolders()).to.equal(0);
    expect(names()).to.have.lengthOf(2);
    maker.kill('SIGKILL');
    await once(maker, 'exit');
    expect(await sweepTempFolders()).to.equal(1);
    expect(names().map((name) => join(folder.path, name))).to.deep.equal([own]);
  });

  it('are swept where another process has the number of their maker by now', async () => {
    const own = await newTempFolder('child');
    mkdirSync(own.replace(/\.\d+-\w+$/, '.1-ABCDEF'));
    expect(await sweepTempFolders()).to.equal(1);
    expect(names().map((name) => join(folder.path, name))).to.include(own);
  });

  it('of containers that cannot be asked after stay for a day', async () => {
    const others = ['quire-child-00ff00ff00ff.7.5-AAAAAA', 'quire-child-AAAAAA'].map((name) =>
      join(folder.path, name),
    );
    for (const path of others) mkdirSync(path);
    expect(await sweepTempFolders()).to.equal(0);
    const past = Date.now() / 1000 - DAY_S - 60;
    for (const path of others) utimesSync(path, past, past);
    expect(await sweepTempFolders()).to.equal(2);
  });

  it('are folders: what a link of such a name leads to stays', async () => {
    const target = join(folder.path, 'kept');
    mkdirSync(target);
    symlinkSync(target, join(folder.path, 'quire-child-BBBBBB'));
    expect(await sweepTempFolders()).to.equal(0);
    expect(names()).to.include.members(['kept', 'quire-child-BBBBBB']);
  });
});
