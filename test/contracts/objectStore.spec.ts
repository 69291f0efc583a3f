import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { clientOf, objectsIn, openMinioObjectStore } from '../../adapters/minio.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { guardedObjects, ObjectStoreFailed } from '../../src/commands/uploads.ts';
import { taken } from '../support/logs/eventLogProbe.ts';
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

describe('an answer of S3 that is cut short', () => {
  const object = 'half of an object';
  // Up to where a parser that forgives takes it for the last page of a list.
  const list =
    '<?xml version="1.0"?><ListBucketResult><Name>quire</Name><Contents><Key>k</Key>' +
    '<LastModified>2026-01-31T08:00:00.000Z</LastModified><Size>5</Size></Contents>';
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  /** How an answer says where it ends, and what comes of it before the connection does. */
  const ways: Readonly<Record<string, (text: string) => string>> = {
    'of a length': (text) => `Content-Length: ${text.length * 2}\r\n\r\n${text}`,
    'in chunks': (text) => `Transfer-Encoding: chunked\r\n\r\n${chunk(text)}`,
    'that does not say where it ends': (text) => `Connection: close\r\n\r\n${text}`,
  };
  const reads: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
    get: (store) => store.get('k'),
    open: async (store) => taken((await store.open('k'))!),
    list: (store) => taken(store.list('')),
  };
  for (const [way, cut] of Object.entries(ways))
    for (const [name, read] of Object.entries(reads))
      it(`is no whole one: ${name}, ${way}`, async () => {
        const server = createServer((caller) => {
          caller.on('error', () => undefined);
          caller.once('data', () => caller.end(`HTTP/1.1 200 OK\r\n${cut(name === 'list' ? list : object)}`));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const secrets = { bucket: 'quire', accessKey: 'a', secretKey: 'b', region: 'us-east-1' };
        const client = clientOf({ endpoint: `http://127.0.0.1:${port}`, ...secrets });
        const store = guardedObjects(objectsIn(client, 'quire'));
        const failure = await read(store).catch((error: unknown) => error);
        server.close();
        expect(failure).to.be.instanceOf(ObjectStoreFailed);
      });
});
