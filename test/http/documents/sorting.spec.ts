import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import { until } from '../../../engine/test/support/until.ts';
import { formOf, INVOICE_SCHEMA, issuesIn, type CallOptions, type Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

/** Each text is a page. */
const pdf = (...pages: readonly string[]): Blob =>
  new Blob([new Uint8Array(plainPdf(pages.map((page) => page.replaceAll('\n', ') Tj 0 -16 Td ('))))], {
    type: 'application/pdf',
  });

const INVOICE_PAGE = 'INVOICE\nNorthwind Ltd\nInvoice number 10042\nTotal due 357.00\nPage 1 of 1';
const LEASE_PAGE =
  'LEASE AGREEMENT\nThe landlord lets the flat to the tenant.\nThe rent is 900.00 a month.\nPage 1 of 1';
const STACK = pdf(INVOICE_PAGE, LEASE_PAGE);
const CLASSES = [
  { name: 'Invoice', description: 'A bill with the amount to pay.' },
  { name: 'Lease', description: 'A contract of landlord and tenant about the rent of a flat.' },
];
const CLASSES_TEXT = JSON.stringify(CLASSES);

describe('classify and split over HTTP', () => {
  let api: TestApi;
  let key: string;
  const TENANT = 'sorts-1';
  before(async () => {
    api = await startApi();
    key = await api.newKey(TENANT);
  });
  after(() => api.stop());

  const send = (
    what: 'classify' | 'split',
    fields: Record<string, string> = {},
    { file = STACK, ...options }: CallOptions & { readonly file?: Blob } = {},
  ): Promise<Reply> =>
    api.call('post', `/v1/${what}`, {
      key,
      form: formOf({ ...(what === 'classify' && { classes: CLASSES_TEXT }), ...fields }, file),
      ...options,
    });

  /** A tenant that has used its free pages. */
  const payer = async (credits: number) => {
    const tenant = `sorts-${randomUUID()}`;
    const own = await api.newKey(tenant);
    if (credits > 0) await api.sell(tenant, credits);
    await api.call('post', '/v1/billing/config', { json: { free_pages: 0 } });
    return { tenant, own };
  };

  it('tells what a document is, why, and what it cost', async () => {
    const reply = await send('classify', {}, { file: pdf(INVOICE_PAGE) });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body).to.deep.include({ class: 'Invoice' });
    expect(reply.body['reasons']).to.deep.include.members([(reply.body['reasons'] as unknown[])[0]]);
    const meta = reply.body['meta'] as Record<string, unknown>;
    expect(meta).to.include({ page_count: 1, free_pages: 1, model: 'local/default' });
    expect(meta['cost']).to.deep.equal({ credits_used: 0, pages: 1, balance_remaining: 0 });
    expect(String(meta['classification_id'])).to.match(/^cls_/);
  });

  it('parts a stack', async () => {
    const reply = await send('split', { classes: CLASSES_TEXT });
    expect(reply.status, reply.text).to.equal(200);
    const parts = reply.body['documents'] as readonly Record<string, unknown>[];
    expect(parts.map(({ pages, class: name }) => [pages, name])).to.deep.equal([
      [[1], 'Invoice'],
      [[2], 'Lease'],
    ]);
    expect(String((reply.body['meta'] as Record<string, unknown>)['split_id'])).to.match(/^spl_/);
  });

  it('parts without classes, and only the pages that are chosen', async () => {
    const whole = await send('split');
    expect((whole.body['documents'] as readonly unknown[]).length).to.equal(2);
    const second = await send('split', { pages: '2' });
    expect((second.body['documents'] as readonly { pages: unknown }[])[0]?.pages).to.deep.equal([2]);
    expect(second.body['meta']).to.deep.include({ page_count: 1 });
  });

  it('uses a saved config of the tenant, and none of another', async () => {
    const saved = await api.call('post', '/v1/configs', {
      json: { tenant_id: TENANT, name: 'inv', schema: JSON.parse(INVOICE_SCHEMA) as unknown },
    });
    expect(saved.status, saved.text).to.be.oneOf([200, 201]);
    const classes = JSON.stringify([{ name: 'a', config_id: saved.body['config_id'] }, { name: 'b' }]);
    const own = await send('classify', { classes }, { file: pdf(INVOICE_PAGE) });
    expect(own.status, own.text).to.equal(200);
    // What speaks for its class is in the schema alone, also where nobody waits.
    const odd = pdf('Q\nInvoice number 10042\nTotal 357.00');
    const waited = await send('classify', { classes }, { file: odd });
    const later = await send('classify', { classes }, { file: odd, headers: { prefer: 'respond-async' } });
    await until(async () => {
      await api.operations.drain();
      const path = `/v1/operations/${String(later.body['operation_id'])}`;
      const { body } = await api.call('get', path, { key });
      if (body['result'] === null) return false;
      expect((body['result'] as object & { ranked: unknown }).ranked).to.deep.equal(waited.body['ranked']);
      return true;
    });
    expect(waited.body['ranked']).to.not.deep.equal([]);
    const other = await api.newKey('sorts-other');
    const theirs = await send('classify', { classes }, { key: other });
    expect(theirs.code).to.equal('config_not_found');
  });

  it('takes no more than 2 MiB of schemas of configs, and keeps an answer of long ones', async () => {
    const fields = Array.from({ length: 1500 }, (_, n) => [
      `field_${String(n)}`,
      { type: 'string', description: 'x'.repeat(90) },
    ]);
    const schema = { type: 'object', properties: Object.fromEntries(fields) as object };
    const saved = await api.call('post', '/v1/configs', {
      json: { tenant_id: TENANT, name: 'long', schema },
    });
    expect(saved.status, saved.text).to.be.oneOf([200, 201]);
    const naming = (count: number) =>
      JSON.stringify(
        Array.from({ length: count }, (_, n) => ({ name: `c${n}`, config_id: saved.body['config_id'] })),
      );
    const many = await send('split', { classes: naming(20) });
    expect(many.code, many.text).to.equal('validation_error');
    expect(many.text).to.contain('together more than 2 MiB');
    const headers = { 'idempotency-key': randomUUID() };
    const first = await send('split', { classes: naming(8) }, { headers });
    expect(first.status, first.text).to.equal(200);
    const { split_id } = first.body['meta'] as { readonly split_id: string };
    const run = await api.call('get', `/v1/runs/${split_id}`, { key });
    expect(run.body['result'], run.text).to.have.property('documents');
  });

  describe('refuses', () => {
    for (const [what, classes, at] of [
      ['no classes', '', ['body', 'classes']],
      ['an empty list', '[]', ['body', 'classes']],
      ['what is no JSON', '[{', ['body', 'classes']],
      ['what is no list', '{"name":"a"}', ['body', 'classes']],
      ['a class without a name', '[{"description":"a"}]', ['body', 'classes', 0, 'name']],
      ['a blank name', '[{"name":"  "}]', ['body', 'classes', 0, 'name']],
      ['two classes of one name', '[{"name":"A"},{"name":" a "}]', ['body', 'classes', 1, 'name']],
      ['an unknown member', '[{"name":"a","colour":"red"}]', ['body', 'classes', 0, 'colour']],
      [
        'a name that is too long',
        JSON.stringify([{ name: 'x'.repeat(201) }]),
        ['body', 'classes', 0, 'name'],
      ],
      [
        'too many',
        JSON.stringify(Array.from({ length: 1_001 }, (_, n) => ({ name: `c${n}` }))),
        ['body', 'classes'],
      ],
    ] as const)
      it(what, async () => {
        const reply = await send('classify', { classes });
        expect(reply.code, reply.text).to.equal('validation_error');
        expect(
          issuesIn(reply).some((issue) => issue.startsWith(`${at.join('.')} `)),
          reply.text,
        ).to.equal(true);
      });

    it('a request without a file, and one that is no document', async () => {
      const without = await api.call('post', '/v1/split', { key, form: formOf({}) });
      expect(without.code).to.equal('missing_file');
      const junk = await send('split', {}, { file: new Blob(['%PDF-1.7 nothing']) });
      expect(junk.code, junk.text).to.equal('unreadable_file');
    });

    it('another tenant, and a key that only sells', async () => {
      expect((await send('split', { tenant_id: 'sorts-2' })).code).to.equal('tenant_mismatch');
      const seller = await api.newKey('sorts-seller', 'seller');
      expect((await send('split', {}, { key: seller })).status).to.equal(403);
    });
  });

  it('takes a thousand classes with any names', async () => {
    const odd = ['__proto__', 'constructor', '😀', '"', 'a\tb', '名前'].map((name) => ({ name }));
    const many = Array.from({ length: 992 }, (_, n) => ({ name: `Kind ${n}`, description: 'words of it' }));
    const classes = JSON.stringify([...odd, ...many, ...CLASSES]);
    const reply = await send('classify', { classes }, { file: pdf(LEASE_PAGE) });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body['class']).to.equal('Lease');
  });

  it('is quoted and has rates', async () => {
    for (const operation of ['classify', 'split']) {
      const query = `operation=${operation}&billing_type=full_service&pages=3&tenant_id=${TENANT}`;
      const quote = await api.call('get', `/v1/billing/quote?${query}`, { key });
      expect(quote.body, quote.text).to.include({
        credits_per_page: 2,
        operation,
        extraction_mode: 'default',
      });
    }
    const rates = await api.call('get', '/v1/billing/rates', { key });
    const operations = (rates.body['items'] as readonly Record<string, unknown>[]).map(
      ({ operation }) => operation,
    );
    expect(operations).to.include.members(['classify', 'split']);
  });

  it('is an operation where nobody waits', async () => {
    const headers = { prefer: 'respond-async' };
    const accepted = await send('split', { classes: CLASSES_TEXT }, { headers });
    expect(accepted.status, accepted.text).to.equal(202);
    expect(accepted.body['operation']).to.equal('split');
    const id = String(accepted.body['operation_id']);
    let ended: Reply | undefined;
    await until(async () => {
      await api.operations.drain();
      ended = await api.call('get', `/v1/operations/${id}`, { key });
      return ended.body['finished_at'] !== null;
    });
    expect(ended?.body['status'], ended?.text).to.equal('succeeded');
    const { documents } = ended?.body['result'] as { readonly documents: readonly { pages: unknown }[] };
    expect(documents.map(({ pages }) => pages)).to.deep.equal([[1], [2]]);
    const listed = await api.call('get', `/v1/operations?tenant_id=${TENANT}&operation=split`, { key });
    expect((listed.body['items'] as readonly unknown[]).length).to.equal(1);
  });

  for (const what of ['classify', 'split'] as const)
    it(`gives back what is held when an operation is cancelled: ${what}`, async () => {
      const { tenant, own } = await payer(10);
      const headers = { prefer: 'respond-async' };
      const accepted = await send(what, {}, { key: own, headers });
      expect(accepted.status, accepted.text).to.equal(202);
      const held = await api.call('get', `/v1/billing/balance/${tenant}`, { key: own });
      expect(held.body).to.include({ held_credits: 4 });
      const id = String(accepted.body['operation_id']);
      await api.call('post', `/v1/operations/${id}/cancel`, { key: own });
      await api.operations.drain();
      const after = await api.call('get', `/v1/billing/balance/${tenant}`, { key: own });
      expect(after.body, after.text).to.include({ held_credits: 0, balance_credits: 10 });
    });

  it('bills each page once, however often it is asked for', async () => {
    const { tenant, own } = await payer(10);
    const options = { key: own, headers: { 'idempotency-key': randomUUID() } };
    const first = await send('split', {}, options);
    expect(first.body['meta']).to.deep.include({
      cost: { credits_used: 4, pages: 2, balance_remaining: 6 },
      free_pages: 0,
    });
    const again = await send('split', {}, options);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.text).to.equal(first.text);
    expect((await send('classify', {}, options)).status).to.equal(200);
    const usage = await api.call('get', `/v1/billing/usage/${tenant}`, { key: own });
    const items = usage.body['items'] as readonly Record<string, unknown>[];
    expect(
      items.map(({ operation }) => operation),
      usage.text,
    ).to.have.members(['split', 'classify']);
    expect((await send('split', {}, { key: own })).code).to.equal('insufficient_credits');
  });

  it('bills requests that race with one key once', async () => {
    const { own } = await payer(10);
    const options = { key: own, headers: { 'idempotency-key': randomUUID() } };
    const replies = await Promise.all([1, 2, 3].map(() => send('split', {}, options)));
    const done = replies.filter(({ status }) => status === 200);
    expect(done.length).to.be.at.least(1);
    const last = await send('split', {}, options);
    expect(last.body['meta']).to.deep.include({
      cost: { credits_used: 4, pages: 2, balance_remaining: 6 },
    });
  });
});
