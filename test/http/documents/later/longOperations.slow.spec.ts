import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { pagedPdf } from '../../../../engine/test/bench/pagedPdf.ts';
import { ledgerPages } from '../../../../engine/test/bench/pdfPages.ts';
import { plainPdf } from '../../../../engine/test/support/pdfs.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { hasEnded } from '../../../../domain/leased.ts';
import { operationStream } from '../../../../domain/operation.ts';
import { eventsOf } from '../../../support/logs/eventLogs.ts';
import { formOf } from '../../support/client.ts';
import { testApi, type TestApi } from '../../support/testApi.ts';

const LATER = { prefer: 'respond-async' };
const PAGES = 120;
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    account_number: { type: 'string' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: { date: { type: 'string' }, voucher: { type: 'string' }, amount: { type: 'number' } },
      },
    },
  },
});
const fileOf = (bytes: Uint8Array, type: string) => new Blob([new Uint8Array(bytes)], { type });

interface Sent {
  readonly file: Blob;
  readonly headers?: Record<string, string>;
}

describe('operations on long documents', () => {
  let api: TestApi;
  let key: string;
  const tenant_id = `long-${randomUUID()}`;
  before(async () => {
    api = await testApi();
    key = await api.newKey(tenant_id);
    await api.sell(tenant_id, 1_000_000);
  });

  const asked = (path: string, fields: Record<string, string>, { file, headers = LATER }: Sent) =>
    api.call('post', path, { key, form: formOf(fields, file), headers });
  const ended = async (id: string) => {
    await until(async () => {
      await api.operations.drain();
      return hasEnded(await api.deps.operations.streams.stateOf(id));
    });
    return (await api.call('get', `/v1/operations/${id}`, { key })).body;
  };
  const objectsOf = async (id: string): Promise<readonly string[]> => {
    const keys: string[] = [];
    for await (const { key: name } of api.objects.list('operations/')) if (name.includes(id)) keys.push(name);
    return keys;
  };

  const ledger = fileOf(pagedPdf(ledgerPages(PAGES)), 'application/pdf');

  it('read what a caller cannot wait for, say how far they are, and leave nothing behind', async () => {
    const refused = await asked(
      '/v1/extract',
      { schema: SCHEMA, mode: 'fast' },
      { file: ledger, headers: {} },
    );
    expect(refused.body).to.include({ code: 'too_many_pages', pages: PAGES, max_pages: 100 });
    const reply = await asked('/v1/extract', { schema: SCHEMA, mode: 'fast' }, { file: ledger });
    expect(reply.status, reply.text).to.equal(202);
    expect(reply.body['pages']).to.deep.equal({ done: 0, total: PAGES });
    const id = String(reply.body['operation_id']);
    const done = await ended(id);
    expect(done, JSON.stringify(done).slice(0, 500)).to.deep.include({
      status: 'succeeded',
      pages: { done: PAGES, total: PAGES },
    });
    expect(done).to.have.nested.property('cost.pages', PAGES);
    expect(done).to.have.nested.property('result.result.account_number', '4711-0815');
    expect(done)
      .to.have.nested.property('result.result.entries')
      .that.has.lengthOf(30 * PAGES);
    expect(await objectsOf(id)).to.deep.equal([]);
    const told = (await eventsOf(api.log, operationStream(id)))
      .filter(({ type }) => type === 'OperationProgressed')
      .map(({ data }) => Number(data['pages_done']));
    expect(told).to.deep.equal([...told].sort((a, b) => a - b));
  });

  it('convert them too, by chosen pages of longer ones', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => `Line of page ${String(i + 1)}`);
    const pdf = fileOf(plainPdf(lines), 'application/pdf');
    const reply = await asked('/v1/to-markdown', { pages: '150-' }, { file: pdf });
    expect(reply.status, reply.text).to.equal(202);
    const done = await ended(String(reply.body['operation_id']));
    expect(done).to.have.nested.property('result.meta.page_count', 151);
    expect(done).to.have.nested.property('result.meta.pages[0].page', 150);
    expect(done).to.have.nested.property('result.markdown').that.includes('Line of page 300');
  });

  it('read formats without pages in one piece', async () => {
    const text = fileOf(Buffer.from('A line of text.\n'.repeat(25_000)), 'text/plain');
    const reply = await asked('/v1/to-markdown', {}, { file: text });
    expect(reply.status, reply.text).to.equal(202);
    const done = await ended(String(reply.body['operation_id']));
    expect(done).to.include({ status: 'succeeded' });
    expect(done).to.have.nested.property('result.meta.page_count').that.is.greaterThan(100);
  });

  it('are refused beyond 2,000 pages', async () => {
    const { free_pages_remaining: left } = (
      await api.call('get', `/v1/billing/balance/${tenant_id}`, { key })
    ).body;
    const balance = async () => (await api.call('get', `/v1/billing/balance/${tenant_id}`, { key })).body;
    const long = fileOf(plainPdf(Array.from({ length: 2_001 }, () => 'x')), 'application/pdf');
    const reply = await asked('/v1/to-markdown', {}, { file: long });
    expect(reply.body).to.include({ code: 'too_many_pages', pages: 2_001, max_pages: 2_000 });
    expect(await balance()).to.include({ held_credits: 0, free_pages_remaining: left });
  });
});
