import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DataDirInUse, lockDataDir } from '../../adapters/embedded/dataDirLock.ts';

const ADAPTER = new URL('../../adapters/embedded/dataDirLock.js', import.meta.url).href;
const HOLDER = `
  const { lockDataDir } = await import(process.argv[1]);
  await lockDataDir(process.argv[2], () => {});
  console.log('locked');
  setInterval(() => {}, 1000);
`;

const lostNothing = () => {
  throw new Error('the lock was lost');
};

describe('the lock of the data folder', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'quire-lock-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('keeps a second process out, names the first, and is free again after a kill', async () => {
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, ADAPTER, dataDir]);
    await once(holder.stdout, 'data');
    const refusal: unknown = await lockDataDir(dataDir, lostNothing).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(DataDirInUse);
    expect((refusal as Error).message)
      .to.include(String(holder.pid))
      .and.to.include('DATA_DIR');

    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const lock = await lockDataDir(dataDir, lostNothing);
    await lock.release();
  });

  it('can be taken again after a release', async () => {
    await (await lockDataDir(dataDir, lostNothing)).release();
    await (await lockDataDir(dataDir, lostNothing)).release();
  });
});
