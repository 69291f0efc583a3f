import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { expect } from 'chai';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

describe('page-count', () => {
  let api: TestApi;
  let key: string;
  const tenant_id = `count-${randomUUID()}`;
  before(async () => {
    api = await startApi();
    key = await api.newKey(tenant_id);
  });
  after(() => api.stop());

  const uploaded = async (body: string, file_name = 'a.txt') => {
    const json = { tenant_id, file_name, content_type: 'text/plain' };
    const upload = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
    expect((await put(upload.url, body, upload.headers)).status).to.equal(200);
    return upload;
  };
  const count = (documents: readonly object[]) =>
    api.call('post', '/v1/documents/page-count', { key, json: { documents } });
  const statuses = (reply: Awaited<ReturnType<typeof count>>) =>
    (reply.body['items'] as { readonly status: string }[]).map(({ status }) => status);
  /** How often a file was opened to count its pages. */
  const inspections = async () => {
    const text = await api.deps.metrics.text();
    return [...text.matchAll(/^quire_document_seconds_count\{work="inspect",.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  };

  it('counts a document once, whatever it is named by and however often', async () => {
    const { document_id, file_uri } = await uploaded('one page');
    const before = await inspections();
    const names = [{ document_id }, { file_uri }, { document_id }, { file_uri: 'quire://uploads/doc_none' }];
    const { body } = await count(names);
    const page = { document_id, file_uri, status: 'ok', pages: 1, mime_type: 'text/plain' };
    const unknown = { document_id: 'doc_none', file_uri: 'quire://uploads/doc_none', status: 'not_found' };
    expect(body['items']).to.deep.equal([page, page, page, { ...unknown, pages: null, mime_type: null }]);
    expect((await inspections()) - before).to.equal(1);
  });

  it('takes a hundred documents at most', async () => {
    const named = Array.from({ length: 101 }, (_, n) => ({ document_id: `doc_${n}` }));
    const refused = await count(named);
    expect([refused.status, refused.code]).to.deep.equal([422, 'validation_error']);
    expect((await count(named.slice(1))).status).to.equal(200);
  });

  it('takes one slot for all that it has to count, and is refused where there is none', async () => {
    const uploads = await Promise.all(Array.from({ length: 6 }, (_, n) => uploaded(`document ${n}`)));
    const replies = await Promise.all(uploads.map(({ document_id }) => count([{ document_id }])));
    const codes = replies.map(({ status, code }) => (status === 200 ? 'counted' : code));
    expect(codes).to.include('counted').and.to.include('busy');
    // What was counted before needs none.
    for (const { document_id } of uploads) expect((await count([{ document_id }])).status).to.equal(200);
    const again = uploads.map(({ document_id }) => ({ document_id }));
    expect(statuses(await count(again))).to.deep.equal(again.map(() => 'ok'));
  });

  it('remembers a document that cannot be read, until another file is sent', async () => {
    const upload = await uploaded('%PDF-1.7 that ends here', 'a.pdf');
    const { document_id } = upload;
    const before = await inspections();
    for (let n = 0; n < 3; n += 1)
      expect(statuses(await count([{ document_id }]))).to.deep.equal(['unsupported']);
    expect((await inspections()) - before).to.equal(1);
    await put(upload.url, 'a text', upload.headers);
    expect(statuses(await count([{ document_id }]))).to.deep.equal(['ok']);
  });

  it('reads a file where it lies, without a copy', async () => {
    const { document_id } = await uploaded('in place');
    const fetched = await api.deps.uploads.fetch({ tenant_id, allTenants: false }, { document_id });
    if (fetched.kind === 'problem') throw new Error(fetched.code);
    expect((await stat(fetched.file.path)).nlink).to.equal(2);
    await fetched.file.discard();
  });
});
