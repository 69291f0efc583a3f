import { pbkdf2 } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { snapshotStore } from '../../../src/audit/compareReadModels.ts';
import { TooManyBytes, writeDigested } from '../../../src/commands/uploads.ts';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';

const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
const ROUNDS = 200_000;

/** Gives each thread that works on files something else to do; tells how many of them are through with it. */
const busyThreads = () => {
  let done = 0;
  const each = Array.from(
    { length: THREADS },
    () =>
      new Promise<void>((resolve) => {
        pbkdf2('a', 'b', ROUNDS, 32, 'sha256', () => {
          done += 1;
          resolve();
        });
      }),
  );
  return { done: () => done, over: Promise.all(each) };
};

async function* leaving(): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  throw new Error('the caller left');
}

async function* given(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

describe('a file that is written while it comes', () => {
  const folder = tempFolder();
  after(() => folder.remove());
  const failing = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => error,
    );

  it('is given up only when its opening has come back: what is removed then is not made after it', async () => {
    const busy = busyThreads();
    const error = await failing(writeDigested(leaving(), join(folder.path, 'left')));
    // no file can be opened before a thread is free
    expect(busy.done()).to.be.greaterThan(0);
    expect(String(error)).to.contain('the caller left');
    await busy.over;
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('tells of a stream that broke off before it was read', async () => {
    const stream = new Readable({ read: () => undefined });
    const writing = failing(writeDigested(stream, join(folder.path, 'broken')));
    stream.destroy(new Error('the line was cut'));
    expect(String(await writing)).to.contain('the line was cut');
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('is removed where it is too long, or ends before its end', async () => {
    const long = await failing(writeDigested(given('12', '34'), join(folder.path, 'long'), 3));
    expect(long).to.be.instanceOf(TooManyBytes);
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('takes the place of no other', async () => {
    const path = join(folder.path, 'other');
    writeFileSync(path, 'of another');
    expect(String(await failing(writeDigested(given('1'), path)))).to.contain('EEXIST');
    expect(readdirSync(folder.path)).to.deep.equal(['other']);
  });
});

describe('the files of a snapshot that does not come whole', () => {
  it('are open when a line was taken, and closed before their folder is removed', async () => {
    const folder = tempFolder();
    const store = snapshotStore(folder.path);
    const busy = busyThreads();
    await store.write('{"table":"balances","row":{}}\n');
    expect(busy.done()).to.be.greaterThan(0);
    await store.close();
    folder.remove();
    await busy.over;
    expect(() => readdirSync(folder.path)).to.throw('ENOENT');
  });
});
