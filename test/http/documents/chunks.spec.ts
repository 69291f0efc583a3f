import { expect } from 'chai';
import { read, utils } from '@e965/xlsx';
import { codePng, pdfWithCode } from '../../../engine/test/support/codePictures.ts';
import { XLSX_TYPE } from '../../../src/exports/xlsx.ts';
import { formOf, issuesIn, type CallOptions } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { batchTenant } from './later/batchTenant.ts';

const HANDBOOK = [
  '# Handbook',
  '',
  'Read it first.',
  '',
  '## Prices',
  '',
  '| Article | Price |',
  '| --- | --- |',
  ...Array.from({ length: 30 }, (_, at) => `| Article ${String(at)} | ${String(at)}.50 |`),
  '',
  '## Dates',
  '',
  '| Day | Open |',
  '| --- | --- |',
  '| 2026-03-01 | yes |',
  '| =1+1 | no |',
  '',
].join('\n');

const file = new Blob([HANDBOOK]);

interface ChunkOut {
  readonly id: string;
  readonly text: string;
  readonly heading_path: readonly string[];
}

describe('chunks and tables of a conversion', () => {
  let api: TestApi;
  let tenant: Awaited<ReturnType<typeof batchTenant>>;
  before(async () => {
    api = await startApi();
    tenant = await batchTenant(api);
  });
  after(() => api.stop());

  const convert = (fields: Readonly<Record<string, string>>, options: CallOptions = {}) =>
    tenant.call('post', '/v1/to-markdown', { form: formOf(fields, file, 'handbook.md'), ...options });

  it('come where they are asked for, at the price of the pages', async () => {
    const plain = await convert({});
    expect(plain.body).not.to.have.any.keys('chunks', 'tables');
    const reply = await convert({ include: 'chunks,tables', chunks: '{"max_characters": 300}' });
    expect(reply.status, reply.text).to.equal(200);
    const chunks = reply.body['chunks'] as readonly ChunkOut[];
    expect(chunks[0]).to.include({ text: '# Handbook\n\nRead it first.' });
    expect(chunks[1]?.heading_path).to.deep.equal(['Handbook', 'Prices']);
    for (const { text } of chunks.slice(1)) expect(text).to.contain('| --- | --- |');
    expect(reply.body['tables']).to.have.lengthOf(2).and.to.have.nested.property('[1].title', 'Dates');
    const costs = [plain, reply].map(({ body }) => (body['meta'] as { cost: { credits_used: number } }).cost);
    expect(costs[0]?.credits_used).to.equal(costs[1]?.credits_used);
    const again = await convert({ include: 'chunks', chunks: '{"max_characters": 300}' });
    expect(again.body['chunks']).to.deep.equal(chunks);
  });

  it('are refused in sizes that no chunk can have', async () => {
    const wrong = async (chunks: string) => issuesIn(await convert({ include: 'chunks', chunks }));
    expect(await wrong('{"max_characters": 0}')).to.deep.equal(['body.chunks.max_characters too_small']);
    expect(await wrong('{"max_characters": 1}')).to.deep.equal(['body.chunks.max_characters too_small']);
    expect(await wrong('{"max_characters": 1e9}')).to.deep.equal(['body.chunks.max_characters too_big']);
    expect(await wrong('{"max_characters": 200, "overlap": 200}')).to.deep.equal([
      'body.chunks.overlap custom',
    ]);
    expect(await wrong('{"overlap": 1001}')).to.deep.equal(['body.chunks.overlap custom']);
    expect(await wrong('{"by": "word"}')).to.deep.equal(['body.chunks.by invalid_value']);
    expect(await wrong('{"size": 300}')).to.deep.equal(['body.chunks.size extra_forbidden']);
    expect((await wrong('{')).length).to.equal(1);
  });

  it('are the sheets of a workbook, and the lines of a CSV', async () => {
    const accepted = await convert({ include: 'tables' }, { headers: { prefer: 'respond-async' } });
    await api.operations.drain();
    const path = `/v1/operations/${String(accepted.body['operation_id'])}`;
    const response = await fetch(`${api.url}${path}`, {
      headers: { 'x-api-key': tenant.key, accept: XLSX_TYPE },
    });
    const workbook = read(new Uint8Array(await response.arrayBuffer()));
    expect(workbook.SheetNames).to.deep.equal(['Table 1 (page 1)', 'Table 2 (page 1)']);
    const [sheet] = Object.values(workbook.Sheets);
    const lines = utils.sheet_to_json<unknown[]>(sheet ?? {}, { header: 1 });
    expect(lines.slice(0, 3)).to.deep.equal([
      ['Article', 'Price'],
      ['Article 0', 0.5],
      ['Article 1', 1.5],
    ]);
    const csv = { headers: { accept: 'text/csv' } };
    const second = await tenant.call('get', `${path}?table=2`, csv);
    expect(second.text).to.equal("Day,Open\r\n2026-03-01,yes\r\n'=1+1,no\r\n");
    expect(issuesIn(await tenant.call('get', path, csv))).to.deep.equal(['query.table value_error']);
    expect(issuesIn(await tenant.call('get', `${path}?table=3`, csv))).to.deep.equal([
      'query.table value_error',
    ]);
  });

  it('have the codes of a page beside them, read in a process that may open nothing', async () => {
    const pdf = await pdfWithCode(await codePng('https://example.org/pay', 'QRCode'), 'Please pay.');
    const form = () =>
      formOf({ include: 'codes', conversion_mode: 'fast' }, new Blob([new Uint8Array(pdf)]), 'a.pdf');
    const reply = await tenant.call('post', '/v1/to-markdown', { form: form() });
    expect(reply.status, reply.text).to.equal(200);
    const [code] = reply.body['codes'] as readonly { readonly bbox: readonly number[] }[];
    expect(code).to.deep.include({
      format: 'qr_code',
      text: 'https://example.org/pay',
      page: 1,
      parsed: { kind: 'url', url: 'https://example.org/pay' },
    });
    expect(code?.bbox[0]).to.be.within(100, 120);
  });

  it('come of JSON too, with the chunks as an object', async () => {
    const file_uri = await tenant.uploaded(HANDBOOK, 'text/markdown');
    const json = { tenant_id: tenant.tenant_id, file_uri, include: ['chunks'], chunks: { by: 'page' } };
    const reply = await tenant.call('post', '/v1/ocr/to-markdown', { json });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['chunks']).to.have.lengthOf(1);
    const wrong = await tenant.call('post', '/v1/ocr/to-markdown', { json: { ...json, chunks: { by: 7 } } });
    expect(issuesIn(wrong)).to.deep.equal(['body.chunks.by invalid_value']);
  });
});
