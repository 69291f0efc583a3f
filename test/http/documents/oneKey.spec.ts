import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hasEnded } from '../../../domain/leased.ts';
import { until } from '../../../engine/test/support/until.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { presigned, put } from './uploads.suite.ts';

const LATER = { prefer: 'respond-async' };

/** A page of text for each `pages`. */
const textOf = (name: string, pages: number): Blob =>
  new Blob([`Invoice number: ${name}\n`.padEnd(3_000 * pages, 'Lorem ipsum dolor sit amet.\n')]);

describe('one key is one work, however it is asked', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({});
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
  });
  after(() => api.stop());

  const ROUTES = {
    '/v1/extract': { schema: INVOICE_SCHEMA },
    '/v1/to-markdown': {},
  } as const;
  type Path = keyof typeof ROUTES;

  const newTenant = async () => {
    const tenant_id = `key-${randomUUID()}`;
    const key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 10_000);
    const call = (path: Path, idempotency: string, { file = INVOICE, later = false } = {}): Promise<Reply> =>
      api.call('post', path, {
        key,
        form: formOf(ROUTES[path], file),
        headers: { 'idempotency-key': idempotency, ...(later && LATER) },
      });
    const ended = async (reply: Reply): Promise<Readonly<Record<string, unknown>>> => {
      expect(reply.status, reply.text).to.equal(202);
      const id = String(reply.body['operation_id']);
      await until(async () => {
        await api.operations.drain();
        return hasEnded(await api.deps.operations.streams.stateOf(id));
      });
      return (await api.call('get', `/v1/operations/${id}`, { key })).body;
    };
    const standing = async () => {
      const { body } = await api.call('get', `/v1/billing/balance/${tenant_id}`);
      return [10_000 - Number(body['balance_credits']), body['held_credits']];
    };
    const erase = async (document_id: unknown) => {
      const path = `/v1/documents/${String(document_id)}`;
      expect((await api.call('delete', path, { key })).status).to.equal(204);
    };
    const upload = async () => {
      const json = { tenant_id, file_name: 'a.txt', content_type: 'text/plain' };
      const made = presigned(await api.call('post', '/v1/uploads/presign', { key, json }));
      const sent = await put(made.url, 'Invoice number: A-1', made.headers);
      expect(sent.status, sent.text).to.equal(200);
      return made;
    };
    /** A conversion of an upload: by its own route, or in an envelope. */
    const convert = (file_uri: string, idempotency: string, later = false): Promise<Reply> =>
      api.call('post', '/v1/ocr/to-markdown', {
        key,
        json: { tenant_id, file_uri },
        headers: { 'idempotency-key': idempotency, ...(later && LATER) },
      });
    const remove = async (document_id: string) => {
      const reply = await api.call('delete', `/v1/uploads/${document_id}`, { key });
      expect(reply.status, reply.text).to.equal(204);
    };
    return { call, ended, standing, erase, upload, convert, remove };
  };
  const documentOf = ({ body }: Reply) => (body['meta'] as { readonly document_id: string }).document_id;
  const said = ({ status, code }: Reply) => [status, code];
  const ERASED = [410, 'erased'];

  it('delivers no other file for what was paid, when the first was erased, and none of its pages again', async () => {
    const { call, standing, erase } = await newTenant();
    const first = await call('/v1/extract', 'k');
    expect(await standing()).to.deep.equal([40, 0]);
    for (const file of [textOf('SECOND-99', 95), textOf('THIRD-77', 90)]) {
      await erase(documentOf(first));
      expect(said(await call('/v1/extract', 'k', { file }))).to.deep.equal([422, 'idempotency_key_reused']);
    }
    expect(said(await call('/v1/extract', 'k'))).to.deep.equal(ERASED);
    expect(await standing()).to.deep.equal([40, 0]);
  });

  for (const path of Object.keys(ROUTES) as Path[])
    for (const [kept, forget] of [
      ['with the answer that was kept', () => Promise.resolve()],
      ['with no answer kept', () => api.forgetReplays()],
    ] as const) {
      it(`${path}, later and then waiting: the same work, ${kept}`, async () => {
        const { call, ended, standing } = await newTenant();
        const done = await ended(await call(path, 'k', { later: true }));
        await forget();
        const waiting = await call(path, 'k');
        // A kept answer is answered as it was: the operation.
        if (waiting.status === 200)
          expect(waiting.body['meta']).to.deep.equal((done['result'] as Reply['body'])['meta']);
        else expect(waiting.body['operation_id']).to.equal(done['operation_id']);
        await forget();
        expect((await call(path, 'k', { later: true })).body['operation_id']).to.equal(done['operation_id']);
        expect(await standing()).to.deep.equal([40, 0]);
      });

      it(`${path}, waiting and then later: the same work, ${kept}`, async () => {
        const { call, standing } = await newTenant();
        const first = await call(path, 'k');
        await forget();
        const later = await call(path, 'k', { later: true });
        expect([later.status, documentOf(later)]).to.deep.equal([200, documentOf(first)]);
        expect(later.headers.get('idempotent-replayed')).to.equal('true');
        await forget();
        expect(documentOf(await call(path, 'k'))).to.equal(documentOf(first));
        expect(await standing()).to.deep.equal([40, 0]);
      });
    }

  for (const path of Object.keys(ROUTES) as Path[]) {
    it(`${path}: says that what was done later was erased, whoever asks how, and bills nothing`, async () => {
      const { call, ended, standing, erase } = await newTenant();
      await erase((await ended(await call(path, 'k', { later: true })))['document_id']);
      for (const later of [true, false, true])
        expect(said(await call(path, 'k', { later }))).to.deep.equal(ERASED);
      expect(await standing()).to.deep.equal([40, 0]);
    });

    it(`${path}: says that what was waited for was erased, whoever asks how, and bills nothing`, async () => {
      const { call, standing, erase } = await newTenant();
      await erase(documentOf(await call(path, 'k')));
      for (const later of [false, true, false])
        expect(said(await call(path, 'k', { later }))).to.deep.equal(ERASED);
      expect(await standing()).to.deep.equal([40, 0]);
    });
  }

  for (const later of [false, true]) {
    const how = later ? 'later' : 'waiting';
    it(`on an upload that was erased says that, where it was asked for ${how}`, async () => {
      const { upload, convert, ended, standing, erase } = await newTenant();
      const { document_id, file_uri } = await upload();
      const first = await convert(file_uri, 'k', later);
      if (later) await ended(first);
      else expect(first.status, first.text).to.equal(200);
      await erase(document_id);
      for (const again of [true, false])
        expect(said(await convert(file_uri, 'k', again))).to.deep.equal(ERASED);
      expect(said(await convert(file_uri, 'another'))).to.deep.equal([404, 'document_not_found']);
      expect(await standing()).to.deep.equal([40, 0]);
    });

    it(`on an upload whose file was removed is still answered, where it was asked for ${how}`, async () => {
      const { upload, convert, ended, standing, remove } = await newTenant();
      const { document_id, file_uri } = await upload();
      const first = await convert(file_uri, 'k', later);
      const done = later ? ((await ended(first))['result'] as Reply['body']) : first.body;
      await remove(document_id);
      await api.forgetReplays();
      const again = await convert(file_uri, 'k');
      expect([again.status, again.body['markdown']]).to.deep.equal([200, done['markdown']]);
      expect((await convert(file_uri, 'another')).status).to.equal(404);
      expect(await standing()).to.deep.equal([40, 0]);
    });
  }

  it('is paid once though another document of the tenant was erased, which forgets all answers', async () => {
    const { call, ended, standing, erase } = await newTenant();
    const other = documentOf(await call('/v1/extract', 'other', { file: textOf('OTHER', 1) }));
    const done = await ended(await call('/v1/extract', 'k', { later: true }));
    await erase(other);
    const waiting = await call('/v1/extract', 'k');
    expect([waiting.status, documentOf(waiting)]).to.deep.equal([200, done['document_id']]);
    expect(await standing()).to.deep.equal([80, 0]);
  });

  it('is held and billed once, where it is asked for both ways at once', async () => {
    const { call, ended, standing } = await newTenant();
    for (let round = 0; round < 5; round += 1) {
      const key = `k${String(round)}`;
      const [now, later] = await Promise.all([
        call('/v1/extract', key),
        call('/v1/extract', key, { later: true }),
      ]);
      expect([200, 202, 409], now.text).to.include(now.status);
      expect([200, 202, 409], later.text).to.include(later.status);
      for (const reply of [now, later]) if (reply.status === 202) await ended(reply);
      expect(await standing()).to.deep.equal([40 * (round + 1), 0]);
    }
  });
});
