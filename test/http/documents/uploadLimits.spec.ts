import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { formOf, INVOICE } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const QUOTA = 20_000;
const LARGEST = 1_000_000;

/** A `PUT` that has begun, and of whose body nothing has come. */
const begun = (url: string, bytes: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { port, host, pathname, search } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1', () => {
      const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/plain\r\n`;
      socket.write(`${head}Content-Length: ${bytes}\r\n\r\n`, () => resolve(socket));
    });
    socket.once('error', reject);
  });

/** The status of the answer that comes on a socket. */
const statusOn = (socket: Socket): Promise<number> =>
  new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
      if (status !== undefined) resolve(Number(status));
    });
  });

describe('limits of uploads', () => {
  let api: TestApi;
  let small: TestApi;
  const tenant = () => `limits-${randomUUID()}`;
  before(async () => {
    api = await startApi();
    small = await startApi({ UPLOAD_QUOTA_BYTES: String(QUOTA) });
  });
  after(async () => {
    await api.stop();
    await small.stop();
  });

  const customer = async (of: TestApi) => {
    const tenant_id = tenant();
    const key = await of.newKey(tenant_id);
    const ask = (over: object = {}) => {
      const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain', ...over };
      return of.call('post', '/v1/uploads/presign', { key, json });
    };
    return { tenant_id, key, ask, presign: async () => presigned(await ask()) };
  };
  const codeOf = ({ text }: { readonly text: string }): unknown =>
    text === '' ? '' : (JSON.parse(text) as { readonly code: unknown }).code;
  /** Until so many files are being received. */
  const untilReceived = async (files: number) => {
    while ((await readdir(api.uploadDir)).length < files) await nextTurn();
  };
  /** Sends a file again and again until it is answered otherwise; a hang-up takes a moment to be noticed. */
  const untilNot = async (refused: number, send: () => Promise<{ readonly status: number }>) => {
    let status = refused;
    while (status === refused) ({ status } = await send());
    return status;
  };

  it('keep a tenant within its quota, and say what is used', async () => {
    const { ask, presign } = await customer(small);
    const [first, second] = [await presign(), await presign()];
    expect((await put(first.url, 'x'.repeat(15_000), first.headers)).status).to.equal(200);
    const refused = await ask({ bytes: 6_000 });
    expect([refused.status, refused.code]).to.deep.equal([413, 'upload_quota_exceeded']);
    expect(refused.body).to.include({ used_bytes: 15_000, quota_bytes: QUOTA });
    const sent = await put(second.url, 'x'.repeat(6_000), second.headers);
    expect([sent.status, codeOf(sent)]).to.deep.equal([413, 'upload_quota_exceeded']);
    expect((await put(second.url, 'x'.repeat(5_000), second.headers)).status).to.equal(200);
    expect((await ask({ bytes: 1 })).code).to.equal('upload_quota_exceeded');
    expect((await (await customer(small)).ask({ bytes: 6_000 })).status).to.equal(200);
  });

  it('count a file that was used, and one that was sent again, once', async () => {
    const { key, ask, presign } = await customer(small);
    const { url, headers, document_id } = await presign();
    for (let n = 0; n < 3; n += 1) expect((await put(url, 'x'.repeat(9_000), headers)).status).to.equal(200);
    const json = { documents: [{ document_id }] };
    expect((await small.call('post', '/v1/documents/page-count', { key, json })).status).to.equal(200);
    expect((await ask({ bytes: 11_000 })).status).to.equal(200);
    expect((await ask({ bytes: 11_001 })).body).to.include({ used_bytes: 9_000 });
  });

  it('let in exactly what fits, however many files come at once, and again what a removal makes room for', async () => {
    const { key, presign } = await customer(small);
    const uploads = await Promise.all(Array.from({ length: 20 }, () => presign()));
    const send = ({ url, headers }: (typeof uploads)[number]) => put(url, 'x'.repeat(QUOTA / 5), headers);
    const first = await Promise.all(uploads.map(send));
    expect(first.filter(({ status }) => status === 200)).to.have.lengthOf(5);
    expect(first.filter((sent) => codeOf(sent) === 'upload_quota_exceeded')).to.have.lengthOf(15);
    const stored = uploads.filter((_, at) => first[at]?.status === 200);
    for (const { document_id } of stored.slice(0, 2))
      expect((await small.call('delete', `/v1/uploads/${document_id}`, { key })).status).to.equal(204);
    const refused = uploads.filter((_, at) => first[at]?.status !== 200);
    const second = await Promise.all(refused.map(send));
    expect(second.filter(({ status }) => status === 200)).to.have.lengthOf(2);
  });

  it('take one file at a time for a URL', async () => {
    const { presign } = await customer(api);
    const { url, headers } = await presign();
    const socket = await begun(url, 4);
    await untilReceived(1);
    const second = await put(url, 'b', headers);
    expect([second.status, codeOf(second)]).to.deep.equal([409, 'request_in_progress']);
    const first = statusOn(socket);
    socket.write('done');
    expect(await first).to.equal(200);
    socket.destroy();
    expect((await put(url, 'again', headers)).status).to.equal(200);
  });

  it('take another file for a URL once the first has broken off', async () => {
    const { presign } = await customer(api);
    const { url, headers } = await presign();
    const socket = await begun(url, 4);
    await untilReceived(1);
    socket.destroy();
    expect(await untilNot(409, () => put(url, 'whole', headers))).to.equal(200);
  });

  it('cap the bytes that a tenant has on their way, in uploads and in forms', async () => {
    const { key, tenant_id, presign } = await customer(api);
    const uploads = [];
    for (let n = 0; n < 5; n += 1) uploads.push(await presign());
    const sockets = [];
    for (const { url } of uploads.slice(0, 4)) sockets.push(await begun(url, LARGEST));
    await untilReceived(4);
    const { url, headers } = uploads[4]!;
    const fifth = await put(url, 'x', headers);
    expect([fifth.status, codeOf(fifth)]).to.deep.equal([429, 'rate_limited']);
    const form = formOf({ tenant_id }, INVOICE);
    const converted = await api.call('post', '/v1/to-markdown', { key, form });
    expect([converted.status, converted.headers.get('retry-after')]).to.deep.equal([429, '1']);
    const other = await customer(api);
    const theirs = await other.presign();
    expect((await put(theirs.url, 'x', theirs.headers)).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    expect(await untilNot(429, () => put(url, 'x', headers))).to.equal(200);
  });

  it('have a bucket of their own for each tenant', async () => {
    const { presign } = await customer(api);
    const uploads = await Promise.all(Array.from({ length: 130 }, () => presign()));
    const sent = await Promise.all(uploads.map(({ url, headers }) => put(url, '', headers)));
    const limited = sent.find(({ status }) => status === 429);
    expect(limited && codeOf(limited)).to.equal('rate_limited');
    expect(limited?.text).to.include('upload bucket');
    const other = await customer(api);
    const { url, headers } = await other.presign();
    expect((await put(url, 'x', headers)).status).to.equal(200);
  });
});
