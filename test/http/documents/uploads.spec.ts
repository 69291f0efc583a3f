import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { uploadUrls } from '../../../adapters/local/objectFolder.ts';
import { minioUploadTargets } from '../../../adapters/minio.ts';
import { uploadKeyOf } from '../../../domain/document.ts';
import type { UploadGrant, UploadTargets } from '../../../domain/ports/services.ts';
import { startS3, type S3Server } from '../../support/s3Server.ts';
import { startApi, testApi, type TestApi } from '../support/testApi.ts';
import { presigned, put, uploadsSuite } from './uploads.suite.ts';
import { until } from '../../../engine/test/support/until.ts';

const secretPath = (api: TestApi): string => join(api.uploadDir, '..', 'upload-secret');

const grantOf = (document_id: string, over: Partial<UploadGrant> = {}): UploadGrant => ({
  document_id,
  key: uploadKeyOf(document_id),
  content_type: 'text/plain',
  bytes: null,
  bytes_max: 1_000_000,
  signed_at: new Date(Date.now() - 3_601_000).toISOString(),
  expires_seconds: 3600,
  ...over,
});

/** URLs that the service itself would have made, an hour and a second ago unless said otherwise. */
const urlsOf = async (api: TestApi): Promise<UploadTargets> =>
  uploadUrls({ secret: await readFile(secretPath(api)), baseUrl: () => api.url });

const urlBy = async (targets: UploadTargets, grant: UploadGrant): Promise<string> =>
  (await targets.presign(grant)).url;

uploadsSuite('folder', async () => {
  const api = await testApi();
  const targets = await urlsOf(api);
  return { api, expired: (documentId) => urlBy(targets, grantOf(documentId)) };
});

describe('uploads to S3', () => {
  let server: S3Server;
  let api: TestApi;
  before(async () => {
    server = await startS3();
    api = await startApi(server.env);
  });
  after(async () => {
    await api.stop();
    await server.close();
  });

  uploadsSuite('S3', () => {
    const targets = minioUploadTargets(server.options);
    return Promise.resolve({ api, expired: (documentId) => urlBy(targets, grantOf(documentId)) });
  });

  it('signs type and length where they are said: others are refused by the store', async () => {
    const targets = minioUploadTargets(server.options);
    const signed_at = new Date().toISOString();
    const known = await urlBy(targets, grantOf('doc_known', { signed_at, bytes: 5 }));
    expect((await put(known, '12345', { 'content-type': 'text/html' })).status).to.equal(403);
    expect((await put(known, '123456', { 'content-type': 'text/plain' })).status).to.equal(403);
    expect((await put(known, '12345', { 'content-type': 'text/plain' })).status).to.equal(200);
    const open = await urlBy(targets, grantOf('doc_open', { signed_at, content_type: null }));
    expect((await put(open, '123', { 'content-type': 'a/b' })).status).to.equal(200);
  });

  it('names the address that clients reach', async () => {
    const publicEndpoint = 'https://files.example.com';
    const url = await urlBy(minioUploadTargets({ ...server.options, publicEndpoint }), grantOf('doc_a'));
    expect(url).to.match(/^https:\/\/files\.example\.com\/quire\/uploads\/doc_a\?X-Amz-/);
  });

  it('has no uploads of its own to take', async () => {
    const own = uploadUrls({ secret: Buffer.alloc(32), baseUrl: () => api.url });
    const url = await urlBy(own, grantOf('doc_a', { signed_at: new Date().toISOString() }));
    expect((await put(url, 'x', { 'content-type': 'text/plain' })).status).to.equal(403);
  });
});

