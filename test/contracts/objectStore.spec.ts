import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openObjectFolder } from '../../adapters/embedded/objectFolder.ts';
import { openMinioObjectStore } from '../../adapters/minio/objectStore.ts';
import { startS3 } from '../support/s3Server.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { objectStoreContract } from './objectStore.contract.ts';

objectStoreContract('folder', async () => {
  const folder = tempFolder();
  return {
    store: await openObjectFolder(folder.path),
    reopen: () => openObjectFolder(folder.path),
    close: () => {
      folder.remove();
      return Promise.resolve();
    },
  };
});

objectStoreContract('S3', async () => {
  const server = await startS3();
  const open = () => openMinioObjectStore(server.options);
  return { store: await open(), reopen: open, close: server.close };
});

describe('object folder', () => {
  it('clears what a crash left half written', async () => {
    const folder = tempFolder();
    const incoming = join(folder.path, 'incoming');
    mkdirSync(incoming);
    writeFileSync(join(incoming, 'half'), 'x');
    await openObjectFolder(folder.path);
    expect(readdirSync(incoming)).to.deep.equal([]);
    folder.remove();
  });

  it('leaves nothing behind when a file to store is not there', async () => {
    const folder = tempFolder();
    const store = await openObjectFolder(folder.path);
    const failed: unknown = await store
      .putFile('k', join(folder.path, 'none'))
      .catch((error: unknown) => error);
    expect(failed).to.be.an.instanceOf(Error);
    expect(readdirSync(join(folder.path, 'incoming'))).to.deep.equal([]);
    expect(existsSync(join(folder.path, 'objects', 'k.bin'))).to.equal(false);
    folder.remove();
  });
});
