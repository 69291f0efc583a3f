import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { uploadKeyOf } from '../../../domain/document.ts';
import type { UploadReference } from '../../../src/commands/fetchUpload.ts';
import { formOf, INVOICE, type Reply } from '../support/client.ts';
import type { TestApi } from '../support/testApi.ts';
import { until } from '../../../engine/test/support/until.ts';

type Headers = Readonly<Record<string, string>>;

const INVOICE_TEXT = await INVOICE.text();

/** An upload as a client sees it. */
export const presigned = (reply: Reply) => {
  expect(reply.status, reply.text).to.equal(200);
  const { upload_url, headers, file_uri, document_id } = reply.body;
  return {
    url: String(upload_url),
    headers: headers as Headers,
    file_uri: String(file_uri),
    document_id: String(document_id),
  };
};

/** What a client does with an upload URL, by nothing but its members. */
export const put = async (url: string, body: string | Uint8Array, headers: Headers = {}) => {
  const reply = await fetch(url, { method: 'PUT', body: Buffer.from(body), headers });
  return { status: reply.status, text: await reply.text() };
};

/** From presign to use, over whatever keeps the objects. `expired` makes a URL that ran out. */
export const uploadsSuite = (
  name: string,
  start: () => Promise<{ readonly api: TestApi; readonly expired: (documentId: string) => Promise<string> }>,
): void => {
  describe(`uploads: ${name}`, () => {
    let api: TestApi;
    let expired: (documentId: string) => Promise<string>;
    let key: string;
    const tenant = `up-${randomUUID()}`;
    before(async () => {
      ({ api, expired } = await start());
      key = await api.newKey(tenant);
    });

    const presign = (over: object = {}, options: { key?: string; headers?: Headers } = {}) =>
      api.call('post', '/v1/uploads/presign', {
        key,
        json: { tenant_id: tenant, file_name: 'invoice.txt', content_type: 'text/plain', ...over },
        ...options,
      });
    const by = { tenant_id: tenant, allTenants: false };
    const fetched = (reference: UploadReference, reader = by) => api.deps.uploads.fetch(reader, reference);
    const count = (documents: readonly object[], as = key) =>
      api.call('post', '/v1/documents/page-count', { key: as, json: { documents } });
    const uploaded = async (body: string | Uint8Array = INVOICE_TEXT, over: object = {}) => {
      const upload = presigned(await presign(over));
      const sent = await put(upload.url, body, upload.headers);
      expect(sent.status, sent.text).to.equal(200);
      return upload;
    };

    /** A received file is removed right after the answer. */
    afterEach(async () => {
      await until(async () => (await readdir(api.uploadDir)).length === 0);
    });

    it('presigns, takes the file, and gives it back byte for byte', async () => {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256));
      const upload = await uploaded(bytes, { bytes: bytes.length });
      const file = await fetched({ file_uri: upload.file_uri });
      if (file.kind !== 'ok') throw new Error(file.code);
      expect(file.file).to.include({ bytes: bytes.length, file_name: 'invoice.txt' });
      expect(file.document).to.include({ project_id: 'default', task_id: 'default', kind: 'document' });
      const { readFile } = await import('node:fs/promises');
      expect((await readFile(file.file.path)).equals(bytes)).to.equal(true);
      await file.file.discard();
    });

    it('says what the interface says', async () => {
      const { body } = await presign({ kind: 'dataset', project_id: 'p' });
      expect(body).to.have.all.keys(
        'upload_url',
        'method',
        'headers',
        'file_uri',
        'document_id',
        'dataset_id',
        'expires_at',
      );
      expect(body['method']).to.equal('PUT');
      expect(body['headers']).to.deep.equal({ 'Content-Type': 'text/plain' });
      expect(body['dataset_id']).to.match(/^ds_/);
      const lives = Date.parse(String(body['expires_at'])) - Date.now();
      expect(lives).to.be.within(3_590_000, 3_600_000);
      expect((await presign()).body['dataset_id']).to.equal(null);
    });

    it('replays a presign with its key: the same URL and IDs; another body is refused', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await presign({ kind: 'dataset' }, { headers });
      const again = await presign({ kind: 'dataset' }, { headers });
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(again.text).to.equal(first.text);
      expect((await presign({ kind: 'document' }, { headers })).code).to.equal('idempotency_key_reused');
    });

    it('refuses a size above the limit, and what is no presign', async () => {
      const tooLarge = await presign({ bytes: 1_000_001 });
      expect([tooLarge.status, tooLarge.code]).to.deep.equal([413, 'file_too_large']);
      expect((await presign({ bytes: 1_000_000 })).status).to.equal(200);
      for (const wrong of [
        { bytes: 0 },
        { bytes: 1.5 },
        { kind: 'x' },
        { content_type: 'text' },
        { file_name: '' },
      ])
        expect((await presign(wrong)).code, JSON.stringify(wrong)).to.equal('validation_error');
      expect((await presign({ content_type: 'text/plain\r\nX: y' })).code).to.equal('validation_error');
    });

    it('lets a service key presign for any tenant, and a tenant key for its own alone', async () => {
      const service = await api.newKey('up-service', 'service');
      const upload = presigned(await presign({}, { key: service }));
      await put(upload.url, INVOICE_TEXT, upload.headers);
      const file = await fetched({ document_id: upload.document_id });
      expect(file.kind).to.equal('ok');
      if (file.kind === 'ok') await file.file.discard();
      expect((await presign({ tenant_id: 'someone-else' })).code).to.equal('tenant_mismatch');
    });

    it('refuses a URL that was changed, for another document, or has expired: 403', async () => {
      const [one, two] = [presigned(await presign()), presigned(await presign())];
      const changed = [
        one.url.replace(one.document_id, two.document_id),
        one.url.replace(/([Ss]ignature=)(.)/, (_, name: string, c: string) => name + (c === '0' ? '1' : '0')),
        one.url.replace(
          /([Ee]xpires=)(\d)/,
          (_, at: string, digit: string) => `${at}${digit === '9' ? 8 : 9}`,
        ),
        one.url.replace(/[?&](X-Amz-)?[Ss]ignature=[0-9a-f]+/, ''),
        await expired(one.document_id),
      ];
      for (const url of changed) {
        expect(url).to.not.equal(one.url);
        expect((await put(url, 'x', one.headers)).status, url).to.be.oneOf(
          url.includes('ignature=') ? [403] : [400, 403],
        );
      }
      expect((await fetched({ file_uri: one.file_uri })).kind).to.equal('problem');
    });

    it('finds nothing of another tenant, never presigned, or by a foreign URI: 404', async () => {
      const upload = await uploaded();
      const codeOf = async (reference: UploadReference, reader = by) => {
        const answer = await fetched(reference, reader);
        if (answer.kind === 'ok') await answer.file.discard();
        return answer.kind === 'ok' ? 'ok' : answer.code;
      };
      const other = { tenant_id: 'up-other', allTenants: false };
      expect(await codeOf({ file_uri: upload.file_uri }, other)).to.equal('document_not_found');
      expect(await codeOf({ file_uri: upload.file_uri }, { ...other, allTenants: true })).to.equal('ok');
      for (const file_uri of [
        'quire://uploads/doc_none',
        'quire://uploads/../x',
        's3://quire/a',
        '',
        '/etc/passwd',
      ])
        expect(await codeOf({ file_uri }), file_uri).to.equal('document_not_found');
      expect(await codeOf({})).to.equal('document_not_found');
      const { document_id } = presigned(await presign());
      expect(await codeOf({ document_id, file_uri: upload.file_uri })).to.equal('document_not_found');
      expect(await codeOf({ document_id })).to.equal('missing_file');
    });

    it('counts pages once, as they are billed, and registers what it counts', async () => {
      const text = await uploaded('x'.repeat(7_000));
      const waiting = presigned(await presign());
      const archive = await uploaded(Buffer.from('7f454c460201010000000000', 'hex'), {
        content_type: 'application/octet-stream',
      });
      const asked = [
        { file_uri: text.file_uri },
        { document_id: text.document_id },
        { document_id: waiting.document_id },
        { document_id: archive.document_id },
        { document_id: 'doc_nobody' },
        { file_uri: 'elsewhere' },
      ];
      const reply = await count(asked);
      expect(reply.status, reply.text).to.equal(200);
      const items = reply.body['items'] as readonly Readonly<Record<string, unknown>>[];
      expect(items.map(({ status, pages }) => [status, pages])).to.deep.equal([
        ['ok', 3],
        ['ok', 3],
        ['not_uploaded', null],
        ['unsupported', null],
        ['not_found', null],
        ['not_found', null],
      ]);
      expect(items[1]).to.include({ document_id: text.document_id, file_uri: text.file_uri });
      expect(reply.body['total_pages']).to.equal(6);
      const listed = await api.call('get', `/v1/documents?tenant_id=${tenant}&source=upload`, { key });
      const found = (listed.body['items'] as readonly Readonly<Record<string, unknown>>[]).filter(
        ({ document_id }) => document_id === text.document_id,
      );
      expect(found).to.have.length(1);
      expect(found[0]).to.include({ pages: 3, bytes: 7_000, mime_type: 'text/plain', source: 'upload' });
    });

    it('shows a tenant nothing of others when it counts, and a service key all', async () => {
      const { document_id } = await uploaded();
      const statuses = async (as: string) =>
        ((await count([{ document_id }], as)).body['items'] as readonly { status: string }[])[0]?.status;
      expect(await statuses(await api.newKey('up-stranger'))).to.equal('not_found');
      expect(await statuses(await api.newKey('up-service', 'service'))).to.equal('ok');
      expect(await statuses(await api.newKey('up-stranger'))).to.equal('not_found');
    });

    it('refuses counts of nothing, of more than 100, and of documents named twice or not at all', async () => {
      const named = { document_id: 'doc_a' };
      const many = Array.from({ length: 101 }, () => named);
      for (const documents of [[], many, [{}], [{ ...named, file_uri: 'quire://uploads/doc_a' }]])
        expect((await count(documents)).code).to.equal('validation_error');
      expect((await count(many.slice(1))).status).to.equal(200);
    });

    it('bills and measures an uploaded document as one that comes with its request', async () => {
      const upload = await uploaded();
      const file = await fetched({ file_uri: upload.file_uri });
      if (file.kind !== 'ok') throw new Error(file.code);
      const { document } = file;
      const converted = await api.deps.convert({
        tenant_id: tenant,
        project_id: document.project_id,
        task_id: document.task_id,
        caller: { key_id: 'key_1', role: 'service' },
        correlation_id: 'req-1',
        idempotency: null,
        file: file.file,
        document: { document_id: document.document_id, source: 'upload' },
        opening: { at: ['body'] },
        form: {},
        signal: new AbortController().signal,
        mode: 'default',
        ocr: {},
      });
      await file.file.discard();
      if (converted.kind !== 'delivered') throw new Error(converted.kind);
      const sent = await api.call('post', '/v1/to-markdown', { key, form: formOf({}, INVOICE) });
      expect(converted.body['markdown']).to.equal(sent.body['markdown']);
      expect(converted.body['meta']).to.include({ document_id: upload.document_id, page_count: 1 });
      const { registered } = await documentOf(upload.document_id);
      expect(registered).to.include({ source: 'upload', pages: 1 });
    });

    const documentOf = async (documentId: string) => {
      const listed = await api.call('get', `/v1/documents?tenant_id=${tenant}&limit=1000`, { key });
      const items = listed.body['items'] as readonly Readonly<Record<string, unknown>>[];
      return { registered: items.find(({ document_id }) => document_id === documentId) };
    };

    it('takes another file in place of one that was not used', async () => {
      const upload = await uploaded('the first');
      expect((await put(upload.url, 'the second one', upload.headers)).status).to.equal(200);
      const file = await fetched({ file_uri: upload.file_uri });
      if (file.kind !== 'ok') throw new Error(file.code);
      expect(file.file.bytes).to.equal('the second one'.length);
      await file.file.discard();
    });

    it('removes an object that is larger than a file may be: 413', async () => {
      const upload = presigned(await presign());
      await api.objects.put(uploadKeyOf(upload.document_id), Buffer.alloc(1_000_001));
      const refused = await fetched({ file_uri: upload.file_uri });
      expect(refused).to.include({ kind: 'problem', code: 'file_too_large' });
      expect(await fetched({ file_uri: upload.file_uri })).to.include({ code: 'missing_file' });
    });

    it('refuses a file that was put in place of one that was used: 409', async () => {
      const upload = await uploaded('counted');
      expect((await count([{ document_id: upload.document_id }])).body['total_pages']).to.equal(1);
      await api.objects.put(uploadKeyOf(upload.document_id), Buffer.from('something else'));
      expect(await fetched({ file_uri: upload.file_uri })).to.include({ code: 'version_conflict' });
    });
  });
};