describe('PUT /uploads/{document_id}', () => {
  let api: TestApi;
  let key: string;
  const tenant = `put-${randomUUID()}`;
  before(async () => {
    api = await testApi();
    key = await api.newKey(tenant);
  });

  const presign = async (over: object = {}) => {
    const json = { tenant_id: tenant, file_name: 'a.txt', content_type: 'text/plain', ...over };
    return presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
  };
  const send = async (url: string, raw: string | Uint8Array, headers: Readonly<Record<string, string>>) =>
    api.call('put', url.slice(api.url.length), { key: null, raw, headers });
  const left = async (documentId: string) => ({
    received: await readdir(api.uploadDir),
    object: await api.objects.get(uploadKeyOf(documentId)),
  });
  const NOTHING = { received: [], object: undefined };

  it('is on the address that the service listens on', async () => {
    const { url, document_id } = await presign();
    expect(url.startsWith(`${api.url}/uploads/${document_id}?expires=`)).to.equal(true);
  });

  it('keeps its secret to itself', async () => {
    const found = await stat(secretPath(api));
    expect([found.size, found.mode & 0o777]).to.deep.equal([32, 0o600]);
  });

  it('answers with the reason: expired, changed, empty, too large, another type', async () => {
    const { url, headers, document_id } = await presign({ bytes: 10 });
    const reasons = [
      [await urlBy(await urlsOf(api), grantOf(document_id)), 'x', headers, 403, 'tenant_mismatch'],
      [url.replace('max_bytes=10', 'max_bytes=99'), 'x', headers, 403, 'tenant_mismatch'],
      [url, '', headers, 400, 'empty_file'],
      [url, '12345678901', headers, 413, 'file_too_large'],
      [url, 'x', { 'content-type': 'text/html' }, 415, 'unsupported_media_type'],
      [url, 'x', { ...headers, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ] as const;
    for (const [to, body, own, status, code] of reasons) {
      const reply = await send(to, body, own);
      expect([reply.status, reply.code], reply.text).to.deep.equal([status, code]);
      expect(reply.body['detail']).to.match(/\.$/);
    }
    expect(await left(document_id)).to.deep.equal(NOTHING);
    const taken = await send(url, '1234567890', headers);
    expect([taken.status, taken.text]).to.deep.equal([200, '']);
  });

  it('stops reading a body without a length where it is too large', async () => {
    const { url, headers, document_id } = await presign({ bytes: 100_000 });
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(65_536));
        chunks += 1;
        if (chunks === 20) controller.close();
      },
    });
    // undici: a streamed body needs `duplex`, which the types do not know.
    const init = { method: 'PUT', body, headers, duplex: 'half' } as RequestInit;
    const status = await fetch(url, init).then(
      async (reply) => {
        await reply.body?.cancel();
        return reply.status;
      },
      () => 'cut off',
    );
    expect(status).to.be.oneOf([413, 'cut off']);
    expect(await left(document_id)).to.deep.equal(NOTHING);
  });

  it('leaves nothing of an upload that breaks off', async () => {
    const { url, document_id } = await presign();
    const { hostname, port, pathname, search } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 500\r\n\r\n`,
    );
    socket.write('only the beginning');
    await until(async () => (await readdir(api.uploadDir)).length === 1);
    socket.destroy();
    await until(async () => (await readdir(api.uploadDir)).length === 0);
    expect(await left(document_id)).to.deep.equal(NOTHING);
  });

  it('refuses another file once the first was used: 409', async () => {
    const { url, headers, document_id } = await presign();
    expect((await send(url, 'the first', headers)).status).to.equal(200);
    const documents = [{ document_id }];
    await api.call('post', '/v1/documents/page-count', { key, json: { documents } });
    const again = await send(url, 'the second', headers);
    expect([again.status, again.code]).to.deep.equal([409, 'version_conflict']);
    expect(Buffer.from((await left(document_id)).object ?? []).toString()).to.equal('the first');
  });

  it('says that the storage failed, and takes the file when it is back', async () => {
    const { url, headers } = await presign();
    api.faults.objectsAway = true;
    const away = await send(url, 'x', headers).finally(() => (api.faults.objectsAway = false));
    expect([away.status, away.code]).to.deep.equal([502, 'storage_error']);
    expect((await send(url, 'x', headers)).status).to.equal(200);
  });
});
