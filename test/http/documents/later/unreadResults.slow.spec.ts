import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../../../engine/test/support/tempFolder.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { startService, type ServiceProcess } from '../../../support/serviceProcess.ts';
import { client, formOf, type Client } from '../../support/client.ts';
import { startApi } from '../../support/testApi.ts';

const READERS = 150;
const MB = 1_000_000;
/** What so many readers may cost more, bytes. */
const MEMORY_MAX = 200 * MB;
/** A text of 2.4 MB: as markdown and as plain text it is an answer of five. */
const LONG = 'Lorem ipsum dolor sit amet.\n'.repeat(85_000);
const LATER = { prefer: 'respond-async' };
/** How often one asks whether it has ended, ms: more seldom than a tenant's bucket is filled, 50 a second. */
const ASKED_MS = 100;

const residentOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
};

describe('results that nobody reads', () => {
  let folder: TempFolder;
  let service: ServiceProcess;
  let admin: Client;
  let key: string;
  const open = new Set<Socket>();
  before(async () => {
    folder = tempFolder();
    service = await startService(join(folder.path, 'data'));
    admin = client(service.url);
    key = await admin.newKey('acme');
    await admin.sell('acme', 1_000_000);
  });
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open.clear();
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const ended = async (): Promise<string> => {
    const form = formOf({ tenant_id: 'acme', conversion_mode: 'fast' }, new Blob([LONG]), 'long.txt');
    const accepted = await admin.call('post', '/v1/to-markdown', { key, form, headers: LATER });
    expect(accepted.status, accepted.text).to.equal(202);
    const path = `/v1/operations/${String(accepted.body['operation_id'])}`;
    await until(async () => {
      const { status, error } = (await admin.call('get', path, { key })).body;
      expect(status, JSON.stringify(error)).not.to.equal('failed');
      return status === 'succeeded';
    }, ASKED_MS);
    return path;
  };

  /** Asks, reads the head of the answer and no more; gives its status. */
  const unread = async (path: string): Promise<number> => {
    const { port, host } = new URL(service.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    open.add(socket);
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(first.toString('latin1'))?.[1]);
  };

  it('cost no memory, and keep no other reader waiting', async () => {
    const path = await ended();
    const whole = await admin.call('get', path, { key });
    expect(whole.text.length).to.be.above(4 * MB);
    const before = await residentOf(service.pid);
    const statuses = await Promise.all(Array.from({ length: READERS }, () => unread(path)));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    const again = await admin.call('get', path, { key });
    expect(again.text).to.equal(whole.text);
    expect((await residentOf(service.pid)) - before).to.be.below(MEMORY_MAX);
  });

  it('hold up their own tenant and no other, until they are read or cut off', async () => {
    const api = await startApi({}, undefined, { unreadBytesMax: 1, silentMs: 500 });
    try {
      await api.sell('slow', 100_000);
      const [slow, other] = [await api.newKey('slow'), await api.newKey('other')];
      const text = 'Lorem ipsum dolor sit amet.\n'.repeat(34_000);
      const form = formOf({ tenant_id: 'slow', conversion_mode: 'fast' }, new Blob([text]));
      const later = { key: slow, form, headers: { prefer: 'respond-async' } };
      const { body } = await api.call('post', '/v1/to-markdown', later);
      const path = `/v1/operations/${String(body['operation_id'])}`;
      await until(async () => {
        await api.operations.drain();
        return (await api.call('get', path, { key: slow })).body['status'] === 'succeeded';
      });
      const { host, port } = new URL(api.url);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      // Of several answers that it asks for at once, more than the system's buffers take.
      for (let n = 0; n < 8; n += 1)
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${slow}\r\n\r\n`);
      await once(socket, 'data');
      socket.pause();
      const balance = (key: string, tenant: string) =>
        api.call('get', `/v1/billing/balance/${tenant}`, { key });
      const refused = await balance(slow, 'slow');
      expect([refused.status, refused.body['bucket']]).to.deep.equal([429, 'unread']);
      expect((await balance(other, 'other')).status).to.equal(200);
      await until(async () => (await balance(slow, 'slow')).status === 200);
      socket.destroy();
    } finally {
      await api.stop();
    }
  });
});
