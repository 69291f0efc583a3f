import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

export interface StoreUnderTest {
  readonly store: ObjectStore;
  /** The same objects through a new adapter, as after a restart. */
  reopen(): Promise<ObjectStore>;
  close(): Promise<void>;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (stored: Uint8Array | undefined): string | undefined =>
  stored === undefined ? undefined : Buffer.from(stored).toString();

/** What every object store does, whatever it is made of. */
export function objectStoreContract(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(`object store: ${name}`, () => {
    let subject: StoreUnderTest;
    before(async () => {
      subject = await start();
    });
    after(() => subject.close());

    it('gives back what was put, bytes and empty alike', async () => {
      const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      await subject.store.put('results/a.json', all);
      await subject.store.put('results/empty', bytes(''));
      expect(Buffer.from((await subject.store.get('results/a.json'))!).equals(all)).to.equal(true);
      expect(textOf(await subject.store.get('results/empty'))).to.equal('');
    });

    it('replaces an object as a whole', async () => {
      await subject.store.put('k', bytes('a long first text'));
      await subject.store.put('k', bytes('second'));
      expect(textOf(await subject.store.get('k'))).to.equal('second');
    });

    it('stores a file and streams it', async () => {
      const folder = tempFolder();
      const content = 'line\n'.repeat(100_000);
      await subject.store.putFile('files/big', folder.file('big', content));
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await subject.store.open('files/big'))!) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).to.equal(content);
      folder.remove();
    });

    it('names an object on the disk without a copy, where it lies there', async () => {
      const { store } = subject;
      if (store.link === undefined) return;
      const folder = tempFolder();
      const path = join(folder.path, 'linked');
      await store.put('linked', bytes('as it was'));
      expect(await store.link('linked', path)).to.equal(true);
      await store.put('linked', bytes('as it is now'));
      expect(await readFile(path, 'utf8')).to.equal('as it was');
      await rm(path);
      expect(textOf(await store.get('linked'))).to.equal('as it is now');
      expect(await store.link('none/such', path)).to.equal(false);
      folder.remove();
    });

    it('says undefined for what is not there', async () => {
      expect(await subject.store.get('none/such')).to.equal(undefined);
      expect(await subject.store.open('none/such')).to.equal(undefined);
    });

    it('removes, and does not mind when there is nothing to remove', async () => {
      await subject.store.put('gone', bytes('x'));
      await subject.store.remove('gone');
      await subject.store.remove('gone');
      expect(await subject.store.get('gone')).to.equal(undefined);
    });

    it('holds an object beside others whose keys begin with its own', async () => {
      await subject.store.put('deep', bytes('1'));
      await subject.store.put('deep/er', bytes('2'));
      expect(textOf(await subject.store.get('deep'))).to.equal('1');
      expect(textOf(await subject.store.get('deep/er'))).to.equal('2');
    });

    it('settles concurrent puts of one key on one of them', async () => {
      const texts = Array.from({ length: 8 }, (_, i) => `text ${i}`);
      await Promise.all(texts.map((text) => subject.store.put('same', bytes(text))));
      expect(texts).to.include(textOf(await subject.store.get('same')));
    });

    for (const key of [
      '',
      '../x',
      'a/../b',
      'a//b',
      '/a',
      'a/',
      '.',
      'a/.',
      'a b',
      'a\\b',
      'ä',
      'a\u0000',
      'x'.repeat(600),
    ])
      it(`refuses the key ${JSON.stringify(key.slice(0, 20))}`, async () => {
        const refused: unknown = await subject.store.put(key, bytes('x')).catch((error: unknown) => error);
        expect(refused)
          .to.be.an.instanceOf(Error)
          .with.property('message')
          .that.includes('not an object key');
      });

    it('lists what lies under a prefix, and since when', async () => {
      const { store } = subject;
      const began = Date.now();
      for (const key of ['lists/a', 'lists/b/c', 'lists-not/d', 'listsx']) await store.put(key, bytes(key));
      const found = new Map<string, string>();
      for await (const { key, modified_at, bytes: size } of store.list('lists/')) {
        found.set(key, modified_at);
        expect(size).to.equal(key.length);
      }
      expect([...found.keys()]).to.have.members(['lists/a', 'lists/b/c']);
      for (const modified_at of found.values()) {
        expect(modified_at).to.match(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
        // A store may keep whole seconds.
        expect(Date.parse(modified_at)).to.be.within(began - 2000, Date.now() + 2000);
      }
    });

    it('lists many objects', async () => {
      const { store } = subject;
      const keys = Array.from({ length: 400 }, (_, i) => `many/${String(i)}`);
      for (let at = 0; at < keys.length; at += 50)
        await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, bytes(''))));
      const found: string[] = [];
      for await (const { key } of store.list('many/')) found.push(key);
      expect(found).to.have.members(keys);
      expect(new Set(found).size).to.equal(found.length);
    });

    it('lists nothing under a prefix that no key has, and none that is part of a word', async () => {
      const found: string[] = [];
      for await (const { key } of subject.store.list('no/such/')) found.push(key);
      expect(found).to.deep.equal([]);
      for (const prefix of ['../', 'lis', '/'])
        expect(() => subject.store.list(prefix), prefix).to.throw(/not /);
    });

    it('can be reached', async () => {
      await subject.store.check();
    });

    it('keeps its objects over a restart', async () => {
      await subject.store.put('kept', bytes('still here'));
      expect(textOf(await (await subject.reopen()).get('kept'))).to.equal('still here');
    });
  });
}
