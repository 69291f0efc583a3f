import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { statOf } from '../../engine/kernel/tempFolders.ts';
import { DataDirInUse } from '../../domain/ports/services.ts';
import { dataDirOwner, lockDataDir, ownerIn, RESTORING } from '../../adapters/local/dataFolder.ts';

const ADAPTER = new URL('../../adapters/local/dataFolder.js', import.meta.url).href;
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

  it('is free after a kill also while nobody has asked how its owner ended', async () => {
    // the shell becomes a program that has a child and does not know of it
    const script = '"$0" --input-type=module -e "$1" "$2" "$3" & exec sleep 600';
    const parent = spawn('/bin/sh', ['-c', script, process.execPath, HOLDER, ADAPTER, dataDir]);
    await once(parent.stdout, 'data');
    const { owner } = await dataDirOwner(dataDir);
    process.kill(owner?.pid ?? 0, 'SIGKILL');
    const lock = await lockDataDir(dataDir, lostNothing);
    expect(statOf(owner?.pid ?? 0)?.[0]).to.equal('Z');
    await lock.release();
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });

  it('is taken at once where another process has the number of its owner by now', async () => {
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, ADAPTER, dataDir]);
    await once(holder.stdout, 'data');
    const path = join(dataDir, 'owner.pid');
    const [, ...others] = readFileSync(path, 'utf8').split(' ');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    for (const pid of [process.ppid, process.pid]) {
      writeFileSync(path, [pid, ...others].join(' '));
      const renewed = new Date();
      mkdirSync(join(dataDir, 'owner.lock'), { recursive: true });
      utimesSync(join(dataDir, 'owner.lock'), renewed, renewed);
      expect((await dataDirOwner(dataDir)).isRunning).to.equal(false);
      await (await lockDataDir(dataDir, lostNothing)).release();
    }
  });

  it('is not taken by the number of a process in another container, whatever that is here', async () => {
    mkdirSync(join(dataDir, 'owner.lock'));
    writeFileSync(join(dataDir, 'owner.pid'), `4194304 ${hostname()} 5150 0-a:4\n`);
    const renewing = setInterval(() => utimesSync(join(dataDir, 'owner.lock'), new Date(), new Date()), 500);
    const refusal: unknown = await lockDataDir(dataDir, lostNothing).catch((error: unknown) => error);
    clearInterval(renewing);
    expect(refusal).to.be.instanceOf(DataDirInUse);
  });

  it('is taken from a process of another host only when it has given no sign of life for seconds', async () => {
    mkdirSync(join(dataDir, 'owner.lock'));
    writeFileSync(join(dataDir, 'owner.pid'), '4194304 another-host\n');
    expect(await dataDirOwner(dataDir)).to.include({ isLocked: true, isHere: false, isRunning: false });
    const began = performance.now();
    const lock = await lockDataDir(dataDir, lostNothing);
    expect(performance.now() - began).to.be.greaterThan(3_000);
    await lock.release();
  });

  it('says who has it: host, process, and how that was started', async () => {
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, ADAPTER, dataDir]);
    await once(holder.stdout, 'data');
    const found = await dataDirOwner(dataDir);
    expect(found).to.include({ isLocked: true, isHere: true, isRunning: true, isRestoring: false });
    expect(found.owner).to.include({ pid: holder.pid, host: hostname() });
    const refusal: unknown = await lockDataDir(dataDir, lostNothing).catch((error: unknown) => error);
    expect((refusal as Error).message).to.contain(`kill ${String(holder.pid)}`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect((await dataDirOwner(dataDir)).isRunning).to.equal(false);
  });

  it('reads what earlier releases wrote, and nothing into other texts', () => {
    const unsaid = { host: undefined, started: undefined, realm: undefined };
    expect(ownerIn('77\n')).to.deep.equal({ ...unsaid, pid: 77 });
    expect(ownerIn('77 box-2\n')).to.deep.equal({ ...unsaid, pid: 77, host: 'box-2' });
    expect(ownerIn('77 box-2 5150 0-a:4\n')).to.deep.equal({
      pid: 77,
      host: 'box-2',
      started: '5150',
      realm: '0-a:4',
    });
    for (const text of ['', '0', '-1', 'x 1', '99999999999', '7 a b'])
      expect(ownerIn(text)).to.equal(undefined);
  });

  it('says what to do where the folder cannot be used', async () => {
    const file = join(dataDir, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below')]) {
      const refusal: unknown = await lockDataDir(path, lostNothing).catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(DataDirInUse);
      expect((refusal as Error).message)
        .to.contain('cannot be used')
        .and.to.contain('DATA_DIR');
    }
  });

  it('is refused while a restore is not finished, and leaves nothing locked', async () => {
    mkdirSync(join(dataDir, RESTORING));
    const refusal: unknown = await lockDataDir(dataDir, lostNothing).catch((error: unknown) => error);
    expect((refusal as Error).message).to.contain('quire restore');
    await (await lockDataDir(dataDir, lostNothing, { whileRestoring: true })).release();
  });

  it('can be taken again after a release', async () => {
    await (await lockDataDir(dataDir, lostNothing)).release();
    await (await lockDataDir(dataDir, lostNothing)).release();
  });
});
